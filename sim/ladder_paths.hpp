// A ladder at every node of one path: which of K i.i.d. paths is chosen, token by token, and the law the chosen token
// has. Kept per prefix, because the number of paths that are still together has a law that the prefix alone decides.
//
//   mu        active()          law of the number of paths at the node, given that the choice came there
//   f         MixedCoverage     probability that one of them goes on in the first s of q
//   q_chosen  chosen(laws, y)   q(y|u) slope[rung of y]: law of the chosen path's next token
//
// Cost: a node is planned once per prefix, O(n log n + n K) for n rungs plus three passes; a choice is O(m) for m
// paths there. Derived in docs/ladder.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include <draftproof/sim/active_paths.hpp>
#include <draftproof/sim/block_rule.hpp>
#include <draftproof/sim/contexts.hpp>
#include <draftproof/sim/ladder_levels.hpp>
#include <draftproof/sim/ladder_plan.hpp>

namespace draftproof {

/// The ladder at one node. Immutable.
template <class L>
class LadderNode {
 public:
  using Scalar = typename L::Scalar;

  LadderNode(const L& laws, std::vector<Scalar> active)
      : active_{std::move(active)},
        rungs_{laws.rungs()},
        plan_{plan_ladder(laws, rungs_, MixedCoverage<Scalar>(active_))},
        levels_{plan_.level} {
    // What is left of p is at least 1 - acceptance; only near 1 can it be nothing, and then q_chosen is p but for
    // rounding, and said to be: a refusal would have nothing to emit. V roundings of 2^-53 stay below 2^-20.
    if (!(plan_.acceptance < Scalar(1 - 0x1p-20)))
      equal_ = !(laws.sum([&](Token x) { return above(laws, x, laws.one()); }) > laws.zero());
  }

  const std::vector<Scalar>& active() const { return active_; }
  int rungs() const { return rungs_.size(); }

  /// Law of the chosen path's next token.
  Scalar chosen(const L& laws, Token y) const {
    if (equal_) return laws.target(y);
    const auto& q = laws.proposal(y);
    return q > laws.zero() ? Scalar(q * plan_.slope[static_cast<std::size_t>(laws.rung(rungs_, y))]) : laws.zero();
  }
  /// (c p - q_chosen)+ at y.
  Scalar above(const L& laws, Token y, const Scalar& c) const {
    const Scalar left = c * laws.target(y) - chosen(laws, y);
    return left > laws.zero() ? left : laws.zero();
  }

  /// Law of the number of paths after y, given that y was chosen here.
  std::vector<Scalar> active_after(const L& laws, Token y) const {
    const int rung = laws.rung(rungs_, y);
    const Scalar q = laws.proposal(y);
    ActivePaths<Scalar> paths(active_);
    levels_.for_each_group(rung, [&](int a, int b, const Scalar& share) {
      // Masses of fresh rows are truncated sums, and a token may miss its rung's by its last bits.
      const Scalar others = rungs_.proposal_below(b) - rungs_.proposal_below(a) - q;
      paths.add_group(others > laws.zero() ? others : laws.zero(), Scalar(laws.one() - rungs_.proposal_below(b)),
                      share);
    });
    return paths.after(q);
  }

  /// The child of u that the chosen path goes on to. `group` is scratch.
  template <class R>
  int choose(const DraftTree& tree, int u, const L& laws, std::vector<int>& group, R& random) const {
    int best = *tree.draws(u).begin();
    bool choice = false;
    for (const int child : tree.draws(u)) {
      choice |= child != best;
      if (rung_of(tree, child, laws) < rung_of(tree, best, laws)) best = child;
    }
    if (!choice) return best;  // whatever u is, and whoever is taken
    const auto level = levels_.draw(random);
    group.clear();
    const int top = rung_of(tree, best, laws);
    for (const int child : tree.draws(u))
      if (levels_.together(top, rung_of(tree, child, laws), level)) group.push_back(child);
    if (group.size() == 1) return best;
    return group[static_cast<std::size_t>(random.pick(EqualWeights{static_cast<int>(group.size())}))];
  }

 private:
  int rung_of(const DraftTree& tree, int child, const L& laws) const { return laws.rung(rungs_, tree.token(child)); }

