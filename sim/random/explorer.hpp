// Enumerates every branch of a probabilistic program and gives each outcome its exact probability, for proofs. Each
// run of the program gives one leaf. A run first replays the draws that it shares with the run before it, so the
// program must be a function of its inputs and its random source only. A program that depends on anything else is
// detected by three checks: a replayed draw must be of the same kind as before; every run must reach the last replayed
// draw; and the first run that takes the last branch of a draw must give that draw the same probabilities as before.
//
// Throws: NotReproducible, a std::logic_error, from flip, pick and explore(); EnumerationCut from flip and pick.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <draftproof/sim/random/tape.hpp>
#include <draftproof/sim/random_source.hpp>

namespace draftproof {

/// One leaf of the tree of branches: a verdict and its probability.
template <class Weight>
struct Leaf {
  Verdict verdict;  ///< if token is every_token, `spread` has the tokens
  const Weight& probability;
  const std::vector<std::pair<Token, Weight>>&
      spread;  ///< (token, weight), not normalised; no_token: all other tokens
  const Weight& spread_total;

  /// Calls `visit(token, probability)` for every token that this leaf may emit.
  template <class Visit>
  void each_token(Visit visit) const {
    if (verdict.token >= 0) return visit(verdict.token, probability);
    const Weight unit = probability / spread_total;
    for (const auto& [token, weight] : spread) visit(token, Weight(unit * weight));
  }
};

/// One draw on the way to a leaf: a flip with its probability of true, or a pick with the probability of its outcome.
template <class Weight>
struct Branch {
  Purpose purpose;
  Weight probability;
  Token taken;  ///< 0 or 1 for a flip
};

/// Thrown if a replay makes other draws than the run before: the program has a bug, and its output distribution is not
/// defined.
class NotReproducible : public std::logic_error {
 public:
  explicit NotReproducible(const std::string& what)
      : std::logic_error("not a function of its inputs and random numbers: " + what +
                         " in a replay of the same numbers") {}
};

struct ExplorerLimits {
  std::uint64_t leaves = 1'000'000;  ///< most runs of the program
  int vocabulary = 0;                ///< verdicts are required to have tokens below it; 0: they are not checked
};

/// `Weight` is the number type of branch probabilities: rational for proofs, double for large trees. The program's
/// scalar may differ, so the exact distribution of a program in float can be computed too.
template <class Weight>
class Explorer {
 public:
  static constexpr bool spreads_emitted = true;  ///< emit returns every_token

  explicit Explorer(ExplorerLimits limits = {}) : limits_{limits} {}

  /// Branches on the outcomes of positive probability, true first.
  /// Throws: std::logic_error if den <= 0, unless with_rounding() was called.
  template <class Scalar>
  bool flip(const Scalar& num, const Scalar& den) {
    if (!(den > Scalar{0})) {
      if (!realised_) throw std::logic_error("explorer: flip with a denominator that is not positive");
      return certain(num > den);  // den underflowed: u den < num has one outcome for every u
    }
    if (!(num > Scalar{0})) return certain(false);
    if (!(num < den)) return certain(true);
    if (depth_ == stack_.size()) {
      Weight yes = Weight(num) / Weight(den);
      Weight no = Weight(Weight(1) - yes);
      push({{1, std::move(yes)}, {0, std::move(no)}}, Purpose::flip);
    } else if (last_begins(Purpose::flip)) {
      if (Weight(Weight(num) / Weight(den)) != stack_[depth_].branches.front().second)
        throw NotReproducible("a flip has another probability");
    }
    const Token taken = take();
    if (branches_) branches_->push_back({Purpose::flip, stack_[depth_ - 1].branches.front().second, taken});
    return taken != 0;
  }

  /// Branches on the tokens of positive weight.
  /// Throws: std::logic_error if all weights are zero; after with_rounding() returns no_token instead.
  template <class W>
  Token pick(const W& weights) {
    if constexpr (ManyBranches<W>)
      if (picks_ < fixed_picks_.size()) return weights.draw(fixed_picks_[picks_++]);
    if (depth_ == stack_.size()) {
      Branches branches;
      list(weights, branches);
      push_pick(std::move(branches));
    } else if (last_begins(Purpose::pick)) {
      Branches branches;
      list(weights, branches);
      compare_pick(std::move(branches));
    }
    return take_pick();
  }

