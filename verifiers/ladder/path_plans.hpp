// Keeps the ladders of the nodes of chosen paths, by distributions and prefix, which together determine the number of
// active paths. The same context at another depth is another node; contexts that share distributions share nodes.
//
// Cost: one node (path_node.hpp) for a new prefix, one look-up for a known prefix. Derived in docs/ladder.md.
// Correctness: distributions are identified by their addresses, which do not change until the model discards the
// distributions; all plans are then cleared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include <draftproof/sim/trees/conditional_model.hpp>
#include <draftproof/verifiers/ladder/path_node.hpp>

namespace draftproof {

/// The nodes planned so far, for one thread. A node that was cleared is planned again, with the same bits.
template <class L>
class LadderPaths {
 public:
  using Scalar = typename L::Scalar;
  struct Entry {
    LadderNode<L> node;
    std::uint32_t number = 0;  ///< index among the nodes planned since the last clear()
  };

  /// The calls of ladder_block and its chosen path (chosen_path.hpp); recomputed_plans.hpp has the same for a team.
  using Place = const Entry*;
  /// Must be called between steps. It may clear all nodes.
  void begin(const DraftedTree<L>& at) {
    if (at.conditionals().forgotten() != forgotten_) clear();
    forgotten_ = at.conditionals().forgotten();
    if (bins_ > most_bins) clear();
  }
  /// Returns the ladder at node u, where all paths that leave u start together.
  Place start(const DraftedTree<L>& at, int u) {
    return &root(at.conditionals(), at.tree().context(u), at.tree().draw_count(u));
  }
  /// Returns the ladder at node u, which the choice at `before` reached through a token of this bin.
  Place below(const DraftedTree<L>& at, int u, Place before, int bin) {
    const auto& tree = at.tree();
    return &after(at.conditionals(), *before, at.distributions(tree.parent(u)), tree.token(u), bin, tree.context(u));
  }
  /// Returns the ladder at node u, whose children were drawn without replacement.
  Place distinct(const DraftedTree<L>& at, int u) {
    const L& here = at.conditionals().distributions(at.tree().context(u));
    const int children = at.tree().draw_count(u);
    return &this->at({&here, Start::distinct, static_cast<std::uint32_t>(children), no_token}, [&] {
      LadderNode<L> node;
      node.plan_distinct(here, children, [&](bool coarse) { return bins_of(here, coarse); });
      return node;
    });
  }
  static bool plain(Place place) { return place->node.plain(); }
  static const LadderNode<L>& last(Place place) { return place->node; }
  template <class R>
  auto choose(const DraftedTree<L>& at, int u, Place place, R& random) {
    return place->node.choose(at.tree(), u, at.distributions(u), scratch_, random);
  }
  template <class R>
  static auto choose_distinct(const DraftedTree<L>& at, int u, Place place, R& random) {
    return place->node.choose_distinct(at.tree(), u, at.distributions(u), random);
  }
  template <class Steps>
  static const LadderNode<L>& node(const DraftedTree<L>&, const Steps& steps, int i) {
    return steps.place(i)->node;
  }

  void clear() {
    entries_.clear();
    start_distributions_ = nullptr;
    for (auto& bins : shared_) bins.clear();
    bins_ = 0;
  }

  /// The node where this many paths start together.
  const Entry& root(const ConditionalModel<L>& conditionals, int context, int paths) {
    const L& here = conditionals.distributions(context);
    if (!(start_distributions_ == &here && start_paths_ == paths))
      start_ = &at({&here, Start::paths, static_cast<std::uint32_t>(paths), no_token},
                   [&] { return node(here, all_active<Scalar>(paths)); });
    start_distributions_ = &here;
    start_paths_ = paths;
    return *start_;
  }
  /// The node after token y of this bin, which leads to `context`. y was chosen at `before`, whose distributions are
  /// given.
  const Entry& after(const ConditionalModel<L>& conditionals, const Entry& before, const L& distributions, Token y,
                     int bin, int context) {
    if (before.node.plain()) return before;  // the active paths only become fewer, so nodes below are plain too
    if (before.node.plain_after(distributions, y, bin)) return plain_;
    const L& here = conditionals.distributions(context);
    return at({&here, Start::node, before.number, y},
              [&] { return node(here, before.node.active_after(distributions, y, bin)); });
  }
  const Entry& after(const ConditionalModel<L>& conditionals, const Entry& before, const L& distributions, Token y,
                     int context) {
    return after(conditionals, before, distributions, y, before.node.bin(distributions, y), context);
  }

 private:
  /// Limit of the bins of all nodes, about 130 MB, which suffices for the nodes of one or two steps on long rows, or
  /// for thousands of nodes on short rows.
  static constexpr std::size_t most_bins = std::size_t{1} << 20;

  enum class Start : std::uint8_t { paths, node, distinct };
  struct Key {
    const L* distributions;
    Start start;
    std::uint32_t from;
    Token token;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      const auto word = (std::uint64_t{key.from} << 32) ^ static_cast<std::uint32_t>(key.token);
      const auto distributions = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(key.distributions));
      const auto mixed = (word + static_cast<std::uint64_t>(key.start)) * 0x9E3779B97F4A7C15;
      return static_cast<std::size_t>((mixed ^ (mixed >> 32) ^ distributions) * 0x9E3779B97F4A7C15 >> 16);
    }
  };

  using Bins = typename LadderNode<L>::Bins;

  /// Fine and coarse bins are kept per distributions, for any prefix that leads there.
  std::shared_ptr<const Bins> bins_of(const L& distributions, bool coarse) {
    auto& bins = shared_[coarse][&distributions];
    if (!bins) {
      bins = std::make_shared<const Bins>(ladder_bins(distributions, coarse));
      bins_ += static_cast<std::size_t>(bins->size());
    }
    return bins;
  }
  LadderNode<L> node(const L& distributions, std::vector<Scalar> active) {
    return LadderNode<L>(distributions, std::move(active),
                         [&](bool coarse) { return bins_of(distributions, coarse); });
  }

  template <class Make>
  const Entry& at(const Key& key, Make make) {
    auto& entry = entries_[key];
    if (!entry) {
      entry.reset(new Entry{make(), static_cast<std::uint32_t>(entries_.size())});
      bins_ += static_cast<std::size_t>(entry->node.bins());
    }
    return *entry;
  }

  std::unordered_map<Key, std::unique_ptr<const Entry>, Hash> entries_;
  std::unordered_map<const L*, std::shared_ptr<const Bins>> shared_[2];  ///< [1]: coarse
  const Entry plain_{};
  const Entry* start_ = nullptr;  ///< the last start, with its distributions and number of paths
  const L* start_distributions_ = nullptr;
  int start_paths_ = 0;
  std::vector<int> scratch_;  ///< for the choice at one node
  std::size_t bins_ = 0;
  int forgotten_ = 0;
};

}  // namespace draftproof
