// Compares verifiers of paths on the same contexts, drafts and coins, the random bits of a verification. Every trial
// draws its drafts once, and all candidates verify them with the same coins, several times. The error of a difference
// is then smaller than the errors of the means.
//
//   K, L     TreeShape        without a drafter, the first L tokens of the first K of the paths drawn for all
//                             candidates, which are K i.i.d. paths
//   tau_s    accepted[s]      accepted tokens of candidate s in one trial, summed over its coins
//   -        products[s, t]   sum over trials of tau_s tau_t
//
// Cost: one draw of the longest paths per trial; distributions at a node are computed once for all candidates.
// Correctness: schemes depend only on their tree, and a trial with all its coins is one observation. Counts are
// integers, so the number of threads does not matter.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <draftproof/bench/studies/records.hpp>
#include <draftproof/bench/studies/study.hpp>
#include <draftproof/captures/path_source.hpp>
#include <draftproof/properties/subjects/any_path_verifier.hpp>

namespace draftproof {

/// A verifier on drafts of one shape.
struct PathCandidate {
  const AnyPathVerifier* scheme;
  TreeShape shape;
  const AnyTreeDrafter* drafter = nullptr;  ///< null: the paths drawn for all candidates
};

struct PairedTally {
  std::uint64_t trials = 0, coins = 1;    ///< coins: verifications per trial
  std::vector<std::uint64_t> accepted;    ///< accepted tokens by candidate, summed over all verifications
  std::vector<std::uint64_t> impossible;  ///< by candidate: steps that reached a branch of probability zero
  std::vector<std::uint64_t> products;    ///< sums of tau_s tau_t by pair of candidates
  std::vector<std::uint64_t> longer;      ///< by pair (s, t): verifications in which s accepted more than t

  PairedTally(std::size_t candidates, std::uint64_t coins_of_a_trial);
  PairedTally& operator+=(const PairedTally& other);

  /// Returns the mean number of accepted tokens of a verification; its standard error is computed from the spread
  /// between trials.
  double mean(std::size_t s) const;
  double standard_error(std::size_t s) const;
  /// Returns the mean difference in E[tau] between s and t.
  double difference(std::size_t s, std::size_t t) const { return mean(s) - mean(t); }
  double difference_error(std::size_t s, std::size_t t) const;
  std::uint64_t product(std::size_t s, std::size_t t) const { return products[s * accepted.size() + t]; }
  std::uint64_t times_longer(std::size_t s, std::size_t t) const { return longer[s * accepted.size() + t]; }
};

/// Returns the number of drafts of a shape without repeats, each of which needs one row of the target besides the
/// root's row.
int nodes_of(const TreeShape& shape);
/// Returns the children by depth, or the number and length of paths, as text.
std::string text_of(const TreeShape& shape);
/// Returns the indices of the candidates in descending order of their accepted tokens.
std::vector<std::size_t> most_accepted_first(const PairedTally& tally);
/// Returns the fields of a candidate: shape, nodes, accepted tokens and the difference from candidate `base`.
std::vector<Field> shape_fields(const PathCandidate& candidate, const PairedTally& tally, std::size_t i,
                                std::size_t base);

/// Opens the sources of the options, or the model in data/, relative to the repository's root.
/// Throws: InputError for a source of stored trees.
std::vector<std::unique_ptr<PathSource>> open_models(const StudyOptions& options);

/// Runs trials 0 .. `trials` - 1 of `source`, which must not store trees, each verified with `coins` sets of coins;
/// fewer after a stop. `done` is called between rounds with the number of finished trials.
/// Throws: std::invalid_argument if a scheme cannot be simulated or paths are longer than the source.
PairedTally compare_paths(const PathSource& source, std::span<const PathCandidate> candidates, std::uint64_t trials,
                          std::uint64_t coins, const StudyOptions& options,
                          const std::function<void(std::uint64_t)>& done);

}  // namespace draftproof
