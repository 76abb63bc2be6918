// Residuals (c p - q_chosen)+ on paths, computed from prefix sums because the same rows are used with many factors c.
// q_chosen is the distribution of the chosen path's next token (path_node.hpp): any distribution in ChosenTable, and
// the distribution of a ladder on bins of a table's ranking in SelectedBins.
//
// ChosenTable: the residual (c p - chosen)+, with tokens sorted once by p / chosen.
//
//   k_j       keys_[j]           p / chosen in descending order, after the `certain_` tokens with chosen = 0 < p
//   S         prefix_length(c)   the first tokens: the certain tokens and all tokens with c k_j > 1
//   excess    excess(c)          c p(S) - chosen(S)
//
// Cost: one sort; O(log V) per excess or draw.
// Correctness: masses are added as integers if scalars are floating-point (fixed_point.hpp). Weights are chosen
// (c k_j - 1), positive exactly on S, so a positive excess always leaves a token to emit.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <draftproof/sim/numeric/exp.hpp>
#include <draftproof/sim/numeric/fixed_point.hpp>
#include <draftproof/sim/numeric/radix_sort.hpp>
#include <draftproof/sim/numeric/ratio_buckets.hpp>
#include <draftproof/sim/random/uniform_source.hpp>
#include <draftproof/sim/sampling/guide_table.hpp>
#include <draftproof/verifiers/ladder/bins.hpp>

namespace draftproof {

template <class Scalar>
class ChosenTable {
 public:
  /// `chosen(x)` is the distribution of the chosen token.
  template <class L, class F>
  ChosenTable(const L& distributions, F chosen) {
    std::vector<Keyed> keyed;
    for (Token x = 0; x < distributions.vocabulary(); ++x) {
      const Scalar p = distributions.target(x), distribution = chosen(x);
      if (distribution > distributions.zero())
        keyed.push_back({Scalar(p / distribution), x});
      else if (p > distributions.zero())
        order_.push_back(x);
    }
    certain_ = order_.size();
    if constexpr (rounds)
      sort_by_key(keyed);
    else
      std::stable_sort(keyed.begin(), keyed.end(), [](const auto& a, const auto& b) { return a.key > b.key; });
    for (const auto& [key, x] : keyed) {
      order_.push_back(x);
      keys_.push_back(key);
    }
    below_.push_back({});
    for (const Token x : order_)
      below_.push_back(
          {below_.back().target + mass(distributions.target(x)), below_.back().chosen + mass(chosen(x))});
  }

  /// Residual mass at factor c.
  Scalar excess(const Scalar& c) const { return up_to(prefix_length(c), c); }

  /// The token drawn from the residual by 64 random bits; no_token if it is empty.
  Token draw(const Scalar& c, std::uint64_t word) const {
    const std::size_t count = prefix_length(c);
    const auto total = static_cast<double>(up_to(count, c));
    if (!(total > 0)) return no_token;
    const double threshold = unit_interval(word) * total;
    const auto before = [&](std::size_t j) { return !(static_cast<double>(up_to(j + 1, c)) > threshold); };
    return order_[bisected(0, count - 1, before)];
  }

  /// Calls `visit(x, weight)` for each x of S. `distributions` and `chosen` must be the arguments of the constructor.
  template <class L, class F, class Visit>
  void for_each(const L& distributions, F chosen, const Scalar& c, Visit visit) const {
    for (std::size_t j = 0, count = prefix_length(c); j < count; ++j) {
      const Token x = order_[j];
      visit(x, j < certain_ ? Scalar(c * distributions.target(x))
                            : Scalar(chosen(x) * (c * keys_[j - certain_] - distributions.one())));
    }
  }

  /// The table together with its distributions and `chosen`, so that for_each needs neither.
  template <class L, class F>
  auto of(const L& distributions, F chosen) const {
    return With<L, F>{*this, distributions, chosen};
  }

 private:
  template <class L, class F>
  struct With {
    const ChosenTable& table;
    const L& distributions;
    F chosen;

    Scalar excess(const Scalar& c) const { return table.excess(c); }
    Token draw(const Scalar& c, std::uint64_t word) const { return table.draw(c, word); }
    template <class Visit>
    void for_each(const Scalar& c, Visit visit) const {
      table.for_each(distributions, chosen, c, visit);
    }
  };
  static constexpr bool rounds = std::is_floating_point_v<Scalar>;
  struct KeyedScalar {
    Scalar key;
    Token token;
  };
  using Keyed = std::conditional_t<rounds, KeyedToken, KeyedScalar>;
  using Sum = std::conditional_t<rounds, Fixed, Scalar>;
  struct Mass {
    Sum target{0}, chosen{0};
  };

  static Sum mass(const Scalar& value) {
    if constexpr (rounds)
      return to_fixed(value);
    else
      return value;
  }
  static Scalar value(const Sum& sum) {
    if constexpr (rounds)
      return static_cast<Scalar>(from_fixed(sum));
    else
      return sum;
  }

  std::size_t prefix_length(const Scalar& c) const {
    const auto end =
        std::partition_point(keys_.begin(), keys_.end(), [&c](const Scalar& k) { return c * k > Scalar{1}; });
    return certain_ + static_cast<std::size_t>(end - keys_.begin());
  }
  Scalar up_to(std::size_t j, const Scalar& c) const {
    const Scalar left = c * value(below_[j].target) - value(below_[j].chosen);
    return left > Scalar{0} ? left : Scalar{0};
  }

