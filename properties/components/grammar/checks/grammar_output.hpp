// Checks of grammar components: the output of drafter, component and verifier, for every verifier that serves the
// drafts. The evidence names the first verifier that fails and those that are right on the same model.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <draftproof/properties/components/grammar/grammar_group.hpp>

namespace draftproof::checks::grammar {

namespace detail {

/// `fault(analysis, rule)` returns the fault of the output, if there is one.
template <class Fault>
Answer answer_of_rules(const GrammarRule& component, const GrammarCase& one, std::uint64_t& work,
                       const Fault& fault) {
  if (!component.trees && !one.chain()) return Answer::not_applicable();
  GrammarAnalysis at(component, one);
  std::string evidence;
  std::vector<std::string_view> right;
  for (const VerifyRule rule : all_verify_rules) {
    if (!at.has(rule)) continue;
    const std::string_view verifier = verifier_of(rule, one.chain());
    const std::optional<std::string> wrong = fault(at, rule);
    if (!wrong)
      right.push_back(verifier);
    else if (evidence.empty())
      evidence = fmt::format("{}: {}", verifier, *wrong);
  }
  work += at.work();
  if (evidence.empty()) return Answer::passed();
  return Answer::failed(right.empty() ? evidence
                                      : fmt::format("{}; on this model the distribution is right with {}", evidence,
                                                    fmt::join(right, ", ")));
}

}  // namespace detail

struct GrammarDistribution {
  static constexpr std::string_view name = "grammar_distribution";
  static constexpr std::string_view about =
      "the output of a step and the next token have the target's distribution under the grammar";
  static constexpr Tier tier = Tier::proof;

  static Answer check(const GrammarRule& component, const GrammarCase& one, std::uint64_t& work) {
    return detail::answer_of_rules(component, one, work,
                                   [](GrammarAnalysis& at, VerifyRule rule) { return at.wrong_output(rule); });
  }
};

struct ForbiddenTokens {
  static constexpr std::string_view name = "forbidden_tokens";
  static constexpr std::string_view about = "no token that the grammar forbids is emitted";
  static constexpr Tier tier = Tier::proof;

  static Answer check(const GrammarRule& component, const GrammarCase& one, std::uint64_t& work) {
    return detail::answer_of_rules(component, one, work,
                                   [](GrammarAnalysis& at, VerifyRule rule) { return at.forbidden_token(rule); });
  }
};

}  // namespace draftproof::checks::grammar