  /// Spreads the leaf over the tokens of positive weight and returns every_token, unless emit_at_once() was called.
  /// Throws: std::logic_error if all weights are zero; after with_rounding() returns no_token instead.
  template <class W>
  Verdict emit(const W& weights) {
    if (emits_at_once_) return {pick(weights), none_accepted};
    spread_.clear();
    if constexpr (WeighsTokens<W>)
      if (tracked_ && spread_attended(weights)) return spread();
    list(weights, spread_);
    if (spread_.empty()) {
      if (!realised_) throw std::logic_error("explorer: emit from weights that are all zero");
      return {no_token, none_accepted};
    }
    return spread();
  }

  /// Calls `program(*this)` once per leaf and `sink(leaf)` after each call. Returns true if every leaf was visited,
  /// false if the leaf limit was reached; sums of the leaves' probabilities are then lower bounds.
  /// Throws: std::logic_error if the limits have a vocabulary and the program's token is not in it, or is not the one
  /// that emit returned.
  template <class Program, class Sink>
  [[nodiscard]] bool explore(Program&& program, Sink&& sink) {
    stack_.clear();
    for (leaves_ = 0; leaves_ < limits_.leaves;) {
      depth_ = 0;
      picks_ = 0;
      emitted_ = false;
      if (branches_) branches_->clear();
      const Verdict verdict = program(*this);
      ++leaves_;
      if (depth_ != stack_.size()) throw NotReproducible("there are fewer draws");
      check_token(verdict.token);
      Weight total{0};
      if (verdict.token == every_token)
        for (const auto& [token, weight] : spread_) total += weight;
      else
        spread_.clear();
      sink(Leaf<Weight>{verdict, depth_ == 0 ? certain_ : stack_[depth_ - 1].reached, spread_, total});
      while (!stack_.empty() && stack_.back().taken + 1 == stack_.back().branches.size()) stack_.pop_back();
      if (stack_.empty()) return true;
      advance(stack_.back().taken + 1);
    }
    return false;
  }

  /// Number of leaves visited by the last explore().
  std::uint64_t leaves() const { return leaves_; }

  /// From now on enumerates the program as it runs in floating point: draws have the distribution that their rounded
  /// sums realise (tape.hpp), a flip whose denominator underflowed compares num > den, and draws from weights that
  /// are all zero give no_token.
  void with_rounding() requires std::floating_point<Weight> { realised_ = true; }
  /// From now on emit lists only `tokens`, which must be distinct, and gives the weight of all other tokens to
  /// no_token, for weights that model WeighsTokens. This saves a pass over the vocabulary. The span must outlive the
  /// explorations.
  void track_only(std::span<const Token> tokens) {
    tracked_ = true;
    tokens_ = tokens;
  }
  /// From now on the first picks of a run from weights with ManyBranches are drawn by the random bits `words` instead
  /// of branching; results are conditional on these bits. The span must outlive the explorations.
  void fix_picks(std::span<const std::uint64_t> words) { fixed_picks_ = words; }

  /// If true, emit branches as pick does from now on, for programs that continue after an emit, and to find those that
  /// change the token that it returns. Returns the setting before.
  bool emit_at_once(bool at_once) { return std::exchange(emits_at_once_, at_once); }

  /// From now on `branches` receives the draws of the current run, for a trace; null turns this off.
  void watch(std::vector<Branch<Weight>>* branches) { branches_ = branches; }

 private:
  using Branches = std::vector<std::pair<Token, Weight>>;  ///< outcomes and their probabilities, all positive

  /// Appends the tokens of positive weight to a list. The code that uses the list does not depend on the type W of the
  /// weights and is compiled once.
  template <class W>
  void list(const W& weights, Branches& branches) const {
    const auto append = [&](Token x, const auto& weight) { branches.emplace_back(x, Weight(weight)); };
    if constexpr (std::floating_point<Weight>) {
      if (realised_) return visit_realised(weights, append);
    }
    weights.for_each(append);
  }

  struct Choice {
    Branches branches;
    std::size_t taken;
    Weight reached;  ///< probability of the path up to and including the branch taken
    Purpose purpose;
  };

  Verdict spread() {
    emitted_ = true;
    return {every_token, none_accepted};
  }

  void check_token(Token token) const {
    if (limits_.vocabulary == 0) return;
    if (emitted_ && token != every_token)
      throw std::logic_error(
          "the program changes the token of its last draw (emit), which must be returned as it is");
    if (emitted_ || (token >= 0 && token < limits_.vocabulary)) return;
    if (realised_ && token == no_token) return;
    throw std::logic_error("the program emits " + std::to_string(token) + ", which is not in the vocabulary of " +
                           std::to_string(limits_.vocabulary));
  }

