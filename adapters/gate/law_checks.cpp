#include <draftproof/adapters/gate/law_checks.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

#include <fmt/ranges.h>
#include <draftproof/properties/proof/finding.hpp>

#include <draftproof/adapters/gate/edge_rows.hpp>
#include <draftproof/adapters/gate/law_answers.hpp>
#include <draftproof/adapters/gate/law_text.hpp>

namespace draftproof::adapters {

namespace {

/// Instances without a decision, after which a program is given up: each uses up the calls of an exploration, or of one for
/// each input, and no more than so many explorations are spent on them.
constexpr int most_undecided = 8;

/// Instances on which every row fails, after which that is an error of the program. The first ones are so small that all
/// of their drafts may be accepted: a program that fails there alone has failed on some inputs.
constexpr int most_failing = 20;

/// Smaller instances are judged by this part of the predictions until one is to be confirmed.
constexpr int few = 4;

template <class I>
class Checker {
 public:
  Checker(Program& program, const Declaration& declaration, const LawCheckOptions& options)
      : program_{program}, declaration_{declaration}, options_{options} {}

  Toy toy(const I& instance) const {
    if constexpr (std::same_as<I, Instance>)
      return toy_of(instance, declaration_.law);
    else
      return toy_of(instance, declaration_.law, declaration_.level);
  }

  /// What some predictions say. A departure needs confirmed() before it is reported.
  Answers ask(const I& instance, int predictions) const {
    ExploreOptions explore = exploration();
    explore.predictions = predictions;
    return answers_on(program_, toy(instance), declaration_, explore);
  }

  /// A tree of stretches that is wrong by mass m survives n predictions, half of them uniform, with probability
  /// (1 - m)^(n / 2). A departure of d may come from a tree that is wrong by d, so it counts after 42 / d predictions:
  /// e^-21 < 1e-9, and after 2^15 of them, or 128 times those of an input, where that is less. A profile that asks for few
  /// predictions reports a departure no sooner than one that asks for many. Adds the calls to those of `answers`, which
  /// are of so many `predictions`.
  Answers confirmed(const I& instance, Answers answers, int predictions) const {
    ExploreOptions explore = exploration();
    const double survives = 42;
    const int most_here = std::max(1 << 15, 128 * explore.predictions);
    // Few more at a time: most trees that are wrong are mended by the next predictions.
    while (answers.violated[0] && answers.departure() * predictions < survives && predictions < most_here) {
      const double needed = std::ceil(survives / answers.departure());
      predictions = static_cast<int>(std::min({8.0 * predictions, needed, static_cast<double>(most_here)}));
      explore.predictions = predictions;
      ++explore.seed;
      const std::uint64_t calls = answers.calls;
      answers = answers_on(program_, toy(instance), declaration_, explore);
      answers.calls += calls;
    }
    return answers;
  }

  /// The answers on `instance`, or on a smaller one that `instance` then is. A smaller one departs more as a rule, and a
  /// large departure takes few predictions to confirm: it is tried first.
  Answers settled(I& instance, bool shrinks_it) const {
    const int predictions = exploration().predictions;
    Answers answers = ask(instance, predictions);
    if (!answers.violated[0]) return answers;
    if (shrinks_it) {
      Answers small = answers;
      const I smallest = shrink(instance, 0, small);
      small = confirmed(smallest, std::move(small), smallest == instance ? predictions : predictions / few);
      answers.calls = small.calls;
      if (small.violated[0]) {
        instance = smallest;
        return small;
      }
    }
    return confirmed(instance, std::move(answers), predictions);
  }

