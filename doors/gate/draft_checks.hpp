// A program's own drafter against the draft law that it declares. Verifiers rely on that law: drafts from another one make
// a right verifier lossy.
//
//   check        counts                                      against
//   draft_law    whole tuples, on small models               the law's tuples, in fractions
//   draft_noise  the first draft, at large vocabularies      q, where the law's first draft has it
//
// Both laws are those of the row as the program reads it, rounded to its type.
//
// A chain drafts one token from each row. A tree drafts the draws at one node, whose law is that of the tree law's siblings.
// Both are e-values (statistics/e_table.hpp) on a fixed number of planned draws. Noise in half precision has few values:
// tokens of little probability then never win, which large vocabularies show. Noise that can be 0 lets impossible tokens win:
// the largest vocabulary is asked again with 64 possible tokens.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <draftproof/doors/wire/served.hpp>
#include <draftproof/properties/proof/finding.hpp>
#include <draftproof/sim/random/explorer.hpp>

namespace draftproof::doors {

struct DraftCheckOptions {
  int log2_small = 16;  ///< planned draws on each small model
  int log2_large = 14;  ///< and of draft_noise at the first vocabulary
  int log2_kept = 11;   ///< and of it on the row of 64 possible tokens
  /// Of draft_noise, or the most that the program takes. After the first a sixteenth of the draws, on rows four times
  /// as long: a quarter of its time.
  std::vector<int> vocabularies{32'000, 128'256};
  double alpha = 1e-9;  ///< probability of a false alarm of all findings together
  std::uint64_t seed = 1;
  ExplorerLimits limits{};  ///< of draft_law on each small model
  std::string door{};       ///< as --door names it, for replay lines
};

/// Requires a program that drafts and is seeded or opaque. Throws: DoorError.
std::vector<GateFinding> check_drafts(Served& program, const DraftCheckOptions& options);

}  // namespace draftproof::doors
