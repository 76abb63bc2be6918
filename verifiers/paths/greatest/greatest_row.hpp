// The distribution of the greatest path's next token at a node, and the residual of a target and this distribution:
// (c p - distribution)+, its sum and draws from it. This file is for distributions that rank their tokens;
// bucketed_row.hpp is for all others.
//
//   lo(y), hi(y)      B + q(u) (mass of z < y), the same with y's own mass (max_of_k_paths.hpp, order_buckets.hpp)
//   w(y)              divided_difference: sum of hi^i lo^j over i + j = K - 1, (hi^K - lo^K) / (hi - lo)
//   distribution(y)   q(y) w(y) / W; W is w of all tokens together, as the differences hi^K - lo^K telescope
//   run [a, b)        ranks that all have c p > distribution; their sum telescopes too
//
// Runs: r = p / q and w never rise along the ranks. So in a range of ranks c W r > w holds everywhere if the least r
// exceeds the greatest w, and nowhere if the greatest r does not exceed the least w; otherwise the range is halved.
// Cost: O(K) for the distribution of a token; O(K log V) for each place where c W r crosses w, one to three in
// practice, V at worst.
// Source: Thomas and Pal, arXiv:2602.16961; row and runs derived here, and proved by enumeration.
// Correctness: a test token by token gives the same runs, in floating point too, because products, sums and
// quotients of positive numbers round monotonically. No decision whether a token counts depends on a sum.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include <draftproof/sim/random/uniform_source.hpp>
#include <draftproof/sim/random_source.hpp>
#include <draftproof/sim/simd/block_sums.hpp>
#include <draftproof/sim/simd/ratio_histogram.hpp>
#include <draftproof/verifiers/paths/greatest/max_of_k_paths.hpp>
#include <draftproof/verifiers/paths/greatest/order_buckets.hpp>

namespace draftproof {

// Passes over a pair of rows for the order of tokens in buckets (order_buckets.hpp), on the host, where there is one
// lane. The form for a team of a device's threads (gpu/teams/team_order.cuh) has the same functions.
//
//   place(x)                    q-mass of the tokens below x, and of all
//   weigh_buckets()             a pass, after which mass(i) has p- and q-mass of bucket i; tokens with q = 0 count to
//                               the top one
//   along(i, upto, term)        sum of term(p, q, m) over the tokens of bucket i, m the q-mass below the token;
//                               `upto` is the q-mass of the buckets up to i
//   along_all(list, term, sums) the sum that along() returns, for each bucket of `list`
//   find(i, upto, term, left)   the token of that sum, in the order of ids, at which the running sum exceeds `left`;
//                               after along(i, upto, term)
//   lanes(), ..                 as in gpu/teams/warp_lanes.cuh, for one lane
//
// Cost: one pass per call; along_all makes one pass per bucket. `term` has fill(p, q, below, terms) for a strip of
// tokens, which is compiled for wide registers and gives the same terms as single calls.
// Correctness: masses and terms are added as integers, so results are the same at every width and number of threads.

using OrderMass = simd::RatioMass;
struct OrderPlace {
  Fixed below, total;
};
/// A list of buckets, with the q-mass of the buckets up to each.
struct BucketList {
  static constexpr int most = 8;
  int size;
  int bucket[most];
  Fixed upto[most];

  DRAFTPROOF_DEVICE void add(int i, Fixed mass) {
    bucket[size] = i;
    upto[size++] = mass;
  }
};

/// The passes for distributions that expose an engine's rows. Requires that the rows outlive this object.
template <class L>
class OrderPasses {
 public:
  explicit OrderPasses(const L& distributions)
      : distributions_{distributions},
        target_{distributions.target_row().data()},
        proposal_{distributions.proposal_row().data()} {}

  static constexpr int lanes() { return 1; }
  static constexpr int lane() { return 0; }
  template <class T>
  static T lane_sum(T value) {
    return value;
  }
  template <class T>
  static T lane_running_sum(T value) {
    return value;
  }
  template <class T>
  static T lane_get(T value, int) {
    return value;
  }
  static int first_lane(bool here) { return here ? 0 : 1; }

  OrderPlace place(Token x) const {
    distributions_.count_visited(size());
    const int bucket = static_cast<int>(OrderBuckets::of(ratio(x)));
    // Below x are: tokens before x in lower buckets, and tokens after x in lower buckets or in the bucket of x.
    const std::size_t after = static_cast<std::size_t>(x) + 1;
    const auto before = simd::mass_below(target_, proposal_, 0, after, OrderBuckets::begin(bucket));
    const auto behind = simd::mass_below(target_, proposal_, after, size(), OrderBuckets::end(bucket));
    return {before.below + behind.below, before.total + behind.total};
  }

