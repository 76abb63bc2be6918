#include <draftproof/doors/gate/law_checks.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace draftproof::doors {

namespace {

/// Instances without a decision, after which a program is given up: they use up the calls of an exploration each.
constexpr int most_undecided = 8;

constexpr std::array<std::string_view, 5> checks{"exact_law", "zero_support", "answers", "function", "optimum"};

/// What one instance says to each check: the evidence of a violation, or nothing.
struct Answers {
  std::array<std::optional<std::string>, checks.size()> violated{};
  std::optional<std::string> undecided{};
  Judgement judgement{};
  double unexplored = 0;  ///< probability that limits cut
  std::uint64_t calls = 0, predictions = 0;
};

/// Where the law departs most, in words: a token, or mass that emits nothing.
std::string text_of(const Judgement& judgement) {
  const double missing = 1 - judgement.mass;
  const auto& worst = judgement.worst;
  if (!worst || missing > 2 * std::abs(worst->found - worst->wanted))
    return fmt::format("emits nothing with probability {}", fraction_text(missing, judgement.limit));
  return fmt::format("token {} after {}: got {}, wanted {}", worst->token, prefix_text(worst->prefix),
                     fraction_text(worst->found, judgement.limit), fraction_text(worst->wanted, judgement.limit));
}

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

  /// A tree of stretches that is wrong by mass m survives n predictions, half of them uniform, with probability
  /// (1 - m)^(n / 2). A departure of d may come from a tree that is wrong by d, so it counts after 42 / d predictions:
  /// e^-21 < 1e-9.
  Answers ask(const I& instance) const {
    constexpr double survives = 42, most_predictions = 0x1p15;
    const Toy model = toy(instance);
    ExploreOptions explore = exploration();
    Answers answers = answers_on(model, explore);
    const double departure = answers.judgement.distance - answers.unexplored;
    if (answers.violated[0] && departure * explore.predictions < survives) {
      explore.predictions = static_cast<int>(std::min(most_predictions, std::ceil(survives / departure)));
      ++explore.seed;
      const std::uint64_t calls = answers.calls;
      answers = answers_on(model, explore);
      answers.calls += calls;
    }
    return answers;
  }