  LawChecks examine(const std::vector<I>& instances, bool shrinks_them = true) const {
    LawChecks result;
    std::array<std::optional<I>, law_checks.size()> failing{};
    std::array<Evidence, law_checks.size()> evidence{};
    std::string undecided, undecided_on, unjudged, note;
    int unfinished = 0, unanswered = 0;
    std::uint64_t spent = 0;        // calls without a decision
    bool answered = !shrinks_them;  // a replay shows what there is
    std::optional<GateFinding> lost;
    std::string silent;
    for (I instance : instances) {
      if (stopped()) break;
      Answers answers;
      try {
        answers = settled(instance, shrinks_them);
      } catch (const ProgramSilent& why) {
        silent = why.what();
        break;
      } catch (const DoorError& error) {  // there is no program to ask any more
        lost = GateFinding{
            .check = "protocol", .tier = Tier::proof, .status = Status::violated, .evidence = error.what()};
        lost->instance = instance.text();
        lost->replay = replay_line(instance);
        break;
      }
      ++result.instances;
      result.calls += answers.calls;
      result.predictions += answers.predictions;
      if (answers.undecided) {
        ++unfinished, spent += answers.calls;
        undecided = *answers.undecided, undecided_on = instance.text();
      }
      if (answers.unjudged) ++unanswered, unjudged = *answers.unjudged;
      if (note.empty()) note = answers.note;
      answered = answered || answers.answered;
      if (!answered && result.instances == std::min(most_failing, static_cast<int>(instances.size())))
        throw ProgramFails(declaration_.name, answers.failure);
      const bool law_found = !answers.violated[0] && !answers.violated[3] && !answers.undecided && !answers.unjudged;
      if (law_found && (result.farthest.empty() || answers.judgement.distance > result.largest)) {
        result.largest = answers.judgement.distance;
        result.limit = answers.judgement.limit;
        result.farthest = instance.text();
      }
      for (std::size_t i = 0; i < law_checks.size(); ++i)
        if (answers.violated[i] && !failing[i]) {
          failing[i] = instance;
          evidence[i] = *answers.violated[i];
        }
      if (options_.progress) options_.progress(result.instances);
      if (failing[0] || failing[3]) break;  // a wrong law: what else is wrong shows on the same instances
      if (unfinished == most_undecided || spent >= most_undecided * exploration().most_calls) break;
    }
    for (std::size_t i = 0; i < law_checks.size(); ++i) {
      if (law_checks[i] == "optimum" && declaration_.level != Level::position) continue;
      if (lost && !failing[i]) continue;  // nothing is said of the instances that follow
      GateFinding finding{.check = std::string(law_checks[i]), .tier = Tier::proof, .work = result.calls};
      if (failing[i]) {
        // Where i is 0, a wrong law was found on a small instance already.
        const bool shrinks_it = shrinks_them && !lost && silent.empty() && i != 0;
        Answers small;
        small.violated[i] = evidence[i];
        const I smallest = shrinks_it ? shrink(*failing[i], i, small) : *failing[i];
        evidence[i] = *small.violated[i];
        finding.status = Status::violated;
        finding.evidence = evidence[i].text;
        finding.numbers = evidence[i].numbers;
        finding.instance = smallest.text();
        finding.replay = replay_line(smallest);
        if (shrinks_them && !lost && silent.empty() && passes_alone(smallest, i)) {
          finding.evidence += needs_earlier_calls;
          finding.replay =
              fmt::format("{} check --door '{}' --tier proof {}", program_name(), options_.door, options_.again);
        }
      } else if (!silent.empty()) {
        finding.status = Status::undecided;
        finding.evidence = silent;
      } else {
        // What the unknown part of a law emits is unknown too; calls are compared without a law.
        const bool open = (unfinished > 0 && law_checks[i] != "function") || (i == 0 && unanswered > 0);
        finding.status = result.instances == 0 ? Status::skipped : open ? Status::undecided : Status::held;
        if (law_checks[i] == "function") finding.evidence = note;
        if (open)
          finding.evidence = fmt::format("{} instances: {}", unfinished > 0 ? unfinished : unanswered,
                                         unfinished > 0 ? undecided : unjudged);
        if (open && unfinished > 0) finding.instance = undecided_on;
        if (i == 0 && !result.farthest.empty())
          finding.numbers = {{"distance", result.largest}, {"limit", result.limit}};
      }
      result.findings.push_back(std::move(finding));
    }
    if (lost) {
      lost->work = result.calls;
      result.findings.push_back(std::move(*lost));
    }
    return result;
  }

  /// The checks on one instance, which is not shrunk, and its laws in words.
  LawChecks replay(const I& instance) const {
    if (!takes(declaration_, instance))
      throw DoorError(fmt::format("{}: found {}, wanted an instance that its declaration takes", declaration_.name,
                                  instance.text()));
    LawChecks result = examine({instance}, false);
    if (result.instances == 0) return result;
    const Toy model = toy(instance);
    const std::vector<ProgramLaw> laws = explore_program(program_, model.inputs, exploration());
    for (std::size_t i = 0; i < laws.size(); ++i) {
      result.laws.push_back(fmt::format(
          "drafts ({}), probability {}: {}, {} calls, {} predictions held", fmt::join(model.inputs[i].drafts, " "),
          fraction_text(model.drawn[i], 0x1p-40), outcomes_text(laws[i].outcomes), laws[i].calls, laws[i].predicted));
      for (std::string& line : deciding_lines(laws[i])) result.laws.push_back("  " + std::move(line));
    }
    return result;
  }

