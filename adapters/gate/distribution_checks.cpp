#include <draftproof/adapters/gate/distribution_checks.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <fmt/ranges.h>
#include <draftproof/properties/proof/finding.hpp>
#include <draftproof/properties/proof/shrink.hpp>

#include <draftproof/adapters/gate/distribution_answers.hpp>
#include <draftproof/adapters/gate/distribution_text.hpp>
#include <draftproof/adapters/gate/edge_rows.hpp>

namespace draftproof::adapters {

namespace {

/// Number of undecided instances after which the checks end. They also end when the calls on undecided instances reach
/// this multiple of the limit for one exploration, because several explorations may run on one instance.
constexpr int most_undecided = 8;

/// If every row fails on this many instances, the program is reported as failing on every input. The first instances
/// are so small that all of their drafts may be accepted, so their failures alone do not show that the program fails on
/// every input.
constexpr int most_failing = 20;

/// Shrinking makes this many times fewer predictions; confirmed() then makes more on the smallest instance.
constexpr int few = 4;

/// A departure from the target below this is examined after all other instances, because it takes 42 / departure
/// predictions to confirm (confirmed() below), and rows next to p = q show a bug on all rows as a departure of 10^-6
/// to 10^-4.
constexpr double small_departure = 0x1p-7;

template <class I>
class Checker {
 public:
  Checker(Program& program, const Declaration& declaration, const DistributionCheckOptions& options)
      : program_{program}, declaration_{declaration}, options_{options} {}

  /// An instance, and whether all its requests have temperature 0, which its text does not say.
  struct Case {
    I instance;
    bool zero = false;
    bool given = false;  ///< by the caller, not generated
  };

  /// Returns the cases of an instance: as a generated model has it; or, for a given instance and a program that is
  /// greedy at temperature 0, with requests of temperature 0 and with others, because a counterexample may have either.
  std::vector<Case> cases_of(const I& instance, bool given) const {
    const bool zero = requests_at_zero(instance, declaration_);
    if (given && declaration_.greedy_at_zero()) return {{instance, zero, given}, {instance, !zero, given}};
    return {{instance, zero, given}};
  }

  SmallModel small_model(const Case& one) const {
    SmallModel model = small_model_of(one.instance, declaration_, one.zero);
    if (declaration_.always_greedy()) make_greedy(model, declaration_);
    return model;
  }

  /// Returns the answers of an exploration that makes `predictions` predictions (of the results of calls that it has
  /// not made). A departure must pass confirmed() before it is reported.
  Answers ask(const Case& one, int predictions) const {
    ExploreOptions explore = exploration();
    explore.predictions = predictions;
    return answers_on(program_, small_model(one), declaration_, explore);
  }

  /// Repeats the exploration with more predictions while it departs from the target. If the distribution of a tree of
  /// stretches (ranges of draws with one outcome) is wrong by mass m, n predictions, half of them uniform, all hold
  /// with probability (1 - m)^(n / 2). A departure of d may come from a tree that is wrong by d, so it is reported
  /// after 42 / d predictions (e^-21 < 1e-9), but after at most 2^15 predictions or 128 times the usual number for an
  /// input. So a profile with few predictions does not report a departure on less evidence than a profile with many.
  /// `answers` were found with `predictions` predictions; the calls made here are added to their count.
  Answers confirmed(const Case& one, Answers answers, int predictions) const {
    ExploreOptions explore = exploration();
    const double survives = 42;
    const int most_here = std::max(1 << 15, 128 * explore.predictions);
    // Raises the number step by step, because a few more predictions already correct most wrong trees.
    while (answers.failed[distribution_check::exact_distribution] && answers.departure() * predictions < survives &&
           predictions < most_here) {
      const double needed = std::ceil(survives / answers.departure());
      predictions = static_cast<int>(std::min({8.0 * predictions, needed, static_cast<double>(most_here)}));
      explore.predictions = predictions;
      ++explore.seed;
      const std::uint64_t calls = answers.calls;
      answers = answers_on(program_, small_model(one), declaration_, explore);
      answers.calls += calls;
    }
    return answers;
  }