  void weigh_buckets() const {
    distributions_.count_visited(size());
    masses_.emplace(std::span(target_, size()), std::span(proposal_, size()));
  }
  OrderMass mass(int i) const {
    const auto bucket = static_cast<std::size_t>(i);
    OrderMass mass = masses_->of(bucket);
    if (i == OrderBuckets::count - 1) mass.target += masses_->of(OrderBuckets::outside).target;
    return mass;
  }

  template <class Term>
  Fixed along(int i, Fixed upto, const Term& term) const {
    distributions_.count_visited(size());
    Fixed sum = 0;
    for_each_strip(i, upto, [&](Strip& strip) {
      sum += strip.fill(term);
      return true;
    });
    return sum;
  }
  template <class Term>
  void along_all(const BucketList& list, const Term& term, Fixed* sums) const {
    for (int i = 0; i < list.size; ++i) sums[i] = along(list.bucket[i], list.upto[i], term);
  }
  template <class Term>
  Token find(int i, Fixed upto, const Term& term, Fixed left) const {
    Token found = no_token;
    for_each_strip(i, upto, [&](Strip& strip) {
      const Fixed all = strip.fill(term);
      if (left >= all) {
        left -= all;
        return true;
      }
      int j = 0;
      while ((left -= to_fixed(strip.terms[j])) >= 0) ++j;
      found = strip.tokens[j];
      return false;
    });
    return found;
  }

  /// Calls `visit(x, weight)` for all tokens of positive weight.
  template <class Term, class Visit>
  void for_each(const Term& term, Visit visit) const {
    weigh_buckets();
    std::array<Fixed, OrderBuckets::count> upto;
    Fixed mass_upto = 0;
    for (int i = 0; i < OrderBuckets::count; ++i) upto[static_cast<std::size_t>(i)] = mass_upto += mass(i).proposal;
    for (Token x = 0; x < static_cast<Token>(size()); ++x) {
      const std::size_t bucket = proposal_[x] > 0 ? OrderBuckets::of(ratio(x)) : OrderBuckets::count - 1;
      upto[bucket] -= to_fixed(proposal_[x]);
      if (const double weight = term_of(term, x, upto[bucket]); weight > 0) visit(x, weight);
    }
  }

 private:
  using Entry = typename decltype(std::declval<const L&>().target_row())::value_type;

  std::size_t size() const { return distributions_.target_row().size(); }
  float ratio(Token x) const { return OrderBuckets::ratio(target_[x], proposal_[x]); }
  template <class Term>
  double term_of(const Term& term, Token x, Fixed below) const {
    return term(static_cast<double>(target_[x]), static_cast<double>(proposal_[x]), from_fixed(below));
  }

  /// Tokens of a bucket that are weighed together; entries behind the last one have weight 0.
  struct Strip {
    static constexpr int length = simd::strip;
    Token tokens[length];
    double p[length], q[length], below[length], terms[length];
    int size = 0;

    template <class Term>
    Fixed fill(const Term& term) {
      for (int j = size; j < length; ++j) p[j] = q[j] = below[j] = 0;
      return simd::strip_of_terms(term, p, q, below, terms);
    }
  };

  /// Calls visit(strip) for the tokens of bucket i in the order of ids, until it returns false.
  template <class Visit>
  void for_each_strip(int i, Fixed below, const Visit& visit) const {
    Token tokens[simd::block + 16];
    Strip strip;
    for (std::size_t start = 0; start < size(); start += simd::block) {
      const std::size_t end = std::min(start + simd::block, size());
      const std::size_t found = simd::tokens_within(target_, proposal_, start, end, i, tokens);
      for (std::size_t j = 0; j < found; ++j) {
        const Token x = tokens[j];
        below -= to_fixed(static_cast<double>(proposal_[x]));
        strip.tokens[strip.size] = x;
        strip.p[strip.size] = static_cast<double>(target_[x]);
        strip.q[strip.size] = static_cast<double>(proposal_[x]);
        strip.below[strip.size] = from_fixed(below);
        if (++strip.size == Strip::length) {
          if (!visit(strip)) return;
          strip.size = 0;
        }
      }
    }
    if (strip.size > 0) visit(strip);
  }

  const L& distributions_;
  const Entry *target_, *proposal_;
  mutable std::optional<simd::MassesByRatio<OrderBuckets>> masses_;
};

/// The row of distributions that rank their tokens (Ranked).
template <class L>
class GreatestRow {
 public:
  using Scalar = typename L::Scalar;

