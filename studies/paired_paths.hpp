// Compares verifiers of paths on the same contexts and the same drafts. Every trial draws its paths once, and all
// schemes verify them with the same coins, several times. The error of a difference is then smaller than that of the
// means.
//
//   K, L       PathCell        the first K of the drawn paths, cut to their first L tokens: still K i.i.d. paths
//   tau_s      accepted[s]     accepted tokens of scheme s in one trial, summed over its coins
//   D          squares[s, t]   sum over trials of (tau_s - tau_t)^2
//
// Cost: one draw of the longest paths per trial; laws at a node are computed once for all schemes and cells.
// Correctness: schemes depend only on a tree of i.i.d. paths, and a trial with all its coins is one observation.
// Counts are integers, so the number of threads does not matter.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <draftproof/captures/path_source.hpp>
#include <draftproof/properties/subjects/any_path_verifier.hpp>
#include <draftproof/studies/study.hpp>

namespace draftproof {

/// A number of paths and their length, with the schemes to run on them.
struct PathCell {
  int drafts = 1, length = 1;
  std::vector<const AnyPathVerifier*> schemes;
};

/// The counts of one cell.
struct PairedTally {
  std::uint64_t trials = 0;
  std::uint64_t coins = 1;                 ///< verifications per trial
  std::vector<std::uint64_t> accepted;     ///< by scheme, summed over trials
  std::vector<std::uint64_t> impossible;   ///< by scheme: steps that reached a branch of probability zero
  std::vector<std::uint64_t> squares;      ///< by pair of schemes: (tau_s - tau_t)^2
  std::vector<std::uint64_t> longer;       ///< by pair: verifications in which s accepted more than t
  std::vector<std::uint64_t> own_squares;  ///< by scheme: tau_s^2

  PairedTally(std::size_t schemes, std::uint64_t coins_of_a_trial);
  PairedTally& operator+=(const PairedTally& other);

  /// E[tau] of one verification, and its standard error from the spread between trials.
  double mean(std::size_t scheme) const;
  double standard_error(std::size_t scheme) const;
  /// The same for the difference between s and t.
  double difference(std::size_t s, std::size_t t) const;
  double difference_error(std::size_t s, std::size_t t) const;
  std::uint64_t times_longer(std::size_t s, std::size_t t) const { return longer[s * accepted.size() + t]; }
};

struct PairedResult {
  std::vector<PairedTally> cells;  ///< one for each cell
  bool complete = true;
};

/// Runs trials 0 .. `trials` - 1 of `source`, which must not store trees, each verified with `coins` sets of coins.
/// `done` is called between rounds with the number of finished trials.
/// Throws: std::invalid_argument if a scheme cannot be simulated or paths are longer than the source.
PairedResult compare_paths(const PathSource& source, std::span<const PathCell> cells, std::uint64_t trials,
                           std::uint64_t coins, const StudyOptions& options,
                           const std::function<void(std::uint64_t)>& done);

}  // namespace draftproof