  /// Returns the answers on `instance`, or on a smaller instance, which replaces it. A smaller one usually departs
  /// more, and few predictions confirm a large departure, so it is tried first. If `postpones`, answers with a small
  /// departure are returned unconfirmed.
  Answers settled(Case& one, bool shrinks_it, bool postpones) const {
    const int predictions = exploration().predictions;
    Answers answers = ask(one, predictions);
    if (!answers.failed[distribution_check::exact_distribution]) return answers;
    if (postpones && departs_little(answers)) return answers;
    if (shrinks_it) {
      Answers small = answers;
      const Shrunk<I> found = shrunk(one, distribution_check::exact_distribution, small);
      small = confirmed({found.smallest, one.zero}, std::move(small),
                        found.smallest == one.instance ? predictions : predictions / few);
      answers.calls = small.calls;
      if (small.failed[distribution_check::exact_distribution]) {
        small.failed[distribution_check::exact_distribution]->evidence += found.note();
        one.instance = found.smallest;
        return small;
      }
    }
    return confirmed(one, std::move(answers), predictions);
  }

  static bool departs_little(const Answers& answers) {
    return answers.failed[distribution_check::exact_distribution] && answers.departure() < small_departure;
  }

  DistributionChecks examine(const std::vector<Case>& cases, bool shrinks_them = true) const {
    DistributionChecks result;
    const std::vector<std::string_view> names = distribution_checks();
    std::vector<std::optional<Case>> failing(names.size());
    std::vector<Answer> violation(names.size());
    std::string undecided, undecided_on, unjudged, note;
    int unfinished = 0, unanswered = 0;
    std::pair<int, int> drafts{0, 0};  // largest K, largest L
    std::uint64_t spent = 0;           // calls on undecided instances
    bool answered = !shrinks_them;     // a replay reports results even if every row fails
    std::optional<Finding> lost;
    std::optional<I> lost_on;
    std::string silent;
    std::vector<std::pair<double, Case>> postponed;  // with their departures
    // Examines a case. Returns false if no further case is to be examined.
    const auto goes_on = [&](Case one, bool postpones) {
      const I& instance = one.instance;
      if (stopped()) return false;
      Answers answers;
      try {
        answers = settled(one, shrinks_them, postpones);
      } catch (const ProgramSilent& why) {
        silent = why.what();
        return false;
      } catch (const AdapterError& error) {  // the program has ended
        lost = finding_of("protocol", Tier::proof, Answer::failed(error.what()), 0, instance.text(),
                          replay_of(instance));
        lost_on = instance;
        return false;
      }
      result.calls += answers.calls;
      answered = answered || answers.answered;
      if (postpones && departs_little(answers)) {
        for (std::size_t i = 0; i < names.size(); ++i)
          if (i != distribution_check::exact_distribution && answers.failed[i] && !failing[i]) {
            failing[i] = one;
            violation[i] = *answers.failed[i];
          }
        postponed.emplace_back(answers.departure(), std::move(one));
        return true;
      }
      ++result.instances;
      drafts = {std::max(drafts.first, shape_of(instance).first), std::max(drafts.second, shape_of(instance).second)};
      result.predictions += answers.predictions;
      if (answers.undecided) {
        ++unfinished, spent += answers.calls;
        undecided = *answers.undecided, undecided_on = instance.text();
      }
      if (answers.unjudged) ++unanswered, unjudged = *answers.unjudged;
      if (note.empty()) note = answers.note;
      if (!answered && result.instances == std::min(most_failing, static_cast<int>(cases.size())))
        throw ProgramFails(declaration_.name, answers.failure);
      const bool distribution_found = !answers.failed[distribution_check::exact_distribution] &&
                                      !answers.failed[distribution_check::function] && !answers.undecided &&
                                      !answers.unjudged;
      if (distribution_found && (result.farthest.empty() || answers.judgement.distance > result.largest)) {
        result.largest = answers.judgement.distance;
        result.limit = answers.judgement.limit;
        result.farthest = instance.text();
      }
      if (distribution_found) result.largest_limit = std::max(result.largest_limit, answers.judgement.limit);
      for (std::size_t i = 0; i < names.size(); ++i)
        if (answers.failed[i] && !failing[i]) {
          failing[i] = one;
          violation[i] = *answers.failed[i];
        }
      if (options_.progress) options_.progress(result.instances);
      if (failing[distribution_check::exact_distribution] || failing[distribution_check::function])
        return false;  // a wrong distribution makes other checks fail, too
      return unfinished < most_undecided && spent < most_undecided * exploration().most_calls;
    };
    for (const Case& one : cases)
      if (!goes_on(one, shrinks_them && !one.given)) break;
    std::stable_sort(postponed.begin(), postponed.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    // The largest departure is confirmed even if undecided instances have ended the first pass.
    bool goes = !stopped() && silent.empty() && !lost && !failing[distribution_check::exact_distribution] &&
                !failing[distribution_check::function];
    for (const auto& [departure, one] : postponed) {
      goes = goes && goes_on(one, false);
      if (goes || failing[distribution_check::exact_distribution]) continue;
      if (++unfinished > 1) continue;  // the text names the first, which is the largest departure
      undecided = fmt::format("a departure of {:.2g} from the target was not confirmed", departure);
      undecided_on = one.instance.text();
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (i == distribution_check::optimum && declaration_.level != Level::position) continue;
      if (i >= distribution_check::first_registered && declaration_.stateful()) continue;
      if (lost && !failing[i]) continue;  // the program was lost, so later instances are not judged
      Answer answer = Answer::not_applicable();
      std::string on, replay;
      if (failing[i]) {
        // exact_distribution needs no shrinking here: settled() has tried smaller instances.
        const bool shrinks_it =
            shrinks_them && !lost && silent.empty() && i != distribution_check::exact_distribution;
        Answers small;
        small.failed[i] = violation[i];
        const Shrunk<I> found = shrinks_it ? shrunk(*failing[i], i, small) : Shrunk<I>{failing[i]->instance};
        answer = *small.failed[i];
        answer.evidence += found.note();
        on = found.smallest.text();
        replay = replay_of(found.smallest);
        if (shrinks_them && !lost && silent.empty() && passes_alone(found.smallest, i)) {
          answer.evidence += needs_earlier_calls;
          replay = options_.again;
        }
      } else if (!silent.empty()) {
        const bool departs = i == distribution_check::exact_distribution && !postponed.empty();
        answer = Answer::undecided(departs ? undecided : silent);
        if (departs) on = undecided_on;
      } else {
        // An unexplored part of a distribution may emit anything, so the checks stay undecided, except `function`,
        // which compares calls.
        const bool open = (unfinished > 0 && i != distribution_check::function) ||
                          (i == distribution_check::exact_distribution && unanswered > 0);
        answer.status = result.instances == 0 ? Status::skipped : open ? Status::undecided : Status::passed;
        if (i == distribution_check::function) answer.evidence = note;
        if (open)
          answer.evidence = fmt::format("{} instances: {}", unfinished > 0 ? unfinished : unanswered,
                                        unfinished > 0 ? undecided : unjudged);
        if (open && unfinished > 0) on = undecided_on;
        if (i == distribution_check::exact_distribution && !result.farthest.empty())
          answer.numbers = {{"distance", result.largest}, {"limit", result.limit}};
      }
      result.findings.push_back(
          finding_of(names[i], Tier::proof, std::move(answer), result.calls, std::move(on), std::move(replay)));
      if (i == distribution_check::exact_distribution && result.findings.back().status == Status::passed)
        result.findings.back().sensitivity =
            declaration_.always_greedy()
                ? fmt::format("another token on one of {} models of at most {}", result.instances,
                              drafts_text(drafts))
                : fmt::format(
                      "a total variation above {:.2g} on one of {} models of at most {}, unless it lies in random "
                      "numbers that none of {} further calls met",
                      1.01 * result.largest_limit, result.instances, drafts_text(drafts), result.predictions);
    }
    if (lost) {
      lost->work = result.calls;
      if (shrinks_them && answers_alone(*lost_on)) {
        lost->evidence += needs_earlier_calls;
        lost->replay = options_.again;
      }
      result.findings.push_back(std::move(*lost));
    }
    return result;
  }

  /// Runs the checks on one instance, without shrinking it; the result has its distributions as text.
  DistributionChecks replay(const I& instance) const {
    if (!takes(declaration_, instance))
      throw AdapterError(fmt::format("{}: got {}, expected an instance that its declaration takes", declaration_.name,
                                     instance.text()));
    DistributionChecks result = examine(cases_of(instance, true), false);
    if (result.instances == 0) return result;
    for (const Case& one : cases_of(instance, true)) {
      const SmallModel model = small_model(one);
      std::vector<ProgramDistribution> distributions;
      try {
        distributions = explore_program(program_, model.inputs, exploration());
      } catch (const AdapterError& error) {  // the findings stay
        result.distributions.push_back(fmt::format("no distribution: {}", error.what()));
        break;
      }
      for (std::size_t i = 0; i < distributions.size(); ++i) {
        const Input& input = model.inputs[i];
        const std::string settings = input.settings.changes_nothing() ? "" : "; " + settings_text(model, input, {});
        result.distributions.push_back(fmt::format(
            "drafts ({}), probability {}{}: {}, {} calls, {} predictions confirmed", fmt::join(input.drafts, " "),
            fraction_text(model.drawn[i], 0x1p-40), settings, outcomes_text(distributions[i].outcomes),
            distributions[i].calls, distributions[i].predicted));
        for (std::string& line : deciding_lines(distributions[i]))
          result.distributions.push_back("  " + std::move(line));
      }
    }
    return result;
  }

 private:
  ExploreOptions exploration() const {
    ExploreOptions explore = exploration_of(declaration_, options_.explore);
    explore.stop = options_.stop;
    explore.keep_stretches = true;  // the evidence names the draws that lead to an outcome, from the stretches
    return explore;
  }

  std::string replay_of(const I& instance) const {
    return replay_line("replay", "", {{"adapter", options_.adapter}, {"instance", instance.text()}});
  }

  /// Returns the findings on the instance of a program that has had no earlier calls, as when its replay line is run;
  /// nothing if the program cannot be started again.
  std::optional<std::vector<Finding>> findings_alone(const I& instance) const {
    try {
      const std::shared_ptr<Program> fresh = options_.fresh ? options_.fresh() : nullptr;
      const DistributionCheckOptions alone{.seed = options_.seed};  // the options that `draftproof replay` uses
      return Checker(fresh ? *fresh : program_, declaration_, alone)
          .examine(cases_of(instance, true), false)
          .findings;
    } catch (const std::runtime_error&) {
      return std::nullopt;
    }
  }
  /// Whether a program that has had no earlier calls answers on the instance: some check passes, and it does not end.
  bool answers_alone(const I& instance) const {
    const auto findings = findings_alone(instance);
    const auto passed = [](const Finding& finding) { return finding.status == Status::passed; };
    const auto ended = [](const Finding& finding) { return finding.property == "protocol"; };
    return findings && std::ranges::any_of(*findings, passed) && std::ranges::none_of(*findings, ended);
  }
  /// Whether the check passes on the instance in a program that has had no earlier calls.
  bool passes_alone(const I& instance, std::size_t check) const {
    const auto findings = findings_alone(instance);
    return findings && std::ranges::any_of(*findings, [&](const Finding& finding) {
             return finding.property == distribution_checks()[check] && finding.status == Status::passed;
           });
  }

  /// Returns the number of drafts of a position and 1, or of paths and of drafts in a path.
  static std::pair<int, int> shape_of(const Instance& instance) { return {instance.drafts, 1}; }
  static std::pair<int, int> shape_of(const PathInstance& instance) {
    return {instance.shape.drafts, instance.shape.length};
  }
  std::string drafts_text(const std::pair<int, int>& drafts) const {
    const int most = declaration_.level == Level::position ? drafts.first : drafts.second;
    const std::string text = fmt::format("{} draft{}", most, most == 1 ? "" : "s");
    return declaration_.level == Level::tree ? fmt::format("K = {} and {} a path", drafts.first, text) : text;
  }

  bool stopped() const { return options_.stop && options_.stop->load(std::memory_order_relaxed); }

  /// Returns the smallest instance found that fails the check too. Sets `answers` to the answers on it, with the calls
  /// of all tries added. Requests of smaller instances have temperature 0 if those of `one` have it.
  Shrunk<I> shrunk(const Case& one, std::size_t check, Answers& answers) const {
    bool lost = false;  // the program has ended; the results so far are kept
    std::uint64_t calls = answers.calls;
    // Of exact_distribution a smaller instance must not show a much smaller departure, because rounding could be
    // thought to explain that.
    const auto too_small = [check, departure = answers.departure()](const Answers& here) {
      return check == distribution_check::exact_distribution &&
             here.departure() < std::min(small_departure, departure / 4);
    };
    const ShrinkOptions search{.next = ShrinkOptions::Next::same_step, .stopped = [&] { return lost || stopped(); }};
    // An instance without `branching` has K children at every node, and so may have millions of trees. The program is
    // called on each of them.
    const double most_trees = std::max(1024.0, trees_of(one.instance));
    Shrunk<I> found = shrink(one.instance, search, [&](const I& candidate) {
      if (trees_of(candidate) > most_trees || !takes(declaration_, candidate)) return false;
      try {
        Answers here = ask({candidate, one.zero}, exploration().predictions / few);
        calls += here.calls;
        if (!here.failed[check] || too_small(here)) return false;
        answers = std::move(here);
        return true;
      } catch (const AdapterError&) {
        lost = true;
        return false;
      }
    });
    answers.calls = calls;
    found.cut = found.cut && !lost;
    return found;
  }

  double trees_of(const I& instance) const {
    if constexpr (std::is_same_v<I, PathInstance>)
      if (instance.valid()) return most_trees_of(declaration_, instance);
    return 0;
  }

  Program& program_;
  const Declaration& declaration_;
  const DistributionCheckOptions& options_;
};

/// Returns the number of tokens in all inputs, by which instances are ordered.
template <class I>
long size_of(const I& instance) {
  if constexpr (std::same_as<I, Instance>)
    return static_cast<long>(instance.vocabulary()) * instance.drafts;
  else
    return static_cast<long>(instance.vocabulary()) * instance.shape.drafts * instance.shape.length *
           (1 + instance.listed_length());
}

template <class I, class Generate>
DistributionChecks check_generated(Program& program, const Declaration& declaration,
                                   const DistributionCheckOptions& options, Generate generate) {
  std::vector<I> instances;
  for (const std::string& text : options.first) instances.push_back(I::parse(text));
  const auto given = static_cast<std::ptrdiff_t>(instances.size());
  // Among instances of equal size those with near rows come last, so that a bug on all rows is shown on simpler rows.
  for (const bool near : {false, true})
    for (int n = 0; n < options.instances; ++n)
      if (has_near_rows(n) == near) instances.push_back(generate(declaration, options.seed, n, options.most_drafts));
  std::stable_sort(instances.begin() + given, instances.end(),
                   [](const I& a, const I& b) { return size_of(a) < size_of(b); });
  const Checker<I> checker(program, declaration, options);
  std::vector<typename Checker<I>::Case> cases;
  for (std::size_t i = 0; i < instances.size(); ++i)
    for (auto& one : checker.cases_of(instances[i], i < options.first.size())) cases.push_back(std::move(one));
  return checker.examine(cases);
}

}  // namespace

ExploreOptions exploration_of(const Declaration& declaration, ExploreOptions options) {
  options.coin_bits = declaration.coin_bits;
  options.dtype_bits = significant_bits(declaration.dtypes.front());
  return options;
}

DistributionChecks check_distributions(Program& program, const Declaration& declaration,
                                       const DistributionCheckOptions& options) {
  if (declaration.level == Level::position)
    return check_generated<Instance>(program, declaration, options, external_instance);
  return check_generated<PathInstance>(program, declaration, options, external_path_instance);
}

DistributionChecks check_distributions_on(Program& program, const Declaration& declaration,
                                          const std::string& instance, const DistributionCheckOptions& options) {
  if (declaration.level == Level::position)
    return Checker<Instance>(program, declaration, options).replay(Instance::parse(instance));
  return Checker<PathInstance>(program, declaration, options).replay(PathInstance::parse(instance));
}

}  // namespace draftproof::adapters
