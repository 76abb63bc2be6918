// The distribution of the greatest path's next token for tokens ordered in buckets, and the residual of a target and
// this distribution: (c p - distribution)+, its sum and draws from it. Computes the same distribution as
// greatest_row.hpp, but by passes that store no list of tokens: rows that are read once need no table, and a team of
// device threads needs no memory.
//
//   distribution(y)        q(y) w(y) / W      w(y) from the q-mass below y, W of all tokens together
//                                             (max_of_k_paths.hpp)
//   P_i, Q_i      passes.mass(i)     masses of bucket i (greatest_row.hpp)
//   certain       a bucket where, by the bounds of p / q and w, all tokens have c W p / q > w(y): its residual is
//                 c P_i minus its distribution, whose differences hi^K - lo^K telescope; or no token has, residual 0
//   crossing      any other bucket: its tokens are weighed one by one, each at its own mass below
//
// Cost: a sum is one pass for the masses of all buckets and two for every few crossing buckets. Usually one to four
// buckets are crossing, because along the order w rises from 0 to K while p / q rises by a sixteenth per bucket; ten to
// twenty are crossing where c p is close to the distribution over a long range. A draw then needs two passes in the
// token's bucket, and one for the masses first if that bucket is certain. Sorting the tokens would take more passes,
// which also write.
//
// Correctness: all sums are of integers, so every thread and every order of addition finds the same buckets and
// tokens. The bounds of a bucket only decide which of two forms its sum takes; where rounding makes the bounds wrong,
// the two forms differ by no more than rounding. A draw in a certain bucket returns the bucket's last token if the
// integers of its tokens add up to less than the integer of its sum; the two differ by less than 2^-60 for each token.
#pragma once

#include <cstdint>

#include <draftproof/sim/random/uniform_source.hpp>
#include <draftproof/verifiers/paths/greatest/greatest_row.hpp>
#include <draftproof/verifiers/paths/greatest/max_of_k_paths.hpp>

namespace draftproof {

/// The token of a path at one node, with the q-mass below it in the order. A trivial type, for arrays on a device.
struct PlacedToken {
  MaxOfKPaths<double> max_of_k;
  double q, below, total;  ///< q of the token, q-mass of the tokens below it, and of all tokens
};

template <class L>
class BucketedRow {
 public:
  /// Requires that `distributions` outlives this object, unless distributions are copied, as on a device
  /// (DistributionsRef).
  DRAFTPROOF_DEVICE BucketedRow(const L& distributions, const PlacedToken& placed)
      : passes_(distributions),
        max_of_k_{placed.max_of_k},
        norm_{placed.total * max_of_k_.divided_difference(max_of_k_.under(placed.total), max_of_k_.below)},
        distribution_{placed.q > 0 ? max_of_k_.skewed(placed.q, placed.below) / norm_ : 0.0} {}

  /// Returns token x with the q-mass below it in the order. Cost: one pass.
  DRAFTPROOF_DEVICE static PlacedToken placed(const L& distributions, const MaxOfKPaths<double>& max_of_k, Token x) {
    const auto [below, total] = OrderPasses<L>(distributions).place(x);
    return {max_of_k, distributions.proposal(x), from_fixed(below), from_fixed(total)};
  }

  /// Probability of the placed token.
  DRAFTPROOF_DEVICE double distribution() const { return distribution_; }

  /// The residual of a run of buckets, which ends before the first crossing bucket that does not fit into the list.
  struct Stretch {
    Fixed certain;  ///< sum over all certain buckets
    BucketList crossing;
    Fixed tokens[BucketList::most];  ///< sum of each crossing bucket
    int end;

    DRAFTPROOF_DEVICE Fixed sum() const {
      Fixed all = certain;
      for (int i = 0; i < crossing.size; ++i) all += tokens[i];
      return all;
    }
  };
  /// The sum of the residual over the vocabulary, and the stretch from the lowest bucket on. Most draws read no other
  /// stretch.
  struct Excess {
    Fixed total;
    Stretch lowest;
  };

  // Functions write results with lists into an argument, because copies would pass through a thread's registers.
  // Functions that make passes are not inlined, because inlined passes would spill the registers of every caller.

  /// Writes the sum of (c p - distribution)+ over the vocabulary to `all`.
  [[gnu::noinline]] DRAFTPROOF_DEVICE void excess(double c, Excess& all) const {
    weigh(0, c, all.lowest);
    all.total = all.lowest.sum();
    Stretch stretch;
    for (int from = all.lowest.end; from < OrderBuckets::count; from = stretch.end) {
      weigh(from, c, stretch);
      all.total += stretch.sum();
    }
  }

  /// Returns a token drawn from the residual; `all` is the excess at c.
  [[gnu::noinline]] DRAFTPROOF_DEVICE Token draw(double c, const Excess& all, std::uint64_t word) const {
    if (all.total <= 0) return no_token;
    auto left = static_cast<Fixed>(scale(word, static_cast<std::uint64_t>(all.total)));
    Stretch further;
    const Stretch* stretch = &all.lowest;
    for (int from = 0;;) {
      const Fixed here = stretch->sum();
      if (left < here) return draw_within(from, *stretch, c, left);
      left -= here;
      from = stretch->end;
      if (from == OrderBuckets::count) return no_token;  // unreachable: `left` is below the sum of all
      weigh(from, c, further);
      stretch = &further;
    }
  }

  /// Calls `visit(x, weight)` for all x with c p > distribution.
  template <class Visit>
  void for_each(double c, Visit visit) const {
    passes_.for_each(left_over(c), visit);
  }

 private:
  struct Bucket {
    Fixed certain = 0;
    bool crosses = false;
  };