  std::vector<Token> order_;
  std::vector<Scalar> keys_;
  std::vector<Mass> below_;  ///< prefix sums over the order
  std::size_t certain_ = 0;
};

// SelectedBins: the residual (c p - q slope)+ of a target and the distribution that a ladder on bins of a ranking
// selected. It is read from the prefix sums of the table, without a sort or a list for each node.
//
//   slope_g   slope[g]      selected distribution over q on bin g
//   b_g(c)    for_each_run  ranks of bin g with c p / q > slope_g: a prefix of the bin, as p / q never rises
//   c         at most 1     factor of the target in block verification
//   excess    excess(c)     c p(q = 0) + sum over g of c p(first(g)..b_g) - slope_g q(first(g)..b_g)
//
// Cost: O(n) comparisons for n bins, and O(log V) for each bin in which c p / q crosses the slope. The mass at the
// last factor is kept: a correction draws at the factor of the test before it, and many tests of a node are at factor
// 1.
// Correctness: prefix sums are sums of integers, and terms are added as integers (fixed_point.hpp). The weights are q
// (c p / q - slope), positive on exactly the tokens counted.

/// The residual mass of a node at one factor, as a fixed-point number.
struct MassAtFactor {
  double c = -1;
  std::int64_t mass = 0;
};

/// The residual of one node. All arguments must outlive it; `last` is the mass known for these distributions, bins
/// and slopes.
template <RankedBySums L>
class SelectedBins {
 public:
  SelectedBins(const L& distributions, const RankedBins<L>& bins, const std::vector<double>& slope, int reach,
               MassAtFactor& last)
      : distributions_{&distributions}, bins_{&bins}, slope_{&slope}, reach_{reach}, last_{&last} {}

  /// Number of leading bins that can have a residual for c <= 1; all later bins have none.
  static int prefix_length(const RankedBins<L>& bins, const std::vector<double>& slope) {
    int last = bins.size();
    while (last > 0 && !(bins.stretch(last - 1).highest > slope[static_cast<std::size_t>(last - 1)])) --last;
    return last;
  }

  /// Residual mass at factor c.
  double excess(double c) const { return from_fixed(total(c)); }

  /// The token drawn from the residual by 64 random bits; no_token if it is empty.
  Token draw(double c, std::uint64_t word) const {
    const Fixed all = total(c);
    if (all <= 0) return no_token;
    auto left = static_cast<Fixed>(scale(word, static_cast<std::uint64_t>(all)));
    const Fixed certain = undraftable(c);
    if (left < certain) return ranking().draw_undraftable(from_fixed(left) / c);
    left -= certain;
    Token drawn = no_token;
    for_each_run(c, [&](int g, int end, Fixed mass) {
      if (left >= mass) {
        left -= mass;
        return true;
      }
      const int first = bins_->first(g);
      drawn = ranking().token(first_place(first, end - 1, [&](int j) {
        return !(above(g, ranking().target(first, j + 1), ranking().proposal(first, j + 1), c) > left);
      }));
      return false;
    });
    return drawn;
  }

  /// Calls `visit(x, weight)` for each token x with a positive residual.
  template <class Visit>
  void for_each(double c, Visit visit) const {
    for (Token x = 0; x < distributions_->vocabulary(); ++x)
      if (!(distributions_->proposal(x) > 0) && distributions_->target(x) > 0)
        visit(x, c * distributions_->target(x));
    for_each_run(c, [&](int g, int end, Fixed) {
      for (int j = bins_->first(g); j < end; ++j) {
        const Token x = ranking().token(j);
        visit(x, distributions_->proposal(x) * (c * ranking().ratio(j) - slope(g)));
      }
      return true;
    });
  }

 private:
  const auto& ranking() const { return bins_->ranking(); }
  double slope(int g) const { return (*slope_)[static_cast<std::size_t>(g)]; }

  Fixed undraftable(double c) const { return to_fixed(c * ranking().undraftable()); }
  /// Residual mass of the first tokens of bin g, whose p- and q-mass are `target` and `proposal`; a negative
  /// difference is due to rounding and becomes 0.
  Fixed above(int g, double target, double proposal, double c) const {
    const double left = c * target - slope(g) * proposal;
    return left > 0 ? to_fixed(left) : 0;
  }
  Fixed total(double c) const {
    if (last_->c == c) return last_->mass;
    Fixed sum = undraftable(c);
    for_each_run(c, [&sum](int, int, Fixed mass) {
      sum += mass;
      return true;
    });
    *last_ = {c, sum};
    return sum;
  }

  /// Calls `visit(g, end, mass)` for each bin g with a positive residual, where `mass` is the residual of its ranks
  /// before `end`. Stops when a call returns false.
  template <class Visit>
  void for_each_run(double c, Visit visit) const {
    for (int g = 0; g < reach_; ++g) {
      const auto& bin = bins_->stretch(g);
      if (!(c * bin.highest > slope(g))) continue;
      if (c * bin.lowest > slope(g)) {
        if (!visit(g, bins_->first(g + 1), above(g, bin.target, bin.proposal, c))) return;
        continue;
      }
      // c p / q exceeds the slope at the first rank of the bin, and not at the last.
      const int first = bins_->first(g), end = first_place(first + 1, bins_->first(g + 1) - 1,
                                                           [&](int j) { return c * ranking().ratio(j) > slope(g); });
      if (!visit(g, end, above(g, ranking().target(first, end), ranking().proposal(first, end), c))) return;
    }
  }

  const L* distributions_;
  const RankedBins<L>* bins_;
  const std::vector<double>* slope_;
  int reach_;
  MassAtFactor* last_;
};

}  // namespace draftproof
