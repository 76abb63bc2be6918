// Passes of a team in the order of tokens in buckets of p / q: the device's form of
// verifiers/paths/greatest/greatest_row.hpp, which computes the same integers.
//
//   symbol      code                  meaning                                                   shape
//   bucket      mass(i)               p- and q-mass of a bucket, summed in the scratch          [2, count] sums
//   segments    layout_               runs of consecutive tokens                                (team.hpp)
//   q_s, t_s    get(s), get(half+s)   of one bucket: q-mass and sum of terms of its tokens in segment s
//
// Inside a bucket, the tokens below a token x are the tokens with higher ids. Their mass is the bucket's mass, less the
// mass of earlier segments or warps, less the running sum of the warp of x up to and including x.
// Cost: one pass for place() and one for all buckets; two passes along one bucket, or along up to four buckets
// together. The two sums of every bucket take the memory in which passes store partial sums. A thread adds to a
// bucket's sums once per run of its own tokens in it; if all tokens fall into one bucket, each thread adds once.
#pragma once

#include <cstddef>
#include <type_traits>

#include <draftproof/gpu/row_view.hpp>
#include <draftproof/gpu/teams/team.hpp>
#include <draftproof/gpu/teams/team_search.cuh>
#include <draftproof/verifiers/paths/greatest/greatest_row.hpp>
#include <draftproof/verifiers/paths/greatest/order_buckets.hpp>

namespace draftproof::gpu {

/// One object per thread; every call is collective.
template <class Entry, Team T>
class TeamOrder {
 public:
  DRAFTPROOF_DEVICE TeamOrder(const RowView<Entry>& rows, const T& team)
      : rows_{rows}, team_{team}, layout_(rows.vocabulary, team.lanes(), team.partitions()) {}

  DRAFTPROOF_DEVICE int lanes() const { return team_.lanes(); }
  DRAFTPROOF_DEVICE int lane() const { return team_.lane(); }
  DRAFTPROOF_DEVICE Fixed lane_sum(Fixed value) const { return team_.lane_sum(value); }
  DRAFTPROOF_DEVICE Fixed lane_running_sum(Fixed value) const { return team_.lane_running_sum(value); }
  DRAFTPROOF_DEVICE Fixed lane_get(Fixed value, int from) const { return team_.lane_get(value, from); }
  DRAFTPROOF_DEVICE int first_lane(bool here) const { return team_.first_lane(here); }

  [[gnu::noinline]] DRAFTPROOF_DEVICE OrderPlace place(Token x) const {
    const auto own = static_cast<int>(OrderBuckets::of(ratio(x)));
    const float begin = OrderBuckets::begin(own);
    Fixed total = 0;
    const Fixed below = sums_of_two(
        [&](Token y) {
          const float r = ratio(y);
          return r < begin || (y > x && OrderBuckets::within(r, own)) ? units_of_q(y) : Fixed{0};
        },
        [&](Token y) { return units_of_q(y); }, total);
    return {below, total};
  }

  [[gnu::noinline]] DRAFTPROOF_DEVICE void weigh_buckets() const {
    static_assert(OrderBuckets::count <= half);
    team_.barrier();  // a slower warp may still read the sums of the last pass
    for (int i = warp(); i < 2 * half; i += warps()) team_.put(i, 0);
    team_.barrier();
    int bucket = 0;
    OrderMass run;
    const auto tell = [&] {
      if (run.target != 0) team_.add_to_sum(bucket, run.target);
      if (run.proposal != 0) team_.add_to_sum(half + bucket, run.proposal);
    };
    for_own_segments([&](int segment) {
      for (Token x = layout_.begin(segment) + team_.lane(); x < layout_.end(segment); x += team_.lanes()) {
        const Fixed p = to_fixed(rows_.p(x)), q = units_of_q(x);
        const int here = rows_.q(x, 0) > 0 ? static_cast<int>(OrderBuckets::of(ratio(x))) : OrderBuckets::count - 1;
        if (here != bucket) {
          tell();
          run = {};
          bucket = here;
        }
        run.target += p;
        run.proposal += q;
      }
    });
    tell();
    team_.barrier();
  }
  DRAFTPROOF_DEVICE OrderMass mass(int i) const { return {team_.get(i), team_.get(half + i)}; }