 private:
  ExploreOptions exploration() const {
    ExploreOptions explore = exploration_of(declaration_, options_.explore);
    explore.keep_stretches = true;  // evidence says which draws lead to what
    return explore;
  }

  std::string replay_line(const I& instance) const {
    return fmt::format("{} replay --door '{}' --instance '{}'", program_name(), options_.door, instance.text());
  }

  /// Whether the check holds where its replay line is run. A program that does not start again says nothing.
  bool passes_alone(const I& instance, std::size_t check) const {
    try {
      const std::shared_ptr<Program> fresh = options_.fresh ? options_.fresh() : nullptr;
      const LawCheckOptions alone{.seed = options_.seed};  // those of `replay`
      const auto findings =
          Checker(fresh ? *fresh : program_, declaration_, alone).examine({instance}, false).findings;
      return std::any_of(findings.begin(), findings.end(), [&](const GateFinding& finding) {
        return finding.check == law_checks[check] && finding.status == Status::held;
      });
    } catch (const std::runtime_error&) {
      return false;
    }
  }

  bool stopped() const { return options_.stop && options_.stop->load(std::memory_order_relaxed); }

  /// Descent: the next smaller instance that violates the check too, until there is none. `answers` become those on it,
  /// with the calls of all. The search goes on with the step that succeeded, since those before it have just failed, and
  /// asks no instance twice.
  I shrink(I instance, std::size_t check, Answers& answers) const {
    std::vector<I> candidates = shrinks(instance);
    std::set<std::string> asked;
    std::size_t at = 0, failures = 0;
    while (failures < candidates.size() && !stopped()) {
      at %= candidates.size();
      const I& candidate = candidates[at];
      if (takes(declaration_, candidate) && asked.insert(candidate.text()).second) {
        const std::uint64_t calls = answers.calls;
        Answers found;
        try {
          found = ask(candidate, exploration().predictions / few);
        } catch (const DoorError&) {  // the program is lost: what was found stands
          return instance;
        }
        answers.calls += found.calls;
        if (found.violated[check]) {
          found.calls += calls;
          answers = std::move(found);
          instance = candidate;
          candidates = shrinks(instance);
          failures = 0;
          continue;
        }
      }
      ++at, ++failures;
    }
    return instance;
  }

  Program& program_;
  const Declaration& declaration_;
  const LawCheckOptions& options_;
};

/// Tokens that the program is given, over all inputs: the order of instances.
template <class I>
long size_of(const I& instance) {
  if constexpr (std::same_as<I, Instance>)
    return static_cast<long>(instance.vocabulary()) * instance.drafts;
  else
    return static_cast<long>(instance.vocabulary()) * instance.shape.drafts * instance.shape.length *
           (1 + instance.listed_length());
}

template <class I, class Generate>
LawChecks check_generated(Program& program, const Declaration& declaration, const LawCheckOptions& options,
                          Generate generate) {
  std::vector<I> instances;
  for (const std::string& text : options.first) instances.push_back(I::parse(text));
  const auto given = static_cast<std::ptrdiff_t>(instances.size());
  // Of one size near rows come last: a law that is wrong everywhere is shown on others.
  for (const bool near : {false, true})
    for (int n = 0; n < options.instances; ++n)
      if (has_near_rows(n) == near) instances.push_back(generate(declaration, options.seed, n, options.most_drafts));
  std::stable_sort(instances.begin() + given, instances.end(),
                   [](const I& a, const I& b) { return size_of(a) < size_of(b); });
  return Checker<I>(program, declaration, options).examine(instances);
}

}  // namespace

ExploreOptions exploration_of(const Declaration& declaration, ExploreOptions options) {
  options.coin_bits = declaration.coin_bits;
  options.dtype_bits = significant_bits(declaration.dtypes.front());
  return options;
}

LawChecks check_laws(Program& program, const Declaration& declaration, const LawCheckOptions& options) {
  if (declaration.level == Level::position)
    return check_generated<Instance>(program, declaration, options, foreign_instance);
  return check_generated<PathInstance>(program, declaration, options, foreign_path_instance);
}

LawChecks check_laws_on(Program& program, const Declaration& declaration, const std::string& instance,
                        const LawCheckOptions& options) {
  if (declaration.level == Level::position)
    return Checker<Instance>(program, declaration, options).replay(Instance::parse(instance));
  return Checker<PathInstance>(program, declaration, options).replay(PathInstance::parse(instance));
}

}  // namespace draftproof::adapters
