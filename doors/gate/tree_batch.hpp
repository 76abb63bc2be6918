// Drafted trees as rows of a batch for a program of level chain or tree. Every draw is an entry, in draw order; a repeated
// draw is an entry of its own, and the first of them has the children.
//
//   n         entries of the longest tree of the batch
//   p         row 0 of the root's context, row i + 1 of the context after entry i
//   q         row i of the context that entry i was drawn in
//   padding   rows beyond a tree's entries are zeros, tokens and parents there are -1
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include <draftproof/doors/wire/batch_packer.hpp>
#include <draftproof/sim/distributions/ratio_table.hpp>
#include <draftproof/sim/trees/conditional_model.hpp>

namespace draftproof::doors {

class TreeBatch {
 public:
  /// `declaration` gives level, dtype, rows and randomness: float32 and probabilities where the program takes them, seeds
  /// where it takes them. It must outlive the batch.
  explicit TreeBatch(const Declaration& declaration)
      : declaration_{declaration}, form_{form_of_trials(declaration)} {}

  /// Appends a tree with its row's seed. Contexts are those of `conditionals`, one model for all trees. `state` is that
  /// which the call before left; empty: a first call.
  void add(const DraftTree& tree, const ConditionalModel<RatioTable>& conditionals, std::int64_t seed,
           std::span<const double> state = {});
  /// Empties the batch. Rows of the latest contexts are kept.
  void clear();

  int rows() const { return static_cast<int>(seeds_.size()); }
  /// Entries of the longest tree.
  int longest() const { return static_cast<int>(longest_); }
  /// Bytes of p and q of the batch, if a tree of `entries` entries is added.
  std::size_t bytes_with(int entries, int vocabulary) const;
  /// The request. Its arrays lie here, until the next call of add() or clear().
  const ServedBatch& packed();

 private:
  struct Entry {
    Token token;
    int parent, from, to;  ///< parent's entry; contexts of q and of the row of p after it
  };
  /// p and q of one context, in the form of the batch.
  struct ContextRows {
    std::vector<std::byte> p, q;
  };

  void keep(int context, const ConditionalModel<RatioTable>& conditionals);

  const Declaration& declaration_;
  RowForm form_;
  std::unordered_map<int, ContextRows> kept_;
  std::vector<Entry> entries_;       ///< of all trees, one after the other
  std::vector<std::size_t> starts_;  ///< first entry of each tree
  std::vector<int> roots_;           ///< context of each root
  std::vector<std::int64_t> seeds_;
  std::vector<int> entry_of_;
  std::size_t longest_ = 0;
  int vocabulary_ = 0;
  PackedBatch packed_;
};

}  // namespace draftproof::doors
