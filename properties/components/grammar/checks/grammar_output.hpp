// Checks of grammar components: the output of drafter, component and verifier, for every verifier that serves the
// drafts. The evidence names the first verifier that fails and the verifiers that are right on the same model.
#pragma once

#include <cstdint>
#include <string_view>

#include <draftproof/properties/components/grammar/grammar_group.hpp>

namespace draftproof::checks::grammar {

namespace detail {

/// Checks the case with every verifier that serves its drafts. `fault(analysis, rule)` returns the defect of the output
/// with the verifier `rule`, or nullopt.
template <class Fault>
Answer answer_on(const GrammarRule& component, const GrammarCase& one, std::uint64_t& work, const Fault& fault) {
  if (!component.trees && !one.chain()) return Answer::not_applicable();
  GrammarAnalysis at(component, one);
  Answer answer = answer_of_rules(
      one.chain(), "the distribution is right with", [&](VerifyRule rule) { return at.has(rule); },
      [&](VerifyRule rule, bool) { return fault(at, rule); });
  work += at.work();
  return answer;
}

}  // namespace detail

struct GrammarDistribution {
  static constexpr std::string_view name = "grammar_distribution";
  static constexpr std::string_view about =
      "the output of a step and the next token have the target's distribution under the grammar";
  static constexpr Tier tier = Tier::proof;

  static Answer check(const GrammarRule& component, const GrammarCase& one, std::uint64_t& work) {
    return detail::answer_on(component, one, work,
                             [](GrammarAnalysis& at, VerifyRule rule) { return at.wrong_output(rule); });
  }
};

struct ForbiddenTokens {
  static constexpr std::string_view name = "forbidden_tokens";
  static constexpr std::string_view about = "no token that the grammar forbids is emitted";
  static constexpr Tier tier = Tier::proof;

  static Answer check(const GrammarRule& component, const GrammarCase& one, std::uint64_t& work) {
    return detail::answer_on(component, one, work,
                             [](GrammarAnalysis& at, VerifyRule rule) { return at.forbidden_token(rule); });
  }
};

}  // namespace draftproof::checks::grammar
