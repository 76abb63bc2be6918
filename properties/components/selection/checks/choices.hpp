// The two statements about a selection policy: that it does not anticipate, and that the output has the target's
// distribution whichever verifier follows it.
#pragma once

#include <optional>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <draftproof/properties/components/selection/selection_group.hpp>

namespace draftproof::checks::selection {

// Non-anticipation, a statement about the policy alone: for every prefix, the probability that a draft is kept given
// its token is the one without it. No verifier is run.
//
// A policy for sample-and-match alone need not satisfy it: the verifier's token does not depend on the drafts.
struct NonAnticipation {
  static constexpr std::string_view name = "non_anticipation";
  static constexpr std::string_view about = "whether a draft is kept does not depend on its own token";
  static constexpr Tier tier = Tier::proof;

  static Answer check(const SelectionRule& policy, const SelectionCase& one, std::uint64_t& work) {
    if (policy.matching_alone)
      return {Status::skipped, "not asked of a policy for sample-and-match alone, whose token no draft moves"};
    if (!policy.takes(one)) return Answer::not_applicable();
    SelectionAnalysis at(policy, one);
    const std::optional<std::string> wrong = at.anticipation();
    work += at.work();
    return Answer::held_if(!wrong, [&] { return *wrong; });
  }
};

// Losslessness of drafter, policy and verifier, for every rule that the policy is for. The evidence names the first
// rule that is biased, a smallest set of inputs that the choice must not have seen, and the rules that are exact all
// the same.
struct OutputDistribution {
  static constexpr std::string_view name = "output_distribution";
  static constexpr std::string_view about =
      "after drafter, policy and verifier the output has the target's distribution";
  static constexpr Tier tier = Tier::proof;

  static Answer check(const SelectionRule& policy, const SelectionCase& one, std::uint64_t& work) {
    if (!policy.takes(one)) return Answer::not_applicable();
    SelectionAnalysis at(policy, one);
    std::string evidence;
    std::vector<std::string_view> exact;
    for (const VerifyRule rule : all_verify_rules) {
      if (!at.has(rule) || (policy.matching_alone && rule != VerifyRule::matching)) continue;
      const std::string_view verifier = verifier_of(rule, one.requests.front().chain());
      const auto wrong = at.wrong_output(rule);
      if (!wrong) exact.push_back(verifier);
      if (!wrong || !evidence.empty()) continue;
      evidence = fmt::format("{}: {}; the choice has seen {}", verifier, *wrong, at.seen(rule));
    }
    work += at.work();
    if (evidence.empty()) return Answer::held();
    return Answer::violated(
        exact.empty() ? evidence : fmt::format("{}; on this model exact with {}", evidence, fmt::join(exact, ", ")));
  }
};

}  // namespace draftproof::checks::selection