  std::vector<Scalar> active_;
  decltype(std::declval<const L&>().rungs()) rungs_;
  LadderPlan<Scalar> plan_;
  LadderLevels<Scalar> levels_;
  bool equal_ = false;
};

/// The nodes planned so far. One thread's own; what is forgotten is planned again, to the same bits.
template <class L>
class LadderPaths {
 public:
  using Scalar = typename L::Scalar;
  struct Entry {
    LadderNode<L> node;
    std::uint32_t number;  ///< among all planned since the last clearing
  };

  /// Between passages: nodes are not held across this call.
  void begin(const Contexts<L>& contexts) {
    if constexpr (requires { contexts.forgotten(); }) {
      if (contexts.forgotten() != forgotten_) clear();
      forgotten_ = contexts.forgotten();
    }
    if (rungs_ > most_rungs) clear();
  }
  void clear() {
    entries_.clear();
    rungs_ = 0;
  }

  /// For the choice at one node.
  std::vector<int>& scratch() { return scratch_; }

  /// Where this many paths start together.
  const Entry& root(const Contexts<L>& contexts, int context, int paths) {
    return at({Start::paths, static_cast<std::uint32_t>(paths), context},
              [&] { return LadderNode<L>(contexts.laws(context), all_active<Scalar>(paths)); });
  }
  /// After token y, which leads to `context`, was chosen at `before`, whose laws these are.
  const Entry& after(const Contexts<L>& contexts, const Entry& before, const L& laws, Token y, int context) {
    return at({Start::node, before.number, y},
              [&] { return LadderNode<L>(contexts.laws(context), before.node.active_after(laws, y)); });
  }

 private:
  /// Nodes of a passage or two of long rows, thousands of short ones: some 100 MB.
  static constexpr std::size_t most_rungs = std::size_t{1} << 20;

  enum class Start : std::uint8_t { paths, node };
  struct Key {
    Start start;
    std::uint32_t from;
    std::int32_t to;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      const auto word = (std::uint64_t{key.from} << 32) ^ static_cast<std::uint32_t>(key.to);
      return static_cast<std::size_t>((word + static_cast<std::uint64_t>(key.start)) * 0x9E3779B97F4A7C15 >> 16);
    }
  };

  template <class Make>
  const Entry& at(const Key& key, Make make) {
    auto& entry = entries_[key];
    if (!entry) {
      entry.reset(new Entry{make(), static_cast<std::uint32_t>(entries_.size())});
      rungs_ += static_cast<std::size_t>(entry->node.rungs());
    }
    return *entry;
  }

  std::unordered_map<Key, std::unique_ptr<const Entry>, Hash> entries_;
  std::vector<int> scratch_;
  std::size_t rungs_ = 0;
  int forgotten_ = 0;
};

/// The chosen path as block verification reads it (block_rule.hpp), with the law it truly has as proposal.
template <class L>
class ChosenSteps {
 public:
  using Scalar = typename L::Scalar;

  explicit ChosenSteps(const TreeAt<L>& at) : at_{at} {}

  void append(const LadderNode<L>& ladder, int child) {
    ladders_[length_] = &ladder;
    nodes_[++length_] = child;
  }

  int length() const { return length_; }
  int node(int i) const { return nodes_[i]; }
  const L& laws(int i) const { return at_.laws(nodes_[i]); }
  Token token(int i) const { return at_.tree().token(nodes_[i + 1]); }
  Scalar zero() const { return laws(0).zero(); }
  Scalar one() const { return laws(0).one(); }

  Scalar target(int i) const { return laws(i).target(token(i)); }
  Scalar proposal(int i) const { return ladders_[i]->chosen(laws(i), token(i)); }
  Scalar excess(int i, const Scalar& c) const { return laws(i).sum(left(i, c)); }
  auto correction(int i, const Scalar& c) const { return laws(i).weights(left(i, c)); }
  auto bonus() const { return laws(length_).residual(zero()); }

 private:
  auto left(int i, const Scalar& c) const {
    return [&laws = laws(i), ladder = ladders_[i], c](Token y) { return ladder->above(laws, y, c); };
  }

  const TreeAt<L>& at_;
  int length_ = 0;
  int nodes_[max_path_length + 1] = {DraftTree::root};
  const LadderNode<L>* ladders_[max_path_length];
};

}  // namespace draftproof