  /// Requires that `distributions` outlives this object.
  GreatestRow(const L& distributions, TokenOrder<L> order, MaxOfKPaths<Scalar> max_of_k)
      : distributions_{&distributions}, order_{std::move(order)}, max_of_k_{std::move(max_of_k)} {
    norm_ = order_.total() * max_of_k_.divided_difference(max_of_k_.under(order_.total()), max_of_k_.below);
  }

  /// Probability that the greatest path goes on with x.
  Scalar distribution(Token x) const {
    const auto& q = distributions_->proposal(x);
    return q > distributions_->zero() ? Scalar(max_of_k_.skewed(q, order_.below(x)) / norm_) : distributions_->zero();
  }

  /// Returns the MaxOfKPaths at the child with token x.
  MaxOfKPaths<Scalar> after(Token x) const { return max_of_k_.after(distributions_->proposal(x), order_.below(x)); }

  /// Sum of (c p - distribution)+ over the vocabulary.
  Scalar excess(const Scalar& c) const {
    Scalar sum = c * ranking().undraftable();
    for_each_run(c, [&](int a, int b) {
      sum += run_mass(a, b, c);
      return true;
    });
    return sum;
  }

  /// The token drawn from (c p - distribution)+ by 64 random bits; no_token if nothing is left.
  Token draw(const Scalar& c, std::uint64_t word) const {
    double left = unit_interval(word) * static_cast<double>(excess(c));
    const auto undraftable = static_cast<double>(c * ranking().undraftable());
    if (left < undraftable) return ranking().draw_undraftable(Scalar(left / static_cast<double>(c)));
    left -= undraftable;
    Token drawn = no_token;
    for_each_run(c, [&](int a, int b) {
      const auto mass = static_cast<double>(run_mass(a, b, c));
      int low = a, high = b - 1;  // the answer lies in [low, high], unless it lies in a later run
      while (low < high) {
        const int middle = low + (high - low) / 2;
        if (static_cast<double>(run_mass(a, middle + 1, c)) > left)
          high = middle;
        else
          low = middle + 1;
      }
      drawn = ranking().token(low);
      if (left < mass) return false;
      left -= mass;
      return true;
    });
    return drawn;
  }

  /// Calls `visit(x, weight)` for all x with c p > distribution.
  template <class Visit>
  void for_each(const Scalar& c, Visit visit) const {
    for (Token x = 0; x < distributions_->vocabulary(); ++x)
      if (!(distributions_->proposal(x) > distributions_->zero()) &&
          distributions_->target(x) > distributions_->zero())
        visit(x, Scalar(c * distributions_->target(x)));
    for_each_run(c, [&](int a, int b) {
      for (int j = a; j < b; ++j) {
        const Token x = ranking().token(j);
        const Scalar left = c * norm_ * ranking().ratio(j) - skew_at(j);  // positive by the test of the run
        visit(x, Scalar(distributions_->proposal(x) * left / norm_));
      }
      return true;
    });
  }

 private:
  const auto& ranking() const { return order_.ranking(); }
  /// Returns w of ranks a .. b - 1 as if they were one token.
  Scalar skew_of(int a, int b) const {
    const int n = ranking().size();
    return max_of_k_.divided_difference(max_of_k_.under(ranking().proposal(a, n)),
                                        max_of_k_.under(ranking().proposal(b, n)));
  }
  Scalar skew_at(int j) const { return skew_of(j, j + 1); }
  Scalar run_mass(int a, int b, const Scalar& c) const {
    const Scalar left = c * ranking().target(a, b) - ranking().proposal(a, b) * skew_of(a, b) / norm_;
    return left > distributions_->zero() ? left : distributions_->zero();
  }

  /// Calls `visit(a, b)` for disjoint runs in the order of ranks, until one returns false.
  template <class Visit>
  void for_each_run(const Scalar& c, Visit visit) const {
    if (const int n = ranking().size(); n > 0) search(0, n, skew_at(0), skew_at(n - 1), Scalar(c * norm_), visit);
  }
  /// Searches ranks a .. b - 1, along which w falls from `first` to `last`.
  template <class Visit>
  bool search(int a, int b, const Scalar& first, const Scalar& last, const Scalar& scale, Visit& visit) const {
    if (scale * ranking().ratio(b - 1) > first) return visit(a, b);
    if (!(scale * ranking().ratio(a) > last)) return true;
    const int middle = a + (b - a) / 2;
    return search(a, middle, first, skew_at(middle - 1), scale, visit) &&
           search(middle, b, skew_at(middle), last, scale, visit);
  }

  const L* distributions_;
  TokenOrder<L> order_;
  MaxOfKPaths<Scalar> max_of_k_;
  Scalar norm_{0};
};

}  // namespace draftproof