  template <class Term>
  [[gnu::noinline]] DRAFTPROOF_DEVICE Fixed along(int i, Fixed upto, const Term& term) const {
    team_.barrier();  // a slower warp may still read the sums of the last pass
    for_own_segments([&](int segment) {
      Fixed sum = 0;
      for (Token x = layout_.begin(segment) + team_.lane(); x < layout_.end(segment); x += team_.lanes())
        if (bucket(x) == i) sum += units_of_q(x);
      team_.put(segment, team_.lane_sum(sum));
    });
    team_.barrier();
    int next = 0;
    for_own_segments([&](int segment) {
      upto -= sum_of(next, segment);
      next = segment;
      Fixed mass = upto, sum = 0;
      for (Token start = layout_.begin(segment); start < layout_.end(segment); start += team_.lanes())
        sum += step(i, term, start, layout_.end(segment), mass);
      team_.put(half + segment, team_.lane_sum(sum));
    });
    team_.barrier();
    return sum_of(half, half + layout_.segments);
  }

  /// Returns the token at which the running sum of terms exceeds `left`. Requires that along(i, upto, term) was the
  /// last pass and that its result exceeds `left`.
  template <class Term>
  [[gnu::noinline]] DRAFTPROOF_DEVICE Token find(int i, Fixed upto, const Term& term, Fixed left) const {
    const int segment = team_find(team_, 0, layout_.segments, left, [this](int s) { return team_.get(half + s); });
    Fixed mass = upto - sum_of(0, segment);
    const Token last = layout_.end(segment);
    for (Token start = layout_.begin(segment); start < last; start += team_.lanes()) {
      const Fixed running = team_.lane_running_sum(step(i, term, start, last, mass));
      const int hit = team_.first_lane(running > left);
      if (hit < team_.lanes()) return start + hit;
      left -= team_.lane_get(running, team_.lanes() - 1);
    }
    return last - 1;  // not reached
  }

  template <class Term>
  DRAFTPROOF_DEVICE void along_all(const BucketList& list, const Term& term, Fixed* sums) const {
    const int workspace = half / warps(), group = workspace < together ? workspace : together;
    for (int first = 0; first < list.size; first += group)
      along_some(list, first, list.size - first < group ? list.size - first : group, term, sums + first);
  }

 private:
  static constexpr int half = TeamScratch::most_segments, together = 4;
  static_assert(half >= TeamScratch::most_warps, "no room for a sum of each warp");

  DRAFTPROOF_DEVICE int warp() const { return team_.partition() * team_.warps() + team_.warp(); }
  DRAFTPROOF_DEVICE int warps() const { return team_.partitions() * team_.warps(); }
  DRAFTPROOF_DEVICE float ratio(Token x) const { return OrderBuckets::ratio(rows_.target[x], rows_.proposal[x]); }
  DRAFTPROOF_DEVICE int bucket(Token x) const {
    return rows_.q(x, 0) > 0 ? static_cast<int>(OrderBuckets::of(ratio(x))) : OrderBuckets::count - 1;
  }
  DRAFTPROOF_DEVICE Fixed units_of_q(Token x) const { return to_fixed(rows_.q(x, 0)); }

  template <class Visit>
  DRAFTPROOF_DEVICE void for_own_segments(const Visit& visit) const {
    const int last = layout_.last_segment(team_.partition());
    for (int segment = layout_.first_segment(team_.partition()) + team_.warp(); segment < last;
         segment += team_.warps())
      visit(segment);
  }

  /// Returns the sum of the entries first .. last - 1 of the scratch.
  DRAFTPROOF_DEVICE Fixed sum_of(int first, int last) const {
    Fixed sum = 0;
    for (int i = first + team_.lane(); i < last; i += team_.lanes()) sum += team_.get(i);
    return team_.lane_sum(sum);
  }

  /// Returns the total of f and sets `second` to the total of g; leaves the segments' sums in the scratch.
  template <class F, class G>
  DRAFTPROOF_DEVICE Fixed sums_of_two(const F& f, const G& g, Fixed& second) const {
    team_.barrier();  // a slower warp may still read the sums of the last pass
    for_own_segments([&](int segment) {
      Fixed sum = 0, beside = 0;
      for (Token x = layout_.begin(segment) + team_.lane(); x < layout_.end(segment); x += team_.lanes()) {
        sum += f(x);
        beside += g(x);
      }
      team_.put(segment, team_.lane_sum(sum));
      team_.put(half + segment, team_.lane_sum(beside));
    });
    team_.barrier();
    second = sum_of(half, half + layout_.segments);
    return sum_of(0, layout_.segments);
  }