  /// Spreads the leaf over the tracked tokens. Returns false if the total of the weights is not positive, after
  /// rounding.
  template <class W>
  bool spread_attended(const W& weights) {
    const Weight total(weights.total());
    if (!(total > Weight{0})) return false;
    Weight rest = total;
    for (const Token x : tokens_) {
      Weight weight(weights.weight(x));
      if (!(weight > Weight{0})) continue;
      rest -= weight;
      spread_.emplace_back(x, std::move(weight));
    }
    if (rest > Weight{0}) spread_.emplace_back(no_token, std::move(rest));
    return !spread_.empty();
  }

  void push_pick(Branches branches) {
    normalise(branches);
    push(std::move(branches), Purpose::pick);
  }
  void normalise(Branches& branches) const {
    if (branches.empty() && !realised_) throw std::logic_error("explorer: pick from weights that are all zero");
    if (branches.empty()) branches.emplace_back(no_token, Weight{1});
    Weight total{0};
    for (const auto& [token, weight] : branches) total += weight;
    for (auto& branch : branches) branch.second /= total;
  }
  void compare_pick(Branches branches) const {
    normalise(branches);
    if (branches != stack_[depth_].branches) throw NotReproducible("a draw has other weights");
  }
  /// Whether this run is the first that takes the last branch of the current draw. Requires a replayed draw.
  bool last_begins(Purpose purpose) const {
    const Choice& choice = stack_[depth_];
    if (choice.purpose != purpose) throw NotReproducible("a draw is of another kind");
    return depth_ + 1 == stack_.size() && choice.taken + 1 == choice.branches.size() && choice.taken > 0;
  }
  Token take_pick() {
    const Token taken = take();
    if (branches_) {
      const Choice& choice = stack_[depth_ - 1];
      branches_->push_back({Purpose::pick, choice.branches[choice.taken].second, taken});
    }
    return taken;
  }
  bool certain(bool taken) {
    if (branches_) branches_->push_back({Purpose::flip, Weight(taken ? 1 : 0), taken ? 1 : 0});
    return taken;
  }
  /// Throws: EnumerationCut if the run may draw without end, as rejection sampling from p can. A scheme draws at most a
  /// coin for each draft at each level and a token at each level: at most 1,024 numbers for 31 drafts on 32 levels.
  void push(Branches branches, Purpose purpose) {
    constexpr std::size_t most = 1024;
    if (stack_.size() == most) throw EnumerationCut("a run of the program draws more than 1,024 numbers");
    stack_.push_back({std::move(branches), 0, Weight(0), purpose});
    advance(0);
  }
  /// Takes branch `taken` of the last choice.
  void advance(std::size_t taken) {
    Choice& choice = stack_.back();
    const Weight& before = stack_.size() == 1 ? certain_ : stack_[stack_.size() - 2].reached;
    choice.taken = taken;
    choice.reached = before * choice.branches[taken].second;
  }
  Token take() {
    const Choice& choice = stack_[depth_++];
    return choice.branches[choice.taken].first;
  }

  ExplorerLimits limits_;
  std::vector<Choice> stack_;
  std::size_t depth_ = 0;
  std::uint64_t leaves_ = 0;
  Weight certain_{1};
  Branches spread_;
  std::vector<Branch<Weight>>* branches_ = nullptr;
  bool realised_ = false;
  bool emits_at_once_ = false;
  bool emitted_ = false;  ///< whether this run ends with a draw that is not performed, but spread over its tokens
  bool tracked_ = false;
  std::span<const Token> tokens_;
  std::span<const std::uint64_t> fixed_picks_;
  std::size_t picks_ = 0;
};

/// Calls `visit(tuple, probability)` for every tuple that `draw(explorer, out)` may draw; `draw` returns the number
/// of drafts. Returns false if the leaf limit was reached.
template <class Weight, class Draw, class Visit>
[[nodiscard]] bool each_drafted_tuple(Explorer<Weight>& explorer, Draw draw, Visit visit) {
  Token tuple[max_drafts];
  int count = 0;
  return explorer.explore(
      [&](Explorer<Weight>& random) {
        count = draw(random, tuple);
        return Verdict{};
      },
      [&](const Leaf<Weight>& leaf) {
        visit(std::span<const Token>(tuple, static_cast<std::size_t>(count)), leaf.probability);
      });
}

}  // namespace draftproof
