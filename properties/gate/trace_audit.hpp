// The audit of a recording of a running engine: bets on groups of tokens, and checks that one record can fail.
// Nothing is run again.
//
//   history   all blocks before this one, and the emitted tokens of this block so far
//   token     given the history, and that the block goes on, token r has law p_r: for every lossless verifier
//             (docs/traces.md has the proof). Bets on tokens see p_r, q_r and the place in the block.
//   verdict   with the rule `rejection`, given the history: (accepted or rejected, token) has min(p, q) and
//             max(p - q, 0)
//   accepted  first token of a block: Pr(accepted, x) <= min(p(x), K q(x)), given the blocks before
//   draft     given the blocks before and the earlier drafts of this block, a draft has law q
//
// Correctness: at the ends of blocks the products of all bets are supermartingales for the history of whole blocks,
// so their mean is one, and reaches 1 / alpha with probability at most alpha, whenever one looks.
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

/// What is known of the engine. Each rule but the first is promised by the user, and judged.
enum class AuditRule {
  any_lossless,  ///< tokens have the target's distribution
  rejection,  ///< also: chains are verified by rejection sampling, so that (accepted, token) has a known distribution
  greedy,     ///< each token is a most likely one of its row: no bet is on tokens
};

struct AuditOptions {
  double false_alarm = ErrorBudget::default_total;  ///< of a whole build
  double share = 1;                                 ///< of half of it, as in gates (docs/gate.md)
  std::string draft_law{};                          ///< empty: that of the recording
  AuditRule rule = AuditRule::any_lossless;
  int threads = 0;  ///< 0: all processors
  const std::atomic<bool>* stop = nullptr;
  std::function<void(std::uint64_t)> progress{};  ///< gets the number of blocks judged
};

/// A record or a block that no correct engine writes, whatever was drawn.
struct AuditProof {
  std::string check;  ///< docs/traces.md lists them
  std::uint64_t block = 0, record = 0;
  int place = 0;  ///< of the record or draft in its block, from 0
  std::string evidence;
};

/// One family of bets.
struct AuditFamily {
  std::string name;
  bool of_tokens = true;  ///< on emitted tokens and verdicts; false: on drafts
  double weight = 0, log_e = 0;
  std::uint64_t draws = 0;
  GroupExcess worst{};                    ///< the largest excess
  std::vector<SmallestFound> smallest{};  ///< what it would have found
};

/// One place in the blocks.
struct AuditPlace {
  std::string place;
  std::uint64_t records = 0;
  GroupExcess worst{};
};

struct AuditResult {
  Status status = Status::held;
  bool stopped = false;                                              ///< by the stop flag, before the last block
  std::uint64_t blocks = 0, records = 0, drafts = 0, row_bytes = 0;  ///< judged
  std::string draft_law;
  double log_e = 0, largest_log_e = 0;  ///< at the end, and the largest at a look
  double log_threshold = 0;
  std::optional<std::uint64_t> alarm_record{};  ///< records judged at the first look that reached the threshold
  /// The bets and the smallest deviation of emitted tokens that they would have found. Nothing if they would have
  /// found none, because there are too few records or each row has one possible token.
  std::optional<std::pair<std::string, SmallestFound>> shows{};
  std::vector<AuditFamily> families;
  std::vector<AuditPlace> places;
  std::vector<AuditProof> proofs;  ///< the first of each kind
  std::vector<std::pair<std::string, std::uint64_t>> proof_counts{};
  /// Records with a proposal row: how many are accepted drafts, and the sum over them of sum min(p, q). Chains only.
  std::uint64_t chain_records = 0, chain_accepted = 0;
  double chain_overlap = 0;
  double seconds = 0;
};

/// Judges a recording. Throws: InputError, with array and row, for a row that is no law; for a recording without a
/// record; for another rule than `any_lossless` with truncated rows.
/// Cost: one pass over the rows, and 10 us a record.
AuditResult audit_trace(const Trace& trace, const AuditOptions& options);

}  // namespace draftproof
