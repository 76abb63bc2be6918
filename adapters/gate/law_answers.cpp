#include <draftproof/adapters/gate/law_answers.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <cmath>

#include <draftproof/adapters/gate/batch_checks.hpp>
#include <draftproof/adapters/gate/law_text.hpp>
#include <draftproof/properties/prover/distribution_property.hpp>

namespace draftproof::adapters {

std::vector<std::string_view> law_checks() {
  std::vector<std::string_view> names{"exact_law", "zero_support", "answers",
                                      "function",  "optimum",      "inputs_unchanged"};
  for (const DistributionProperty& property : distribution_properties().all()) names.push_back(property.name);
  return names;
}

namespace {

/// Where the law departs most, in words: a token, or mass that emits nothing.
std::string text_of(const Judgement& judgement) {
  const double missing = 1 - judgement.mass - judgement.failed;
  const auto& worst = judgement.worst;
  if (!worst || missing > 2 * std::abs(worst->found - worst->wanted))
    return fmt::format("emits nothing with probability {}", fraction_text(missing, judgement.limit));
  return fmt::format("token {} after {}: got {}, wanted {}", worst->token, prefix_text(worst->prefix),
                     fraction_text(worst->found, judgement.limit), fraction_text(worst->wanted, judgement.limit));
}

/// Adds what one law says, whatever its outcomes.
void add_law(const ProgramLaw& law, const Input& input, double drawn, Answers& answers) {
  if (!law.silent.empty()) throw ProgramSilent(law.silent);
  answers.calls += law.calls;
  answers.predictions += law.predicted;
  answers.unexplored += drawn * law.unexplored;
  if (law.unexplored > 0 || law.outcomes.empty()) answers.answered = true;  // that is more than is known
  for (const OutcomeMass& each : law.outcomes)
    if (each.outcome.status != RowStatus::failed)
      answers.answered = true;
    else if (answers.failure.empty())
      answers.failure = one_line(each.outcome.message);
  const std::string drafts = fmt::format("on drafts ({})", fmt::join(input.drafts, " "));
  if (law.state == LawState::not_a_function)
    answers.violated[law_check::function] = Answer::violated(
        fmt::format("{}: equal calls have different results on the tape ({:.9g})", drafts, fmt::join(law.tape, " ")));
  answers.unsettled |= law.state == LawState::unsettled ||
                       std::find(law.remarks.begin(), law.remarks.end(), race_undecided) != law.remarks.end();
  if (law.state == LawState::unsettled)
    answers.undecided = fmt::format("{}: predictions still fail after {} witnesses", drafts, law.witnesses);
  if (!law.overwrote.empty())
    answers.violated[law_check::inputs_unchanged] =
        Answer::violated(fmt::format("{}: overwrites {}", drafts, law.overwrote));
}

/// The law of the strings that the program emits on a drawn input. Strings that are none of the model's have no place
/// in it; they are findings of zero_support.
EmittedDistribution emitted_distribution(const Toy& model, std::span<const ProgramLaw> laws, const Answers& answers) {
  EmittedDistribution emitted{.vocabulary = model.vocabulary, .length = model.length};
  for (std::size_t i = 0; i < laws.size(); ++i)
    for (const auto& [outcome, probability] : laws[i].outcomes) {
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

Answers answers_of(Program& program, const Toy& model, const Declaration& declaration,
                   const ExploreOptions& explore) {
  Answers answers;
  const ExploreCalls laws_on = [&](const std::vector<Input>& inputs, const std::vector<double>& drawn) {
    std::vector<ProgramLaw> laws = explore_program(program, inputs, explore);
    for (std::size_t i = 0; i < laws.size(); ++i) add_law(laws[i], inputs[i], drawn[i], answers);
    if (answers.violated[law_check::function]) laws.clear();
    return laws;
  };
  if (declaration.stateful() && model.drafted) {
    Toy longer = model;  // a token beyond the first call's last shows a wrong state of the second one
    ++longer.length;
    answers.judgement = judge_calls(longer, declaration, laws_on);
  } else if (const std::vector<ProgramLaw> laws = laws_on(model.inputs, model.drawn); !laws.empty()) {
    answers.judgement = judge(model, laws, declaration);
    if (!answers.undecided && !distribution_properties().all().empty()) {
      const EmittedDistribution emitted = emitted_distribution(model, laws, answers);
      std::size_t place = law_check::first_registered;
      for (const DistributionProperty& property : distribution_properties().all()) {
        if (auto evidence = property.violation(emitted)) answers.violated[place] = Answer::violated(*evidence);
        ++place;
      }
    }
  }
  if (answers.violated[law_check::function]) return answers;  // there is no law to judge
  const Judgement& judgement = answers.judgement;
  // A tree that predictions still refute is no law.
  if (!answers.undecided && answers.departure() > judgement.limit)
    answers.violated[law_check::exact_law] =
        Answer::violated(fmt::format("{}, TV {}, rounding explains {:.1g}", text_of(judgement),
                                     fraction_text(judgement.distance, judgement.limit), judgement.limit),
                         {{"distance", judgement.distance}, {"limit", judgement.limit}});
  else if (judgement.distance - judgement.failed <= judgement.limit && judgement.distance > judgement.limit)
    answers.unjudged =
        fmt::format("rows without an answer have probability {}, so the law of the others is not judged",
                    fraction_text(judgement.failed, judgement.limit));
  else if (judgement.distance > judgement.limit && !answers.undecided)
    answers.undecided = fmt::format("{:.3g} of the probability was not explored", answers.unexplored);
  for (const EdgeOutcome& edge : judgement.edges) {
    auto& answer = answers.violated[edge.emits ? law_check::zero_support : law_check::answers];
    if (!answer)
      answer = Answer::violated(
          fmt::format("{}, probability {} a decision{}{}", edge.what, probability_text(edge.probability),
                      edge.where.empty() ? "" : ": where ", edge.where),
          {{"probability", edge.probability}});
  }
  if (model.optimum && judgement.acceptance > *model.optimum + judgement.limit)
    answers.violated[law_check::optimum] =
        Answer::violated(fmt::format("accepts {:.7g}, the optimum is {:.7g}", judgement.acceptance, *model.optimum),
                         {{"acceptance", judgement.acceptance}, {"optimum", *model.optimum}});
  return answers;
}

}  // namespace

Answers answers_on(Program& program, const Toy& model, const Declaration& declaration,
                   const ExploreOptions& explore) {
  Answers answers = answers_of(program, model, declaration, explore);
  const bool law_unknown = answers.violated[law_check::function] || answers.unsettled;
  if (declaration.most_rows == 1 || declaration.batch_invariant ||
      !(law_unknown || answers.violated[law_check::exact_law]))
    return answers;
  // Because neighbours may change the order of a row's draws, or its roundings: what a row does is then asked alone.
  AmongRows alone(program);
  Answers apart = answers_of(alone, model, declaration, explore);
  apart.calls += answers.calls;
  if (!apart.violated[law_check::exact_law] && !apart.violated[law_check::function] && !apart.unsettled)
    apart.note = fmt::format("rows were run one at a time, in batches: {}",
                             answers.violated[law_check::function] ? answers.violated[law_check::function]->evidence
                             : answers.undecided                   ? *answers.undecided
                                                 : answers.violated[law_check::exact_law]->evidence);
  return apart;
}

}  // namespace draftproof::adapters
