// The sampled tier of programs of chains and trees. Trees are drawn as the program declares, from a small model with
// large rows, and the emitted tokens are compared with the target along each path (PathEvidence).
//
//   model   the rows of a source as contexts; after context c a token leads to a context by its hash
//   trial   one tree and one decision on it; for a program with state, as many calls as give L + 2 tokens
//   trees   `drafts` is n, by default 4. Chains: n drafts. Trees: K = 2 paths or children and L = n - 1, at least 3;
//           fewer where that has more than max(8, 2 L) entries, or more than the program takes. One trial in four has
//           another shape, because a bug may need more drafts or more siblings: with the default n a chain of 8
//           drafts, and for n > 2 a tree of n children with L = 1
//
// Cost: the rows of all trials pass through the adapter, at most 1/2 MiB per planned trial. Large vocabularies
// therefore have fewer trials: V = 262,144 has 1/10 to 1/30 of the usual number.
//
// The drafts of a row are drawn with the random bits of Philox(0, the row's seed, draft). A built-in scheme of shared
// noise reads the same random bits.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <draftproof/adapters/wire/batch_packer.hpp>
#include <draftproof/adapters/wire/served.hpp>
#include <draftproof/properties/proof/finding.hpp>
#include <draftproof/sim/distributions/ratio_table.hpp>
#include <draftproof/sim/trees/conditional_model.hpp>
#include <draftproof/sim/trees/draft_tree.hpp>

namespace draftproof::adapters {

// The evidence that emitted tokens do not follow the target along each path, from trials of programs of chains or
// trees.
//
//   c         context   of a small model; a token leads from one context to the next
//   d depth number of tokens of the trial before this token
//   X(c, x)             tokens x emitted in context c
//   tokens              a bet on X(c, .) for each c, weight 1/2 in all
//   groups              a bet for each (c, d) on 32 groups along p / q, and one along p, weight 1/4 each in all
//
//   e         the weighted average of the bets (properties/statistics/count_models.hpp)
//
// Correctness: a lossless verifier that emits a token beyond a prefix draws it from the target after that prefix,
// whatever was emitted before: the mass of the strings that begin with the prefix u and the token x is p(x|u) times the
// mass of the strings that continue beyond u. Every bet multiplies stakes of mean 1 given all tokens before, so e
// reaches 1 / alpha with probability at most alpha at any number of trials (Ville). A token with p = 0 is a proof of a
// bug: e is infinite.

class PathEvidence {
 public:
  /// Collects tokens in contexts 0 .. `contexts` - 1 of `conditionals`, at depths 0 .. `depths` - 1.
  PathEvidence(const ConditionalModel<RatioTable>& conditionals, int contexts, int depths);

  void add(int depth, int context, Token token) {
    ++tokens_[at(context)][static_cast<std::size_t>(token)];
    for (std::size_t key = 0; key < keys; ++key)
      ++groups_[(at(context) * depths_ + at(depth)) * keys + key][context_[at(context)].group[key][at(token)]];
  }

  /// Returns the natural logarithm of e. Cost: 11 logarithms of the gamma function for each cell with a count.
  double log_e() const;
  /// Describes the bet with the most evidence, and the cell of this bet that departs most.
  std::string worst() const;

 private:
  static constexpr std::size_t keys = 2;
  struct Context {
    std::vector<double> target;
    std::vector<std::uint32_t> group[keys];  ///< group of each token; tokens are grouped by p / q and by p
    std::vector<double> mass[keys];          ///< mass of each group
  };

  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  struct Bet {
    const std::vector<double>* distribution;
    const std::vector<std::uint64_t>* counts;
    double weight;
    std::string name;
  };
  std::vector<Bet> bets() const;

  std::size_t depths_;
  std::vector<Context> context_;
  std::vector<std::vector<std::uint64_t>> tokens_, groups_;
};

// Drafted trees as rows of a batch for a program of level chain or tree. Every draw is an entry, in draw order; a
// repeated draw is a separate entry, and the first of equal entries has the children.
//
//   n         entries of the longest tree of the batch
//   p         row 0 of the root's context, row i + 1 of the context after entry i
//   q         row i of the context that entry i was drawn in
//   padding   rows beyond a tree's entries are filled by fill_unused(), tokens and parents there are -1

class TreeBatch {
 public:
  /// `declaration` gives level, dtype, rows and randomness; the batch uses float32, probabilities and seeds if the
  /// program takes these. `declaration` must outlive the batch.
  explicit TreeBatch(const Declaration& declaration)
      : declaration_{declaration}, form_{form_of_trials(declaration)} {}

  /// Appends a tree with its row's seed. Contexts index `conditionals`, one model for all trees. `state` is the state
  /// that the previous call returned; empty for a first call.
  void add(const DraftTree& tree, const ConditionalModel<RatioTable>& conditionals, std::int64_t seed,
           std::span<const double> state = {});
  /// Empties the batch, but keeps the rows of the latest contexts.
  void clear();

  int rows() const { return static_cast<int>(seeds_.size()); }
  /// Entries of the longest tree.
  int longest() const { return static_cast<int>(longest_); }
  /// Returns the bytes of p and q of the batch after a tree of `entries` entries is added.
  std::size_t bytes_with(int entries, int vocabulary) const;
  /// Returns the request. Its arrays belong to this object and are valid until the next call of add() or clear().
  const ServedBatch& packed();

 private:
  struct Entry {
    Token token;
    int parent, from, to;  ///< entry of the parent; context in which the entry was drawn, and context after the entry
  };
  /// p and q of one context, in the form of the batch.
  struct ContextRows {
    std::vector<std::byte> p, q;
  };

  void keep(int context, const ConditionalModel<RatioTable>& conditionals);

  const Declaration& declaration_;
  RowForm form_;
  std::unordered_map<int, ContextRows> kept_;
  std::vector<Entry> entries_;       ///< entries of all trees, one tree after the other
  std::vector<std::size_t> starts_;  ///< first entry of each tree
  std::vector<int> roots_;           ///< context of each root
  std::vector<std::int64_t> seeds_;
  std::vector<int> entry_of_;
  std::size_t longest_ = 0;
  int vocabulary_ = 0;
  PackedBatch packed_;
};

struct PathCheckOptions {
  /// Base-2 logarithm of the planned trials at the usual sizes. While the evidence is suspicious, more trials run, up
  /// to 16 times the planned number.
  double log2_trials = 16;
  int drafts = 4;       ///< drafts of a chain; children of the wide trees; if 1, trees have one path
  double alpha = 1e-9;  ///< probability of a false alarm
  std::uint64_t seed = 1;
  std::string source{};   ///< source of the rows that trials use; required
  std::string adapter{};  ///< text of --adapter, for replay lines
  const std::atomic<bool>* stop = nullptr;
  std::function<void(std::uint64_t trials)> progress{};
};

/// Returns the shape of most trees of trials, or nothing if the program takes no such tree.
/// Throws: AdapterError if the declared draft sampling does not draw trees.
std::optional<TreeShape> shape_of_trials(const Declaration& declaration, int drafts);

/// Returns the shape of the other trees of trials, or nothing if the program takes no such tree. Requires: the program
/// takes trees of shape_of_trials().
std::optional<TreeShape> other_shape_of_trials(const Declaration& declaration, int drafts);

/// Requires a program of chains or trees that is seeded or opaque, and that takes shape_of_trials().
/// Throws: AdapterError; InputError for a source that cannot be read.
Finding check_paths(Served& program, const PathCheckOptions& options);

}  // namespace draftproof::adapters