  LawChecks examine(const std::vector<I>& instances, bool shrinks_them = true) const {
    LawChecks result;
    std::array<std::optional<I>, checks.size()> failing{};
    std::array<std::string, checks.size()> evidence{};
    std::string undecided;
    int unfinished = 0;
    std::optional<GateFinding> lost;
    for (const I& instance : instances) {
      if (stopped()) break;
      Answers answers;
      try {
        answers = ask(instance);
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
      if (answers.undecided) ++unfinished, undecided = *answers.undecided;
      if (!answers.violated[0] && answers.judgement.distance > result.largest) {
        result.largest = answers.judgement.distance;
        result.farthest = instance.text();
      }
      for (std::size_t i = 0; i < checks.size(); ++i)
        if (answers.violated[i] && !failing[i]) {
          failing[i] = instance;
          evidence[i] = *answers.violated[i];
        }
      if (options_.progress) options_.progress(result.instances);
      if (failing[0] || failing[3]) break;  // a wrong law: what else is wrong shows on the same instances
      if (unfinished == most_undecided) break;
    }
    for (std::size_t i = 0; i < checks.size(); ++i) {
      if (checks[i] == "optimum" && declaration_.level != Level::position) continue;
      if (lost && !failing[i]) continue;  // nothing is said of the instances that follow
      GateFinding finding{.check = std::string(checks[i]), .tier = Tier::proof, .work = result.calls};
      if (failing[i]) {
        const I smallest = shrinks_them && !lost ? shrink(*failing[i], i, evidence[i]) : *failing[i];
        finding.status = Status::violated;
        finding.evidence = evidence[i];
        finding.instance = smallest.text();
        finding.replay = replay_line(smallest);
      } else {
        const bool open = i == 0 && unfinished > 0;
        finding.status = result.instances == 0 ? Status::skipped : open ? Status::undecided : Status::held;
        if (open) finding.evidence = fmt::format("{} instances: {}", unfinished, undecided);
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
      std::string line = fmt::format("drafts ({}), probability {}:", fmt::join(model.inputs[i].drafts, " "),
                                     fraction_text(model.drawn[i], 0x1p-40));
      for (const auto& [outcome, probability] : laws[i].outcomes)
        line += outcome.status == RowStatus::ok
                    ? fmt::format(" ({}) {},", fmt::join(outcome.tokens, " "), probability_text(probability))
                    : fmt::format(" status {} {},", static_cast<int>(outcome.status), probability_text(probability));
      line += fmt::format(" {} calls, {} predictions held", laws[i].calls, laws[i].predicted);
      result.laws.push_back(std::move(line));
    }
    return result;
  }

 private:
  ExploreOptions exploration() const {
    ExploreOptions explore = options_.explore;
    explore.coin_bits = declaration_.coin_bits;
    explore.dtype_bits = significant_bits(declaration_.dtypes.front());
    return explore;
  }

  Answers answers_on(const Toy& model, const ExploreOptions& explore) const {
    const std::vector<ProgramLaw> laws = explore_program(program_, model.inputs, explore);
    Answers answers;
    answers.judgement = judge(model, laws, declaration_);
    for (std::size_t i = 0; i < laws.size(); ++i) {
      const ProgramLaw& law = laws[i];
      answers.calls += law.calls;
      answers.predictions += law.predicted;
      answers.unexplored += model.drawn[i] * law.unexplored;
      const std::string drafts = fmt::format("on drafts ({})", fmt::join(model.inputs[i].drafts, " "));
      if (law.state == LawState::not_a_function)
        answers.violated[3] = fmt::format("{}: equal calls have different results on the tape ({:.9g})", drafts,
                                          fmt::join(law.tape, " "));
      if (law.state == LawState::unsettled)
        answers.undecided = fmt::format("{}: predictions still fail after {} witnesses", drafts, law.witnesses);
    }
    if (answers.violated[3]) return answers;  // there is no law to judge
    const Judgement& judgement = answers.judgement;
    // Unexplored mass may lie anywhere. A tree that predictions still refute is no law.
    if (!answers.undecided && judgement.distance - answers.unexplored > judgement.limit)
      answers.violated[0] = fmt::format("{}, TV {}, rounding explains {:.1g}", text_of(judgement),
                                        fraction_text(judgement.distance, judgement.limit), judgement.limit);
    else if (judgement.distance > judgement.limit && !answers.undecided)
      answers.undecided = fmt::format("{:.3g} of the probability was not explored", answers.unexplored);
    for (const EdgeOutcome& edge : judgement.edges) {
      auto& answer = answers.violated[edge.emits ? 1 : 2];
      if (!answer)
        answer = fmt::format("{}, probability {} a decision", edge.what, probability_text(edge.probability));
    }
    if (model.optimum && judgement.acceptance > *model.optimum + judgement.limit)
      answers.violated[4] =
          fmt::format("accepts {:.7g}, the optimum is {:.7g}", judgement.acceptance, *model.optimum);
    return answers;
  }

  std::string replay_line(const I& instance) const {
    return fmt::format("draftproof replay --door '{}' --instance '{}'", options_.door, instance.text());
  }

  bool stopped() const { return options_.stop && options_.stop->load(std::memory_order_relaxed); }

  /// Greedy descent: the first smaller instance that violates the check too, until there is none.
  I shrink(I instance, std::size_t check, std::string& evidence) const {
    for (bool smaller = true; smaller && !stopped();) {
      smaller = false;
      for (const I& candidate : shrinks(instance)) {
        if (!takes(declaration_, candidate)) continue;
        Answers answers;
        try {
          answers = ask(candidate);
        } catch (const DoorError&) {  // the program is lost: what was found stands
          return instance;
        }
        if (!answers.violated[check]) continue;
        instance = candidate;
        evidence = *answers.violated[check];
        smaller = true;
        break;
      }
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
  for (int n = 0; n < options.instances; ++n) instances.push_back(generate(declaration, options.seed, n));
  std::stable_sort(instances.begin(), instances.end(),
                   [](const I& a, const I& b) { return size_of(a) < size_of(b); });
  return Checker<I>(program, declaration, options).examine(instances);
}

}  // namespace

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

}  // namespace draftproof::doors