  /// (c p - distribution)+ of one token.
  struct LeftOver {
    MaxOfKPaths<double> max_of_k;
    double c, norm;

    DRAFTPROOF_DEVICE double operator()(double p, double q, double below) const {
      const double left = c * p - (q > 0 ? max_of_k.skewed(q, below) / norm : 0.0);
      return left > 0 ? left : 0.0;
    }

    /// Computes `strip` terms at once, by the operations of the call for one token.
    static constexpr int strip = 64;
    void fill(const double* p, const double* q, const double* below, double* terms) const {
      double lo[strip], hi[strip], sum[strip], power[strip];
      for (int i = 0; i < strip; ++i) {
        lo[i] = max_of_k.under(below[i]);
        hi[i] = lo[i] + max_of_k.reached * q[i];
        sum[i] = power[i] = 1;
      }
      for (int degree = 1; degree < max_of_k.paths; ++degree)
        for (int i = 0; i < strip; ++i) {
          power[i] *= lo[i];
          sum[i] = hi[i] * sum[i] + power[i];
        }
      for (int i = 0; i < strip; ++i) {
        const double left = c * p[i] - q[i] * sum[i] / norm;
        terms[i] = left > 0 ? left : 0.0;
      }
    }
  };
  DRAFTPROOF_DEVICE LeftOver left_over(double c) const { return {max_of_k_, c, norm_}; }

  DRAFTPROOF_DEVICE Bucket bucket(int i, const OrderMass& own, Fixed upto, double c) const {
    if (own.target == 0) return {};
    const double p = from_fixed(own.target), q = from_fixed(own.proposal);
    const double lo = max_of_k_.under(from_fixed(upto - own.proposal)), hi = max_of_k_.under(from_fixed(upto));
    if (own.proposal != 0 && !(c * norm_ * OrderBuckets::begin(i) > max_of_k_.divided_difference(hi, hi)))
      return {0, c * norm_ * OrderBuckets::end(i) > max_of_k_.divided_difference(lo, lo)};
    const double left = c * p - q * max_of_k_.divided_difference(hi, lo) / norm_;
    return {left > 0 ? to_fixed(left) : 0, false};
  }

  /// Calls step(start, own, upto) with the bucket of each lane, start + lane(), and the q-mass of the buckets up to
  /// it, until a call returns false. Buckets below `from` count as empty.
  template <class Step>
  DRAFTPROOF_DEVICE void each_bucket(int from, double c, const Step& step) const {
    Fixed below = 0;
    for (int start = 0; start < OrderBuckets::count; start += passes_.lanes()) {
      const int i = start + passes_.lane();
      const OrderMass own = i < OrderBuckets::count ? passes_.mass(i) : OrderMass{};
      const Fixed upto = below + passes_.lane_running_sum(own.proposal);
      if (!step(start, i < from ? Bucket{} : bucket(i, own, upto, c), upto)) return;
      below = passes_.lane_get(upto, passes_.lanes() - 1);
    }
  }

  [[gnu::noinline]] DRAFTPROOF_DEVICE void weigh(int from, double c, Stretch& stretch) const {
    passes_.weigh_buckets();
    stretch.crossing.size = 0;
    stretch.end = OrderBuckets::count;
    Fixed certain = 0;
    each_bucket(from, c, [&](int start, Bucket own, Fixed upto) {
      for (;;) {
        const int lane = passes_.first_lane(own.crosses);
        if (lane == passes_.lanes()) break;
        if (stretch.crossing.size == BucketList::most) {
          stretch.end = start + lane;
          break;
        }
        stretch.crossing.add(start + lane, passes_.lane_get(upto, lane));
        if (passes_.lane() == lane) own.crosses = false;
      }
      if (start + passes_.lane() < stretch.end) certain += own.certain;
      return stretch.end == OrderBuckets::count;
    });
    stretch.certain = passes_.lane_sum(certain);
    passes_.along_all(stretch.crossing, left_over(c), stretch.tokens);
  }

  /// Returns the token at running sum `left` of the stretch that begins at bucket `from`. Requires that `left` is below
  /// the sum of the stretch.
  [[gnu::noinline]] DRAFTPROOF_DEVICE Token draw_within(int from, const Stretch& stretch, double c,
                                                        Fixed left) const {
    for (int i = 0; i < stretch.crossing.size; ++i) {
      if (left < stretch.tokens[i]) return draw_along(stretch.crossing.bucket[i], stretch.crossing.upto[i], c, left);
      left -= stretch.tokens[i];
    }
    passes_.weigh_buckets();
    int found = 0;
    Fixed mass = 0;
    each_bucket(from, c, [&](int start, const Bucket& own, Fixed upto) {
      const Fixed running = passes_.lane_running_sum(own.certain);
      const int lane = passes_.first_lane(running > left);
      const bool here = lane < passes_.lanes();
      left -= here ? passes_.lane_get(running - own.certain, lane) : passes_.lane_get(running, passes_.lanes() - 1);
      if (!here) return true;
      found = start + lane;
      mass = passes_.lane_get(upto, lane);
      return false;
    });
    return draw_along(found, mass, c, left);
  }

  [[gnu::noinline]] DRAFTPROOF_DEVICE Token draw_along(int i, Fixed upto, double c, Fixed left) const {
    const Fixed tokens = passes_.along(i, upto, left_over(c));
    if (tokens <= 0) return no_token;
    return passes_.find(i, upto, left_over(c), left < tokens ? left : tokens - 1);
  }

  OrderPasses<L> passes_;
  MaxOfKPaths<double> max_of_k_;
  double norm_, distribution_;
};

}  // namespace draftproof
