#include <draftproof/adapters/gate/distribution_answers.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <cmath>

#include <draftproof/adapters/gate/batch_checks.hpp>
#include <draftproof/adapters/gate/distribution_text.hpp>
#include <draftproof/captures/nearest_names.hpp>
#include <draftproof/properties/prover/distribution_property.hpp>

namespace draftproof::adapters {

std::vector<std::string_view> distribution_checks() {
  std::vector<std::string_view> names{"exact_distribution", "zero_support", "answers",
                                      "function",           "optimum",      "inputs_unchanged"};
  for (const DistributionProperty& property : distribution_properties().all()) names.push_back(property.name);
  return names;
}

namespace {

/// Returns the largest departure of the distribution as text: a token with another probability, or the probability of
/// emitting nothing.
std::string text_of(const Judgement& judgement) {
  const double missing = 1 - judgement.mass - judgement.failed;
  const auto& worst = judgement.worst;
  if (!worst || missing > 2 * std::abs(worst->found - worst->wanted))
    return fmt::format("emits nothing with probability {}", fraction_text(missing, judgement.limit));
  return fmt::format("token {} after {}: got {}, expected {}", worst->token, prefix_text(worst->prefix),
                     fraction_text(worst->found, judgement.limit), fraction_text(worst->wanted, judgement.limit));
}

/// Adds what one distribution contributes to the answers of the checks.
void add_distribution(const ProgramDistribution& distribution, const Input& input, double drawn, Answers& answers) {
  if (!distribution.silent.empty()) throw ProgramSilent(distribution.silent);
  answers.calls += distribution.calls;
  answers.predictions += distribution.predicted;
  answers.unexplored += drawn * distribution.unexplored;
  if (distribution.unexplored > 0 || distribution.outcomes.empty())
    answers.answered = true;  // an unexplored branch may lead to an answer
  for (const OutcomeMass& each : distribution.outcomes)
    if (each.outcome.status != RowStatus::failed)
      answers.answered = true;
    else if (answers.failure.empty())
      answers.failure = one_line(each.outcome.message);
  std::string drafts = fmt::format("on drafts ({})", fmt::join(input.drafts, " "));
  if (!input.settings.changes_nothing()) drafts += " with " + to_text(input.settings);
  if (distribution.state == DistributionState::not_a_function) {
    const std::string numbers =
        distribution.tape.empty() ? ""
                                  : fmt::format(" on the random numbers ({:.9g})", fmt::join(distribution.tape, " "));
    answers.failed[distribution_check::function] =
        Answer::failed(fmt::format("{}: equal calls have different results{}: something is kept between calls, or "
                                   "random numbers come from a source that is not replaced",
                                   drafts, numbers));
  }
  answers.unsettled |= distribution.state == DistributionState::unsettled ||
                       std::find(distribution.remarks.begin(), distribution.remarks.end(), race_undecided) !=
                           distribution.remarks.end();
  if (distribution.state == DistributionState::unsettled)
    answers.undecided = fmt::format("{}: calls still contradict the computed distribution after {} refinements",
                                    drafts, distribution.witnesses);
  if (!distribution.overwrote.empty())
    answers.failed[distribution_check::inputs_unchanged] =
        Answer::failed(fmt::format("{}: overwrites {}", drafts, distribution.overwrote));
}

/// Returns "; drafts (0): p before the settings (..), temperature 2, p after them (..)" for the first inputs with
/// settings, on the row after `prefix`; inputs that lead there come first. Empty if there are none.
std::string text_of_requests(const SmallModel& model, const Tokens& prefix) {
  constexpr std::size_t most = 3;
  std::vector<std::string> texts;
  for (const bool leads : {true, false})
    for (const Input& input : model.inputs)
      if (texts.size() < most && !input.settings.changes_nothing() && row_after(input, prefix).has_value() == leads)
        texts.push_back(
            fmt::format("; drafts ({}): {}", fmt::join(input.drafts, " "), settings_text(model, input, prefix)));
  return fmt::format("{}", fmt::join(texts, ""));
}

/// Returns the distribution of the strings that the program emits on a drawn input. Strings that the model cannot emit
/// are left out, because zero_support reports them.
EmittedDistribution emitted_distribution(const SmallModel& model, std::span<const ProgramDistribution> distributions,
                                         const Answers& answers) {
  EmittedDistribution emitted{.vocabulary = model.vocabulary, .length = model.length};
  for (std::size_t i = 0; i < distributions.size(); ++i)
    for (const auto& [outcome, probability] : distributions[i].outcomes) {
      const Tokens& tokens = outcome.tokens;
      const bool string = !tokens.empty() && std::ssize(tokens) <= model.length &&
                          std::ranges::all_of(tokens, [&](Token x) { return x >= 0 && x < model.vocabulary; });
      if (outcome.status == RowStatus::ok && string)
        emitted.emitted[tokens] += Rational(model.drawn[i]) * Rational(probability);
    }
  emitted.target = [&model](const Tokens& prefix) {
    const std::vector<double>& row = model.target(prefix);
    return std::vector<Rational>(row.begin(), row.end());
  };
  emitted.limit = Rational(answers.judgement.limit + answers.unexplored + answers.judgement.failed);
  return emitted;
}

Answers answers_of(Program& program, const SmallModel& model, const Declaration& declaration,
                   const ExploreOptions& explore) {
  Answers answers;
  const ExploreCalls distributions_on = [&](const std::vector<Input>& inputs, const std::vector<double>& drawn) {
    std::vector<ProgramDistribution> distributions = explore_program(program, inputs, explore);
    for (std::size_t i = 0; i < distributions.size(); ++i)
      add_distribution(distributions[i], inputs[i], drawn[i], answers);
    if (answers.failed[distribution_check::function]) distributions.clear();
    return distributions;
  };
  if (declaration.stateful() && model.drafted) {
    SmallModel longer = model;  // shows whether the state in the second call is wrong
    ++longer.length;
    answers.judgement = judge_calls(longer, declaration, distributions_on);
  } else if (const std::vector<ProgramDistribution> distributions = distributions_on(model.inputs, model.drawn);
             !distributions.empty()) {
    answers.judgement = judge(model, distributions, declaration);
    if (!answers.undecided && !distribution_properties().all().empty()) {
      const EmittedDistribution emitted = emitted_distribution(model, distributions, answers);
      std::size_t place = distribution_check::first_registered;
      for (const DistributionProperty& property : distribution_properties().all()) {
        if (auto evidence = property.violation(emitted)) answers.failed[place] = Answer::failed(*evidence);
        ++place;
      }
    }
  }
  if (answers.failed[distribution_check::function]) return answers;  // there is no distribution to judge
  Judgement& judgement = answers.judgement;
  // If a greedy program may emit any of several equally likely tokens, the target fixes no distribution; zero_support
  // reports every other token.
  if (model.greedy && declaration.greedy == Greedy::any) judgement.distance = 0;
  // While predictions made from the tree of explored draws still fail, the tree's distribution is not the program's, so
  // no departure is reported.
  if (!answers.undecided && answers.departure() > judgement.limit)
    answers.failed[distribution_check::exact_distribution] =
        Answer::failed(fmt::format("{}, TV {}, rounding explains {:.1g}{}", text_of(judgement),
                                   fraction_text(judgement.distance, judgement.limit), judgement.limit,
                                   text_of_requests(model, judgement.worst ? judgement.worst->prefix : Tokens{})),
                       {{"distance", judgement.distance}, {"limit", judgement.limit}});
  else if (judgement.distance - judgement.failed <= judgement.limit && judgement.distance > judgement.limit)
    answers.unjudged =
        fmt::format("rows without an answer have probability {}, so the distribution of the others is not judged",
                    fraction_text(judgement.failed, judgement.limit));
  else if (judgement.distance > judgement.limit && !answers.undecided)
    answers.undecided = fmt::format("{:.3g} of the probability was not explored", answers.unexplored);
  for (const EdgeOutcome& edge : judgement.edges) {
    auto& answer = answers.failed[edge.emits ? distribution_check::zero_support : distribution_check::answers];
    if (!answer)
      answer = Answer::failed(
          fmt::format("{}, probability {} a decision{}{}", edge.what, probability_text(edge.probability),
                      edge.where.empty() ? "" : ": where ", edge.where),
          {{"probability", edge.probability}});
  }
  if (model.optimum && judgement.acceptance > *model.optimum + judgement.limit)
    answers.failed[distribution_check::optimum] =
        Answer::failed(fmt::format("accepts {:.7g}, the optimum is {:.7g}", judgement.acceptance, *model.optimum),
                       {{"acceptance", judgement.acceptance}, {"optimum", *model.optimum}});
  return answers;
}

}  // namespace

Answers answers_on(Program& program, const SmallModel& model, const Declaration& declaration,
                   const ExploreOptions& explore) {
  Answers answers = answers_of(program, model, declaration, explore);
  const bool distribution_unknown = answers.failed[distribution_check::function] || answers.unsettled;
  if (declaration.most_rows == 1 || declaration.batch_invariant ||
      !(distribution_unknown || answers.failed[distribution_check::exact_distribution]))
    return answers;
  // Neighbours may change the order of a row's draws, or its roundings, so rows are then run one at a time. If a few
  // predictions give the same departure up to rounding, neighbours are not its cause, and the many that confirm it
  // are made in batches alone, which take a tenth of the time.
  AmongRows alone(program);
  constexpr int few = 64;
  if (!distribution_unknown && explore.predictions > few) {
    ExploreOptions fewer = explore;
    fewer.predictions = few;
    const Answers apart = answers_of(alone, model, declaration, fewer);
    answers.calls += apart.calls;
    if (apart.failed[distribution_check::exact_distribution] &&
        std::abs(answers.judgement.distance - apart.judgement.distance) <=
            answers.judgement.limit - declaration.tolerance)
      return answers;
  }
  Answers apart = answers_of(alone, model, declaration, explore);
  apart.calls += answers.calls;
  if (!apart.failed[distribution_check::exact_distribution] && !apart.failed[distribution_check::function] &&
      !apart.unsettled)
    apart.note = fmt::format("rows were run one at a time; in batches: {}",
                             answers.failed[distribution_check::function]
                                 ? answers.failed[distribution_check::function]->evidence
                             : answers.undecided ? *answers.undecided
                                                 : answers.failed[distribution_check::exact_distribution]->evidence);
  return apart;
}

}  // namespace draftproof::adapters
