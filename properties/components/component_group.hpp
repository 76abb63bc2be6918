// Runs every check of a group on a component over its cases, and shrinks the first failure, for the report.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <draftproof/properties/components/component.hpp>
#include <draftproof/properties/components/component_registry.hpp>
#include <draftproof/properties/proof/shrink.hpp>

namespace draftproof {

// A copy of this process, forked before the first call of a component. It shows whether a failure also occurs without
// the earlier calls, which may have left state in static variables.
//
// Cost: a fork at the start, and another for each call of ask(); the copies share this process's memory until they
// write.
//
// Correctness: each call of ask() runs `answer` in a new fork of the first copy, so no call changes the state that the
// next call starts from.

class FreshProcess {
 public:
  using Answer = std::function<bool(const std::string& question)>;

  /// Calls `answer` in forks of this process as it is now. Requires that everything `answer` refers to exists now.
  explicit FreshProcess(const Answer& answer);
  FreshProcess(const FreshProcess&) = delete;
  FreshProcess& operator=(const FreshProcess&) = delete;
  ~FreshProcess();

  /// Returns the answer to `question`; true if the fork crashes on it; nullopt if fork() or the socket failed.
  std::optional<bool> ask(const std::string& question) const;

 private:
  int socket_ = -1;
  pid_t copy_ = -1;
};

template <class Group>
class ComponentOf final : public AnyComponent {
 public:
  using Subject = typename Group::Subject;
  using Case = typename Group::Case;

  ComponentOf(Subject subject, Kind kind)
      : AnyComponent(subject.info(), Group::name, kind), subject_{std::move(subject)} {}

  const Subject& subject() const { return subject_; }

  std::vector<Finding> examine(const ComponentOptions& options) const override {
    if (options.tries_alone) begin();
    std::vector<Finding> findings;
    for (const auto& check : checks_of<Group>().all()) findings.push_back(examine(check, options));
    return findings;
  }

  std::optional<Finding> examine_one(std::string_view name, std::string_view instance) const override {
    for (const auto& check : checks_of<Group>().all())
      if (check.name == name) {
        Case one = Case::parse(instance);
        std::uint64_t work = 0;
        const Answer answer = ask(check, one, work);
        return report(check, answer, one, work);
      }
    return std::nullopt;
  }

  std::vector<ShownShare> shares(const ComponentOptions& options) const override {
    begin();
    std::vector<ShownShare> shares;
    for (const auto& check : checks_of<Group>().all()) {
      ShownShare& share = shares.emplace_back();
      share.listed = true;
      std::uint64_t ignored = 0;
      for (const Case& one : cases_of(check, options)) {
        const auto status = ask(check, one, ignored).status;
        share.asked += status != Status::skipped;
        share.shown += status == Status::failed;
      }
    }
    return shares;
  }

 private:
  using Check = CheckOf<Group>;

  /// Returns the check's cases, then the group's cases for the properties that the component declares.
  std::vector<Case> cases_of(const Check& check, const ComponentOptions& options) const {
    std::vector<Case> cases = check.cases(options.seed, options.rounds);
    if (options.cases > 0 && std::ssize(cases) > options.cases) cases.resize(static_cast<std::size_t>(options.cases));
    if constexpr (requires { Group::cases_of(subject_.info(), options.seed); })
      for (Case& one : Group::cases_of(subject_.info(), options.seed)) cases.push_back(std::move(one));
    return cases;
  }

  /// Forks this process for shows_alone(). Must precede the first call of the component.
  void begin() const {
    if (!fresh_)
      fresh_ = std::make_unique<FreshProcess>([this](const std::string& question) {
        const auto check = question.find('\n');
        return examine_one(question.substr(0, check), question.substr(check + 1))->status == Status::failed;
      });
  }
  /// Whether the case fails the check without earlier calls, as it does when its replay line is run.
  bool shows_alone(const Check& check, const Case& one) const {
    return !fresh_ || fresh_->ask(std::string(check.name) + '\n' + one.text()).value_or(true);
  }

  Finding examine(const Check& check, const ComponentOptions& options) const {
    const std::vector<Case> cases = cases_of(check, options);
    std::uint64_t work = 0;
    Answer summary = Answer::not_applicable();
    for (const Case& one : cases) {
      Answer answer = ask(check, one, work);
      if (answer.status == Status::failed) {
        const std::uint64_t until_decided = work;
        Answer small = answer;
        const Case smallest = shrunk(check, one, small);
        if (shows_alone(check, smallest)) return report(check, small, smallest, until_decided);
        Finding finding = report(check, answer, one, until_decided);
        // The smallest case fails only after earlier calls, perhaps only after calls made while shrinking. The case
        // before shrinking is reported in its place.
        if (shows_alone(check, one)) return finding;
        finding.evidence +=
            fmt::format("; it depends on earlier calls: case {} of the seed passes alone", &one - &cases[0]);
        finding.replay =
            replay_line("check", qualified_name(),
                        {{"seed", std::to_string(options.seed)}, {"profile", options.rounds > 1 ? "nightly" : ""}});
        return finding;
      }
      // The summary is undecided if any case is; otherwise passed if any case passed; otherwise skipped.
      if (answer.status == Status::undecided || summary.status == Status::skipped) summary = std::move(answer);
    }
    return report(check, summary, std::nullopt, work);
  }

  /// Runs the check; std::logic_error, thrown at a branch of probability zero, is a failure.
  Answer ask(const Check& check, const Case& one, std::uint64_t& work) const {
    try {
      return check.check(subject_, one, work);
    } catch (const EnumerationCut& cut) {
      return Answer::undecided(cut.what());
    } catch (const std::logic_error& error) {
      return Answer::failed(error.what());
    }
  }

  /// Returns the smallest case found that fails the check, and sets `answer` to the answer on it.
  Case shrunk(const Check& check, const Case& one, Answer& answer) const {
    Shrunk<Case> found = shrink(one, {}, [&](const Case& candidate) {
      std::uint64_t ignored = 0;
      Answer here = ask(check, candidate, ignored);
      if (here.status != Status::failed) return false;
      answer = std::move(here);
      return true;
    });
    answer.evidence += found.note();
    return std::move(found.smallest);
  }

  Finding report(const Check& check, Answer answer, const std::optional<Case>& one, std::uint64_t work) const {
    if (answer.status == Status::skipped && answer.evidence.empty())
      answer.evidence = "does not apply to this component";
    if (!one) return finding_of(check.name, check.tier, std::move(answer), work);
    const std::string name(check.name), text = one->text();
    return finding_of(name, check.tier, std::move(answer), work, text,
                      replay_line("replay", qualified_name(), {{"property", name}, {"instance", text}}));
  }

  Subject subject_;
  mutable std::unique_ptr<FreshProcess> fresh_;
};

/// Registers the component of `Group` that `subject` returns.
template <class Group, auto subject, Kind kind>
void add_component() {
  ComponentRegistry::instance().add(std::make_unique<ComponentOf<Group>>(subject(), kind));
}

}  // namespace draftproof
