// The checks of a selection policy, which chooses the drafts to keep: the choice does not anticipate, and the
// output has the target's distribution with every verifier.
#pragma once

#include <optional>
#include <string>

#include <draftproof/properties/components/selection/selection_group.hpp>

namespace draftproof::checks::selection {

// Non-anticipation, a property of the policy alone: after every prefix, the probability that a draft is kept
// does not depend on the draft's token. Runs no verifier.
//
// Does not apply to a policy for sample-and-match only, because sample-and-match draws its token without the drafts.
struct NonAnticipation {
  static constexpr std::string_view name = "non_anticipation";
  static constexpr std::string_view about = "whether a draft is kept does not depend on its own token";
  static constexpr Tier tier = Tier::proof;

  static Answer check(const SelectionRule& policy, const SelectionCase& one, std::uint64_t& work) {
    if (policy.matching_alone)
      return {Status::skipped,
              "not required of a policy for sample-and-match only, where the token does not depend on the drafts"};
    if (!policy.takes(one)) return Answer::not_applicable();
    SelectionAnalysis at(policy, one);
    const std::optional<std::string> wrong = at.anticipation();
    work += at.work();
    return Answer::passed_if(!wrong, [&] { return *wrong; });
  }
};

// Losslessness of drafter, policy and verifier together, for every verifier rule that the policy supports. The
// evidence names the first biased rule, a smallest set of inputs that the choice must not use, and the rules
// that are exact nevertheless.
struct OutputDistribution {
  static constexpr std::string_view name = "output_distribution";
  static constexpr std::string_view about =
      "after drafter, policy and verifier the output has the target's distribution";
  static constexpr Tier tier = Tier::proof;

  static Answer check(const SelectionRule& policy, const SelectionCase& one, std::uint64_t& work) {
    if (!policy.takes(one)) return Answer::not_applicable();
    SelectionAnalysis at(policy, one);
    Answer answer = answer_of_rules(
        one.requests.front().chain(), "the distribution is exact with",
        [&](VerifyRule rule) { return at.has(rule) && (!policy.matching_alone || rule == VerifyRule::matching); },
        [&](VerifyRule rule, bool first) {
          std::optional<std::string> wrong = at.wrong_output(rule);
          if (wrong && first) *wrong += "; the choice depends on " + at.seen(rule);
          return wrong;
        });
    work += at.work();
    return answer;
  }
};

}  // namespace draftproof::checks::selection
