// Audits a recording of a running engine: bets on groups of tokens, and checks that a single record can fail.
// Runs no model and no verifier.
//
//   history   all blocks before this one, and the emitted tokens of this block so far
//   token     given the history, and that the block goes on, token r has distribution p_r for every lossless verifier
//             (proof in docs/traces.md). Bets on tokens use p_r, q_r and the position in the block.
//   verdict   with the rule `rejection`, given the history: (accepted, token) has probability min(p, q), (rejected,
//             token) has max(p - q, 0)
//   accepted  first token of a block: Pr(accepted, x) <= min(p(x), K q(x)), given the blocks before
//   draft     given the blocks before and the earlier drafts of this block, a draft has distribution q
//
// Correctness: at the ends of blocks the products of all bets are supermartingales for the history of whole
// blocks. Their mean is then a supermartingale that starts at 1, so by Ville's inequality it ever reaches 1 /
// alpha with probability at most alpha.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <draftproof/captures/trace.hpp>
#include <draftproof/properties/proof/finding.hpp>
#include <draftproof/properties/statistics/error_budget.hpp>
#include <draftproof/properties/statistics/group_bets.hpp>

namespace draftproof {

/// The assumed verification rule. The user asserts all but the first; the audit tests them.
enum class AuditRule {
  any_lossless,  ///< tokens have the target's distribution
  rejection,     ///< also: chains are verified by rejection sampling, so (accepted, token) has a known distribution
  greedy,        ///< each token is a most likely one of its row; no bets on tokens
};

struct AuditOptions {
  double false_alarm = ErrorBudget::default_total;  ///< probability of a false alarm in a whole build
  double share = 1;                                 ///< fraction of half of it, as in gates (docs/gate.md)
  std::string draft_sampling{};                     ///< draft sampling; empty: as recorded
  AuditRule rule = AuditRule::any_lossless;
  int threads = 0;  ///< 0: all processors
  const std::atomic<bool>* stop = nullptr;
  std::function<void(std::uint64_t)> progress{};  ///< called with the number of blocks audited
};

/// A record or a block that no correct engine writes, for any random bits.
struct AuditProof {
  std::string check;  ///< listed in docs/traces.md
  std::uint64_t block = 0, record = 0;
  int place = 0;  ///< index of the record or draft in its block
  std::string evidence;
};

/// One family of bets.
struct AuditFamily {
  std::string name;
  bool of_tokens = true;  ///< bets on emitted tokens and verdicts; false: on drafts
  double weight = 0, log_e = 0;
  std::uint64_t draws = 0;
  GroupExcess worst{};                    ///< the largest excess
  std::vector<SmallestFound> smallest{};  ///< deviations that it would have detected
};

/// One class of positions in the blocks.
struct AuditPlace {
  std::string place;
  std::uint64_t records = 0;
  GroupExcess worst{};
};

struct AuditResult {
  Status status = Status::passed;
  bool stopped = false;                                              ///< interrupted before the last block
  std::uint64_t blocks = 0, records = 0, drafts = 0, row_bytes = 0;  ///< audited
  std::string draft_sampling;
  double log_e = 0, largest_log_e = 0;  ///< log e at the end, and the largest log e of all evaluations
  double log_threshold = 0;
  std::optional<std::uint64_t> alarm_record{};  ///< records audited before the first look that reached the threshold
  /// The bets, and the smallest deviation of emitted tokens that they would have detected; nullopt if none,
  /// because there are too few records or each row has one possible token.
  std::optional<std::pair<std::string, SmallestFound>> shows{};
  std::vector<AuditFamily> families;
  std::vector<AuditPlace> places;
  std::vector<AuditProof> proofs;  ///< the first proof of each kind
  std::vector<std::pair<std::string, std::uint64_t>> proof_counts{};
  /// Records of chains with a proposal row; the number that are accepted drafts, and their sum of sum min(p, q).
  std::uint64_t chain_records = 0, chain_accepted = 0;
  double chain_overlap = 0;
  double seconds = 0;
};

/// Audits a recording. Throws: InputError, with array and row, for a row that is not a distribution; for a
/// recording without records; for another rule than `any_lossless` with truncated rows. Cost: one pass over the
/// rows, and 10 us a record.
AuditResult audit_trace(const Trace& trace, const AuditOptions& options);

}  // namespace draftproof
