// The search at one node. It finds which values of the node's draw the program treats alike, judged by its later
// behaviour under several witnesses (sequences that complete the run).
//
//   scan      the behaviours seen under one witness, by value of the draw
//   probe     one value of a scan and the chain of the run after this node
//   stretch   consecutive grid values without a change of behaviour under any witness
//
// step() returns the runs that are needed, and take() receives their results, until step() returns no run.
// Cost: linear in the probes for each step.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <draftproof/adapters/explorer/decision_tree.hpp>
#include <draftproof/adapters/explorer/run_store.hpp>
#include <draftproof/adapters/explorer/suggested_points.hpp>

namespace draftproof::adapters {

/// A run that a search needs.
struct Ask {
  std::uint32_t scan = 0;   ///< number of the scan, or of the pair of entries if `pair` is true
  bool pair = false;        ///< whether the run compares two entries of a race, with all other clocks late
  std::uint64_t value = 0;  ///< value of the draw; for a pair, the logarithm of the clocks' ratio in steps
};

/// A witness of a node, and the rest of its run from the node on (see run_store.hpp).
struct Known {
  std::uint32_t witness = 0;
  RunStore::Chain chain = 0;
};

/// The state that all searches on one input share.
struct SearchContext {
  RunStore& store;
  SuggestedPoints& suggested;
  const std::vector<Sequence>& witnesses;
  int even_points;
  std::size_t most_branches;
};

/// Returns the clock of an entry that is to win a race against entries with late clocks.
double early_clock(const Draw& draw);

class PlaceSearch {
 public:
  /// `prefix` holds the tape values before this node. The first witness whose run continues here defines the draw.
  PlaceSearch(const SearchContext& context, std::vector<double> prefix, std::vector<Known> known);

  /// True if every run ends before this node's draw: the node is a leaf, with the outcome of the first witness's run.
  bool is_leaf() const { return leaf_; }
  /// False if some runs with equal tape values before this node make different draws here, or end: then the program is
  /// not a function of its tape.
  bool is_function() const { return function_; }
  /// False if the draw is not a race by clock over weight, or has more than most_branches stretches.
  bool resolved() const { return resolved_ && !given_up_; }
  /// Ends the search without a result.
  void give_up() { given_up_ = true; }
  bool given_up() const { return given_up_; }

  void add(const Known& known);
  /// Appends the runs that are needed next; if it appends none, node() is final until the next add().
  void step(std::vector<Ask>& asks);
  void take(const Ask& ask, RunStore::Chain run);

  std::uint32_t witness(const Ask& ask) const { return scans_[ask.pair ? pairs_[ask.scan].scan : ask.scan].witness; }
  /// Appends the values that the tape of the run `ask` has at this node's draw.
  void append_tape(const Ask& ask, std::vector<double>& tape) const;
  /// Appends the tape values that lead into a branch.
  void append_choice(const TreeBranch& branch, std::vector<double>& tape) const {
    append_tape({.value = branch.chosen}, tape);
  }
  /// Returns the draw and its branches. Targets that were set before the last steps are kept where they are still
  /// valid.
  TreeNode& node() { return node_; }
  const std::vector<double>& prefix() const { return prefix_; }
  /// Returns the chains of the witnesses after this node, for one branch.
  std::vector<Known> known_in(const TreeBranch& branch) const;

 private:
  struct Probe {
    std::uint64_t value;
    RunStore::Chain after;
  };
  struct Scan {
    std::uint32_t witness;
    RunStore::Chain chain;
    std::vector<Probe> probes{};  // sorted by value before each step
    bool started = false, suggested = false;
  };
  struct Pair {
    int fixed, moved;    // two entries of a race: runs vary the clock of `moved` and keep the clock of `fixed`
    double clock;        // clock of `fixed`
    std::uint32_t scan;  // the scan in which the two entries behave differently
    // Logarithms of (moved clock / `clock`), in steps: `moved` wins at `low` and loses at `high`.
    std::uint64_t low, high;
    bool low_wins = false, low_loses = false, high_loses = false;
    bool third = false;  // whether some run behaved neither as if `moved` nor as if `fixed` had won
    bool races() const { return low_wins && high_loses; }
    bool decided() const { return !third && (races() || low_loses); }
  };
  enum class Race { classes, late, reference, others, rest, done };  // the stage of the search of a race

  // place_search.cpp
  bool want(std::size_t scan, std::vector<std::uint64_t>& points, std::vector<Ask>& asks);
  const Probe* probe_at(const Scan& scan, std::uint64_t value) const;

  // grid_search.cpp
  void start(std::size_t scan, std::vector<std::uint64_t>& points);
  void between_changes(const Scan& scan, std::vector<std::uint64_t>& points);
  void near_interval(std::uint64_t a, std::uint64_t b, std::vector<std::uint64_t>& points);
  bool settle(std::size_t scan, std::vector<Ask>& asks);
  void step_grid(std::vector<Ask>& asks);
  bool settle_stretches(std::vector<Ask>& asks);

  // race_search.cpp
  void step_cells(std::vector<Ask>& asks);
  std::vector<int> set_classes(std::span<const std::uint64_t> cells);
  bool only_one_may_win(std::vector<int>& of);
  void share_by(std::span<const double> weights, const std::vector<int>& of);
  void step_race(const std::vector<int>& of, std::vector<Ask>& asks);
  void ask_ends(int fixed, int moved, double clock, std::vector<Ask>& asks);
  void ask_others(const std::vector<int>& of, std::vector<Ask>& asks);
  static double clock_of(const Pair& pair);
  const Pair& heaviest_pair() const;
  bool change_reference(const std::vector<int>& of, std::vector<Ask>& asks);
  void ask_reference(const std::vector<int>& of, std::vector<Ask>& asks);
  bool others_are_weightless();
  bool may_win(int x) const { return weightless_.empty() || !weightless_[static_cast<std::size_t>(x)]; }
  void take_pair(Pair& pair, std::uint64_t value, RunStore::Chain after);
  bool bisect_pairs(std::vector<Ask>& asks);
  void read_weights();

  SearchContext context_;
  std::vector<double> prefix_;
  std::vector<Scan> scans_;
  std::vector<std::uint64_t> changes_;  // first value of each stretch other than the first stretch
  TreeNode node_;
  bool leaf_ = false, function_ = true, resolved_ = true, given_up_ = false;

  Race race_ = Race::classes;
  double reference_clock_ = 1;  // early_clock() if no entry wins with clock 1; 1 after a change to a heavier entry
  int heavier_ = 0;             // how often a heavier entry has become the reference
  int reference_ = 0;           // entry that is paired with all others
  int other_ = -1;  // entry of another class, which is paired with the entries of the reference's own class
  std::vector<Pair> pairs_;
  std::vector<bool> weightless_;  // entries that lose every race; empty until some are found
};

}  // namespace draftproof::adapters
