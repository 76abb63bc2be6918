// Surveys selection policies on chains of drafts. Counts the drafts verified and accepted in a step, and compares them
// with the most that any non-anticipating policy gets accepted at the same mean number of verified drafts
// (selection_bound.hpp).
//
// A batch has several requests that share a budget. Each request drafts one chain from q, and each chosen verifier, or
// sample-and-match for a policy that is exact only with it, decides about the drafts that the policy keeps. All
// policies get the same batches and the same random numbers, so the difference between two policies varies less than
// either result.
//
// The confidence after a prefix is computed from the rows, because captures have no confidence head. Some policies use
// the results of the previous step. All drafts of the previous step are verified, whatever the policy. On stored trees
// the previous step has another stored path of the same context.
#pragma once

#include <atomic>
#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <draftproof/captures/path_source.hpp>
#include <draftproof/properties/components/component.hpp>
#include <draftproof/properties/components/verify_rule.hpp>

namespace draftproof {

/// How the confidence after a prefix is computed.
enum class ConfidenceHead {
  overlap,  ///< sum of min(p, q): the probability that token verification accepts the next draft
  largest,  ///< the largest entry of q, which is known without a confidence head
};

struct PolicySurveyOptions {
  int requests = 4;                 ///< number of requests in a batch
  int length = 4;                   ///< number of drafted tokens of a request
  int budget = 0;                   ///< most verified drafts of a batch; 0 means half of the drafts
  std::uint64_t batches = 1 << 12;  ///< number of batches for each policy
  std::vector<double> cost{1};      ///< SelectionView::cost
  ConfidenceHead head = ConfidenceHead::overlap;
  std::vector<std::string> policies{};  ///< empty: all
  std::vector<VerifyRule> rules{VerifyRule::token};
  bool sizes = false;  ///< whether the report has the sizes of steps
  bool mutants = false;
  std::uint64_t seed = 1;
  int threads = 0;  ///< 0: all processors
  const std::atomic<bool>* stop = nullptr;
  std::function<void(std::uint64_t batches)> progress{};

  /// Returns the most verified drafts of a batch.
  int most_verified() const { return budget > 0 ? budget : (requests * length + 1) / 2; }
};

/// The numbers that decide how long a step of a batch takes.
struct StepSize {
  /// Draft passes until the policy has decided about every request: all L if it reads the drafts that it drops;
  /// otherwise one for each kept draft of the longest request, and one for the row at which the policy stops, if it
  /// reads that row.
  int passes;
  int longest;   ///< most verified drafts of a request
  int verified;  ///< verified drafts of all requests
  auto operator<=>(const StepSize&) const = default;
};

/// Counts of one policy over all batches.
struct PolicyTally {
  std::uint64_t verified = 0, accepted = 0, emitted = 0;
  std::uint64_t accepted_squared = 0;         ///< sum over batches of the squared number of accepted drafts
  std::map<StepSize, std::uint64_t> sizes{};  ///< numbers of batches
};

/// The result for one policy.
struct PolicyRow {
  const AnyComponent* policy = nullptr;
  VerifyRule rule = VerifyRule::token;
  PolicyTally tally{};
  /// The largest mean number of accepted drafts of a request that a non-anticipating policy has at this policy's mean
  /// number of verified drafts. Absent if there are too many prefixes, for policies that cut the output after
  /// verification, and for other verifiers than token verification.
  std::optional<double> best{};
};

/// Returns the name of the rule's verifier of chains on the command line and in results.
constexpr std::string_view survey_name(VerifyRule rule) {
  return rule == VerifyRule::matching ? "sample_and_match" : verifier_of(rule, true);
}
/// Whether the row's policy reads results of the previous step.
bool reads_past(const PolicyRow& row);
/// Whether the finding on the row's policy is a failure. A policy for sample-and-match alone may use the drafts'
/// tokens, so a failure of its property "non_anticipation" does not count.
bool fails(const PolicyRow& row, const Finding& finding);

struct PolicySurvey {
  std::vector<PolicyRow> rows;
  /// Numbers of batches and requests that were run. A request whose context is at its limit has no drafts.
  std::uint64_t batches = 0, requests = 0;

  double per_request(std::uint64_t count) const {
    return requests == 0 ? 0 : static_cast<double>(count) / static_cast<double>(requests);
  }
  /// Returns the standard error of the accepted drafts of a request, from the variance between batches; NaN for
  /// one batch.
  double standard_error(const PolicyTally& tally) const;
};

/// Returns the rows without counts. Throws: InputError for unknown names.
std::vector<PolicyRow> plan_policies(const PolicySurveyOptions& options);

/// Returns the survey, in the order of the registry. Throws: InputError for unknown names, and for a length that the
/// source does not have.
PolicySurvey survey_policies(const PathSource& source, const PolicySurveyOptions& options);

}  // namespace draftproof
