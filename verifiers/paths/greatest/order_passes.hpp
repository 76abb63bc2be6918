// Passes over a pair of rows for the order of tokens in buckets (token_order.hpp). The host counterpart of a team of
// a device's threads, which has as many lanes as its warps (gpu/teams/team_order.cuh); here there is one lane.
//
//   place(x)                    q-mass of the tokens below x, and of all
//   weigh_buckets()             a pass, after which mass(i) has p- and q-mass of bucket i; tokens with q = 0 count to
//                               the top one
//   along(i, upto, term)        sum of term(p, q, m) over the tokens of bucket i, m the q-mass below the token;
//                               `upto` is the q-mass of the buckets up to i
//   along_all(list, term, sums) the same sums for several buckets
//   find(i, upto, term, left)   the token of that sum, in the order of ids, at which the running sum exceeds `left`;
//                               after along(i, upto, term)
//   lanes(), ..                 as in gpu/teams/warp_lanes.cuh, for one lane
//
// Cost: a pass each, and one a bucket for several. `term` has fill(p, q, below, terms) for a strip of tokens, which
// is compiled for wide registers; its terms are those of single calls.
// Correctness: masses and terms are added as integers, so results are the same at every width and number of threads.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include <draftproof/sim/simd/block_sums.hpp>
#include <draftproof/sim/simd/ratio_histogram.hpp>
#include <draftproof/verifiers/paths/greatest/bucket_tokens.hpp>
#include <draftproof/verifiers/paths/greatest/order_buckets.hpp>

namespace draftproof {

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

/// For laws that expose an engine's rows, which must outlive this.
template <class L>
class OrderPasses {
 public:
  explicit OrderPasses(const L& laws)
      : laws_{laws}, target_{laws.target_row().data()}, proposal_{laws.proposal_row().data()} {}

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
    laws_.count_visited(size());
    const int bucket = static_cast<int>(OrderBuckets::of(ratio(x)));
    // Below x are: tokens before x in lower buckets, and tokens after x in lower buckets and in its own.
    const std::size_t after = static_cast<std::size_t>(x) + 1;
    const auto before = simd::mass_below(target_, proposal_, 0, after, OrderBuckets::begin(bucket));
    const auto behind = simd::mass_below(target_, proposal_, after, size(), OrderBuckets::end(bucket));
    return {before.below + behind.below, before.total + behind.total};
  }

  void weigh_buckets() const {
    laws_.count_visited(size());
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
    laws_.count_visited(size());
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

  std::size_t size() const { return laws_.target_row().size(); }
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

  const L& laws_;
  const Entry *target_, *proposal_;
  mutable std::optional<simd::MassesByRatio<OrderBuckets>> masses_;
};

}  // namespace draftproof
