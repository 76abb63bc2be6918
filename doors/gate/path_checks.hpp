// The sampled tier of programs of chains and trees: trees of the declared law, drawn on a small model of large rows, whose
// emitted tokens are held to the target along each path (path_evidence.hpp).
//
//   model   the rows of a source as contexts; after context c a token leads to a context by its hash
//   trial   one tree and one decision on it; of a program with state, calls until there are L + 2 tokens
//   trees   chains: L drafts. Trees: K = 2 paths or children and L = 3, fewer where the program takes fewer entries
//
// Cost: the rows of all trials through the door, half a mebibyte a planned trial at most: large vocabularies have fewer
// trials, and V = 262,144 a tenth to a thirtieth of the usual ones.
//
// The drafts of a row are those of Philox(0, the row's seed, draft): a scheme of shared noise behind `own:` reads the same.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <draftproof/doors/wire/served.hpp>
#include <draftproof/properties/proof/finding.hpp>
#include <draftproof/sim/trees/draft_tree.hpp>

namespace draftproof::doors {

struct PathCheckOptions {
  double log2_trials =
      16;  ///< planned trials at the usual sizes; up to sixteen times as many while the evidence is suspicious
  int drafts = 4;       ///< of a chain; trees of one path where it is 1
  double alpha = 1e-9;  ///< probability of a false alarm
  std::uint64_t seed = 1;
  std::string
      source{};        ///< of rows; empty: the standard source, four positions of V = 1024 or the most that is taken
  std::string door{};  ///< as --door names it, for replay lines
  const std::atomic<bool>* stop = nullptr;
  std::function<void(std::uint64_t trials)> progress{};
};

/// The trees of trials; nothing if the program takes none of them.
/// Throws: DoorError for a law that is no tree law.
std::optional<TreeShape> shape_of_trials(const Declaration& declaration, int drafts);

/// Requires a program of chains or trees that is seeded or opaque, and that takes shape_of_trials().
/// Throws: DoorError; InputError for a source that cannot be read.
GateFinding check_paths(Served& program, const PathCheckOptions& options);

}  // namespace draftproof::doors
