#include <draftproof/doors/gate/among_rows.hpp>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <draftproof/doors/gate/law_checks.hpp>
#include <draftproof/doors/gate/law_text.hpp>

namespace draftproof::doors {

namespace {

bool alike(const Outcome& a, const Outcome& b, double rounding) {
  return a.status == b.status && a.tokens == b.tokens && a.state.size() == b.state.size() &&
         std::equal(a.state.begin(), a.state.end(), b.state.begin(),
                    [&](double x, double y) { return std::abs(x - y) <= rounding * std::max(1.0, std::abs(x)); });
}

/// The probability that both have in common, and in words the outcome of `alone` that lacks most `among` rows.
double overlap_of(const ProgramLaw& alone, const ProgramLaw& among, double rounding, std::string& text) {
  std::vector<OutcomeMass> left = among.outcomes;
  double common = 0, most = 0;
  for (const auto& [outcome, probability] : alone.outcomes) {
    double missing = probability;
    for (OutcomeMass& other : left) {
      if (!alike(outcome, other.outcome, rounding)) continue;
      const double share = std::min(missing, other.probability);
      missing -= share, other.probability -= share, common += share;
    }
    if (!(missing > most)) continue;
    most = missing;
    text = fmt::format("{} has probability {}, alone {}", outcome_text(outcome),
                       fraction_text(probability - missing, 0x1p-40), fraction_text(probability, 0x1p-40));
  }
  return common;
}

}  // namespace

Shift shift_among(Program& program, const Declaration& declaration, const std::vector<Input>& inputs,
                  const std::vector<Call>& calls, std::size_t slot, std::uint64_t seed) {
  const Input& input = inputs[calls[slot].input];
  std::vector<Call> others = calls;
  others.erase(others.begin() + static_cast<std::ptrdiff_t>(slot));
  AmongRows by_itself(program), between(program, inputs, std::move(others), slot);
  const bool exact = declaration.batch_invariant;
  const double rounding =
      2 * rounding_limit(declaration.dtypes.front(), static_cast<int>(input.drafts.size()), input.vocabulary());
  // Few calls, since a difference is looked at once more. One tree may have missed a stretch; the other one has its ends
  // then. So both are asked on either side of all ends that were found, and more predictions have to hold.
  constexpr int confirming = 512;
  ExploreOptions explore = exploration_of(declaration, {.predictions = fewest_predictions,
                                                        .even_points = 2,
                                                        .most_calls = 4000,
                                                        .keep_stretches = true,
                                                        .seed = seed});
  Shift shift;
  for (;;) {
    const ProgramLaw alone = explore_program(by_itself, std::span(&input, 1), explore).front();
    const ProgramLaw among = explore_program(between, std::span(&input, 1), explore).front();
    shift.rows += alone.calls + among.calls * calls.size();
    for (const ProgramLaw* law : {&alone, &among}) {
      if (law->state != LawState::not_a_function && law->state != LawState::unsettled) continue;
      const bool open = law->state == LawState::unsettled;
      shift.kind = open ? Shift::Kind::open : Shift::Kind::beyond;
      shift.text = fmt::format("{}{} on the tape ({:.9g})", law == &alone ? "alone, " : "",
                               open ? "predictions still fail" : "equal calls have different results",
                               fmt::join(law->tape, " "));
      return shift;
    }
    const double apart = 1 - overlap_of(alone, among, exact ? 0 : rounding, shift.text);
    const double unexplored = alone.unexplored + among.unexplored;
    const double limit =
        exact ? std::ldexp(alone.most_places + among.most_places + 2, -53) : alone.limit + among.limit + rounding;
    if (apart - unexplored > limit) {
      if (explore.predictions < confirming) {
        explore.predictions = confirming;
        ++explore.seed;
        for (const ProgramLaw* law : {&alone, &among})
          for (const Stretch& stretch : law->stretches)
            if (stretch.first > 1)
              explore.thresholds.push_back(std::ldexp(static_cast<double>(stretch.first - 1), -stretch.bits));
        continue;
      }
      shift.kind = Shift::Kind::beyond;
      shift.text += fmt::format(", TV {}, rounding explains {:.1g}", fraction_text(apart, limit), limit);
    } else if (apart > limit) {
      shift.kind = Shift::Kind::open;
      shift.text = fmt::format("{:.3g} of the probability was not explored", unexplored);
    }
    return shift;
  }
}

}  // namespace draftproof::doors
