// The ladders of one path's nodes, kept per prefix: the number of paths that are still together has a law that the
// prefix alone decides. The same context at another depth is another node.
//
// Cost: one node (ladder_node.hpp) a new prefix, one look-up a known one. Derived in docs/ladder.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include <draftproof/sim/contexts.hpp>
#include <draftproof/sim/ladder_node.hpp>

namespace draftproof {

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
    if (contexts.forgotten() != forgotten_) clear();
    forgotten_ = contexts.forgotten();
    if (rungs_ > most_rungs) clear();
  }
  void clear() {
    entries_.clear();
    shared_.clear();
    rungs_ = 0;
  }

  /// For the choice at one node.
  std::vector<int>& scratch() { return scratch_; }

  /// Where this many paths start together.
  const Entry& root(const Contexts<L>& contexts, int context, int paths) {
    return at({Start::paths, static_cast<std::uint32_t>(paths), context},
              [&] { return node(contexts, context, all_active<Scalar>(paths)); });
  }
  /// After token y, which leads to `context`, was chosen at `before`, whose laws these are.
  const Entry& after(const Contexts<L>& contexts, const Entry& before, const L& laws, Token y, int context) {
    return at({Start::node, before.number, y},
              [&] { return node(contexts, context, before.node.active_after(laws, y)); });
  }

 private:
  /// Nodes of a passage or two of long rows, thousands of short ones: some 130 MB.
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

  using Rungs = typename LadderNode<L>::Rungs;

  /// Rungs belong to the context, whatever prefix leads there.
  LadderNode<L> node(const Contexts<L>& contexts, int context, std::vector<Scalar> active) {
    const L& laws = contexts.laws(context);
    return LadderNode<L>(laws, std::move(active), [&] {
      auto& rungs = shared_[context];
      if (!rungs) {
        rungs = std::make_shared<const Rungs>(ladder_rungs(laws));
        rungs_ += static_cast<std::size_t>(rungs->size());
      }
      return rungs;
    });
  }

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
  std::unordered_map<int, std::shared_ptr<const Rungs>> shared_;  ///< by context
  std::vector<int> scratch_;
  std::size_t rungs_ = 0;
  int forgotten_ = 0;
};

}  // namespace draftproof