  /// Returns the term of this lane's token if it is in bucket i, else 0; collective. `mass` is the q-mass of lower
  /// buckets and of the bucket's tokens from `start` on; it is reduced by the mass of one token per lane.
  template <class Term>
  DRAFTPROOF_DEVICE Fixed step(int i, const Term& term, Token start, Token last, Fixed& mass) const {
    const Token x = start + team_.lane();
    const bool within = x < last && bucket(x) == i;
    const Fixed below = pass_by(within, within ? units_of_q(x) : 0, mass);
    return within ? to_fixed(term(rows_.p(x), rows_.q(x, 0), from_fixed(below))) : 0;
  }
  /// Returns the mass below this lane's token if `within`, and reduces `mass` by the q of all lanes whose `within` is
  /// true. Collective over a warp.
  DRAFTPROOF_DEVICE Fixed pass_by(bool within, Fixed q, Fixed& mass) const {
    if (team_.first_lane(within) == team_.lanes()) return 0;
    const Fixed running = team_.lane_running_sum(within ? q : Fixed{0}), below = mass - running;
    mass -= team_.lane_get(running, team_.lanes() - 1);
    return below;
  }

  /// Writes the sums of the terms along buckets `first` .. `first` + `count` - 1 of `list`, computed in one pass. Each
  /// warp has a run of consecutive tokens, so it needs from every earlier warp one sum per bucket only.
  template <class Term>
  [[gnu::noinline]] DRAFTPROOF_DEVICE void along_some(const BucketList& list, int first, int count, const Term& term,
                                                      Fixed* sums) const {
    const int lanes = team_.lanes(), each = (layout_.vocabulary / warps() / lanes + 1) * lanes;
    const Token begin = warp() * each < layout_.vocabulary ? warp() * each : layout_.vocabulary;
    const Token end = layout_.vocabulary - begin < each ? layout_.vocabulary : begin + each;
    int own[together];
    Fixed mass[together] = {}, sum[together] = {};
    for (int g = 0; g < together; ++g) own[g] = g < count ? list.bucket[first + g] : -1;
    for (Token x = begin + team_.lane(); x < end; x += lanes) {
      const int here = bucket(x);
      const Fixed q = units_of_q(x);
      for (int g = 0; g < together; ++g) mass[g] += here == own[g] ? q : 0;
    }
    team_.barrier();  // a slower warp may still read the sums of the last pass
    for (int g = 0; g < together; ++g)
      if (g < count) team_.put(g * warps() + warp(), team_.lane_sum(mass[g]));
    team_.barrier();
    for (int g = 0; g < together; ++g)
      if (g < count) mass[g] = list.upto[first + g] - sum_of(g * warps(), g * warps() + warp());
    for (Token start = begin; start < end; start += lanes) {
      const Token x = start + team_.lane();
      const int here = x < end ? bucket(x) : -2;
      const Fixed q = x < end ? units_of_q(x) : 0;
      Fixed below = -1;  // in none of the buckets
      for (int g = 0; g < together; ++g) {
        const bool within = here == own[g];
        const Fixed mine = pass_by(within, q, mass[g]);
        if (within) below = mine;
      }
      const Fixed weight = below < 0 ? 0 : to_fixed(term(rows_.p(x), rows_.q(x, 0), from_fixed(below)));
      for (int g = 0; g < together; ++g) sum[g] += here == own[g] ? weight : 0;
    }
    for (int g = 0; g < together; ++g)
      if (g < count) team_.put(half + g * warps() + warp(), team_.lane_sum(sum[g]));
    team_.barrier();
    for (int g = 0; g < together; ++g)
      if (g < count) sums[g] = sum_of(half + g * warps(), half + (g + 1) * warps());
  }

  RowView<Entry> rows_;
  T team_;
  TeamLayout layout_;
};

}  // namespace draftproof::gpu
