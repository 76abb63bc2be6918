// Audits a recording of a running engine: bets on groups of tokens, and checks that a single record can fail.
// Runs no model and no verifier.
//
//   history   all blocks before this one, and the emitted tokens of this block so far
//   token     given the history, and that the block continues, token r has distribution p_r for every lossless
//             verifier (proof in docs/traces.md). Bets on tokens use p_r, q_r and the position in the block.
//   verdict   with the rule `rejection`, given the history: (accepted, token) has probability min(p, q), (rejected,
//             token) has max(p - q, 0)
//   accepted  given the blocks before, Pr(the first token is an accepted draft and is x) <= min(p(x), K q(x))
//   draft     given the blocks before and the earlier drafts of this block, a draft has distribution q
//
// Correctness: the product of the bets of each family, taken at the ends of blocks, is a supermartingale for the
// history of whole blocks. The weighted mean of the products is then a supermartingale that starts at 1, so by
// Ville's inequality the probability that it ever reaches 1 / alpha is at most alpha.
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

/// The verification rule that the audit tests. The user chooses a rule other than the first.
enum class AuditRule {
  any_lossless,  ///< tokens have the target's distribution
  rejection,     ///< chains are verified by rejection sampling, so (accepted, token) has a known distribution
  greedy,        ///< each token has the largest probability of its row; there are no bets on tokens
};

struct AuditOptions {
  double false_alarm = ErrorBudget::default_total;  ///< probability of a false alarm in a whole build
  double share = 1;                                 ///< the alarm of this audit has false_alarm * share / 2
  std::string draft_sampling{};                     ///< empty: the draft sampling that is recorded
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
  bool of_tokens = true;  ///< true: bets on emitted tokens and verdicts; false: bets on drafts
  double weight = 0, log_e = 0;
  std::uint64_t draws = 0;
  GroupExcess worst{};                    ///< the largest excess
  std::vector<SmallestFound> smallest{};  ///< smallest deviations that the family would have detected
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
  std::uint64_t blocks = 0, records = 0, drafts = 0, row_bytes = 0;  ///< numbers that were audited
  std::string draft_sampling;
  double log_e = 0, largest_log_e = 0;  ///< log e at the end, and the largest log e of all evaluations
  double log_threshold = 0;
  std::optional<std::uint64_t> alarm_record{};  ///< records before the first evaluation at the threshold
  /// The smallest deviation of emitted tokens that a family of bets would have detected, with the family's name;
  /// nullopt if there is none, because there are too few records or each row has one possible token.
  std::optional<std::pair<std::string, SmallestFound>> shows{};
  std::vector<AuditFamily> families;
  std::vector<AuditPlace> places;
  std::vector<AuditProof> proofs;  ///< the first proof of each kind
  std::vector<std::pair<std::string, std::uint64_t>> proof_counts{};
  /// For records of chains that have a proposal row: their number, how many are accepted drafts, and sum_x min(p, q)
  /// summed over the records.
  std::uint64_t chain_records = 0, chain_accepted = 0;
  double chain_overlap = 0;
  double seconds = 0;
};

/// Audits a recording. Throws: InputError for a row that is not a distribution (with array and row), for a recording
/// without records, and for a rule other than `any_lossless` with truncated rows. Cost: one pass over the rows, and
/// 10 us per record.
AuditResult audit_trace(const Trace& trace, const AuditOptions& options);

}  // namespace draftproof
