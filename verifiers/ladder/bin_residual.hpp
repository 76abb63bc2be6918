// The residual (c p - q slope)+ of a target and the law that a ladder on bins of a ranking selected. It is read from
// the table's own prefix sums: no sort and no list for a node.
//
//   slope_g   slope[g]      selected law over q on bin g
//   b_g(c)    for_each_run  ranks of bin g with c p / q > slope_g: a prefix of the bin, as p / q never rises
//   c         at most 1     factor of the target in block verification
//   excess    excess(c)     c p(q = 0) + sum over g of c p(first(g)..b_g) - slope_g q(first(g)..b_g)
//
// Cost: O(n) comparisons for n bins, and O(log V) for each bin in which c p / q crosses the slope. The mass at the last
// factor is kept: a correction draws at the factor of the test before it, and many tests of a node are at factor 1.
// Correctness: prefix sums are sums of integers, and terms are added as integers (fixed_point.hpp). The weights are q
// (c p / q - slope), positive on exactly the tokens counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <draftproof/sim/numeric/fixed_point.hpp>
#include <draftproof/sim/random/uniform_source.hpp>
#include <draftproof/verifiers/ladder/path_bins.hpp>

namespace draftproof {

/// The residual mass of a node at one factor, as a fixed-point number.
struct MassAtFactor {
  double c = -1;
  std::int64_t mass = 0;
};

/// The residual of one node. Refers to all its arguments; `last` is the mass known for these laws, bins and slopes.
template <RankedBySums L>
class SelectedBins {
 public:
  SelectedBins(const L& laws, const RankedBins<L>& bins, const std::vector<double>& slope, int reach,
               MassAtFactor& last)
      : laws_{&laws}, bins_{&bins}, slope_{&slope}, reach_{reach}, last_{&last} {}

  /// Number of leading bins that can have a residual for c <= 1; all later bins have none.
  static int prefix_length(const RankedBins<L>& bins, const std::vector<double>& slope) {
    int last = bins.size();
    while (last > 0 && !(bins.stretch(last - 1).highest > slope[static_cast<std::size_t>(last - 1)])) --last;
    return last;
  }

  /// Residual mass at factor c.
  double excess(double c) const { return from_fixed(total(c)); }

  /// The token drawn from the residual by a random word; no_token if it is empty.
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
      int low = first, high = end - 1;  // the answer lies in [low, high]
      while (low < high) {
        const int middle = low + (high - low) / 2;
        if (above(g, ranking().target(first, middle + 1), ranking().proposal(first, middle + 1), c) > left)
          high = middle;
        else
          low = middle + 1;
      }
      drawn = ranking().token(low);
      return false;
    });
    return drawn;
  }

  /// Calls `visit(x, weight)` for each token x with a positive residual.
  template <class Visit>
  void for_each(double c, Visit visit) const {
    for (Token x = 0; x < laws_->vocabulary(); ++x)
      if (!(laws_->proposal(x) > 0) && laws_->target(x) > 0) visit(x, c * laws_->target(x));
    for_each_run(c, [&](int g, int end, Fixed) {
      for (int j = bins_->first(g); j < end; ++j) {
        const Token x = ranking().token(j);
        visit(x, laws_->proposal(x) * (c * ranking().ratio(j) - slope(g)));
      }
      return true;
    });
  }

 private:
  const auto& ranking() const { return bins_->ranking(); }
  double slope(int g) const { return (*slope_)[static_cast<std::size_t>(g)]; }

  Fixed undraftable(double c) const { return to_fixed(c * ranking().undraftable()); }
  /// Residual mass of the first tokens of bin g, which have these masses; a negative difference is rounding and
  /// becomes 0.
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

  /// Calls `visit(g, end, mass)` for each bin with a positive residual, which is that of the ranks up to `end`, until
  /// a call returns false.
  template <class Visit>
  void for_each_run(double c, Visit visit) const {
    for (int g = 0; g < reach_; ++g) {
      const auto& bin = bins_->stretch(g);
      if (!(c * bin.highest > slope(g))) continue;
      if (c * bin.lowest > slope(g)) {
        if (!visit(g, bins_->first(g + 1), above(g, bin.target, bin.proposal, c))) return;
        continue;
      }
      // the last rank known to be above, the first known not to be
      int low = bins_->first(g), high = bins_->first(g + 1) - 1;
      while (high - low > 1) {
        const int middle = low + (high - low) / 2;
        (c * ranking().ratio(middle) > slope(g) ? low : high) = middle;
      }
      const int first = bins_->first(g);
      if (!visit(g, high, above(g, ranking().target(first, high), ranking().proposal(first, high), c))) return;
    }
  }

  const L* laws_;
  const RankedBins<L>* bins_;
  const std::vector<double>* slope_;
  int reach_;
  MassAtFactor* last_;
};

}  // namespace draftproof
