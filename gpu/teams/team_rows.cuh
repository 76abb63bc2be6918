// Distributions that all threads of a team evaluate together: every pass over V is distributed over the threads, and
// every thread returns the same result. The device's form of FreshRows: the same random bits give the same tokens.
//
//   symbol      code            meaning                                                       shape
//   V           vocabulary()    number of tokens                                              int
//   segments    layout_         runs of consecutive tokens, given to the partitions in order  (team.hpp)
//   partial     team_.get(i)    sum of a segment's terms in 2^-60                             [segments]
//
// Cost: a pass reads its rows once, one warp per segment, with two barriers. If rows are on chip, one barrier suffices,
// because successive passes alternate between the two halves of the scratch. In a draw after a pass each warp scans the
// partial sums and then one segment, without a barrier. If rows are on chip, one warp scans the segment, and all
// threads read the token after a barrier.
// Correctness: results equal the host's bit for bit. Terms are formed by the same IEEE operations (no contraction
// except the fused operations of short_float.hpp) and added as integers, so the order of addition does not matter. A
// drawn token is the first one whose running sum, in token order, exceeds the scaled random bits.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include <draftproof/gpu/row_view.hpp>
#include <draftproof/gpu/teams/team.hpp>
#include <draftproof/gpu/teams/team_firsts.cuh>
#include <draftproof/gpu/teams/team_masses.cuh>
#include <draftproof/gpu/teams/team_search.cuh>
#include <draftproof/gpu/teams/team_sums.cuh>
#include <draftproof/gpu/teams/team_workspace.cuh>
#include <draftproof/sim/distributions/ratio_bins.hpp>
#include <draftproof/sim/numeric/sums.hpp>
#include <draftproof/sim/position.hpp>
#include <draftproof/sim/sampling/exponential_race.hpp>
#include <draftproof/sim/sampling/weights.hpp>

namespace draftproof::gpu {

/// One object per thread, all made from the same arguments. Every call except target() and proposal() is collective:
/// the whole team makes it with equal arguments. A function passed to sum() or weights() is called by single threads,
/// so it may only read. `Source` holds the rows: RowView, or OnChipRows.
template <class Source, Team T>
class TeamRows {
 public:
  using Scalar = double;
  static constexpr bool fresh = true;

  DRAFTPROOF_DEVICE TeamRows(const Source& rows, const T& team)
      : rows_{rows}, team_{team}, layout_(layout_of(rows, team)), workspace_(team.own_partition()) {}

  /// Switches to other rows of the same length. The scratch still holds sums of the old rows.
  DRAFTPROOF_DEVICE void look_at(const Source& rows) {
    rows_ = rows;
    passed_ = never;
  }

  DRAFTPROOF_DEVICE int vocabulary() const { return rows_.vocabulary; }
  DRAFTPROOF_DEVICE int proposals() const { return rows_.proposals; }
  DRAFTPROOF_DEVICE double zero() const { return 0; }
  DRAFTPROOF_DEVICE double one() const { return 1; }
  DRAFTPROOF_DEVICE double target(Token x) const { return rows_.p(x); }
  DRAFTPROOF_DEVICE double proposal(Token x, int k = 0) const { return rows_.q(x, k); }

  DRAFTPROOF_DEVICE double residual_mass(double b) const { return from_fixed(residual_pass(b)); }
  /// One pass.
  DRAFTPROOF_DEVICE MassAndSlope<double> mass_and_slope(double b) const {
    Fixed slope = 0;
    const auto seen = [](double q, auto left) { return left > 0 ? q : 0.0; };
    gpu::with_residual(own_tokens(), b, [&](const auto& term) { total_ = pass_of_two(term, seen, slope); });
    passed_ = b;
    return {from_fixed(total_), from_fixed(slope)};
  }

  DRAFTPROOF_DEVICE auto residual(double b) const { return ResidualWeights{*this, b}; }
  DRAFTPROOF_DEVICE auto clipped(double b, double clip_ratio) const {
    return weights([this, b, clip_ratio](Token x) {
      const double p = target(x), q = proposal(x), most = p / clip_ratio;
      const double left = p - b * (most < q ? most : q);
      return left > 0 ? left : 0.0;
    });
  }
  DRAFTPROOF_DEVICE auto row(int k) const {
    return weights([this, k](Token x) { return proposal(x, k); });
  }
  DRAFTPROOF_DEVICE auto row_without(int k, const Token* seen, int n) const {
    const double scale = remaining_scale(k, seen, n);
    return weights(scaled_rest(k, seen, n, scale), scale == 1);
  }

  /// Returns the mass of row k without the tokens seen[0 .. n - 1]: 1 less their masses, or, if this is below 1/16, the
  /// sum of the other entries by a pass, scaled up first if it is small. FreshRows follows the same rule and returns
  /// the same bits.
  DRAFTPROOF_DEVICE double mass_without(int k, const Token* seen, int n) const {
    double left = 1;
    for (int i = 0; i < n; ++i) left -= proposal(seen[i], k);
    if (left >= 0x1p-4) return left;
    const double scale = remaining_scale(k, seen, n);
    return scale == 1 ? from_fixed(total_) : sum(scaled_rest(k, seen, n, scale)) / scale;
  }

  /// Returns the (j + 1)-th most probable token of the proposal, by j + 1 passes; 0 <= j < V.
  DRAFTPROOF_DEVICE Token kth_most_probable(int j) const {
    Candidate last{-infinity, no_token};
    for (int rank = 0; rank <= j; ++rank) last = greatest([this](Token x) { return proposal(x); }, last);
    return last.token;
  }

  template <class F>
  DRAFTPROOF_DEVICE double sum(F f) const {
    passed_ = never;
    total_ = pass(f);
    return from_fixed(total_);
  }
  /// Returns sum(f) in units of 2^-60.
  template <class F>
  DRAFTPROOF_DEVICE Fixed fixed_sum(F f) const {
    passed_ = never;
    return total_ = pass(f);
  }
  /// Returns the sums of two integers of every token by index, in the scratch of the workspace (team_sums.cuh); one
  /// pass.
  template <class Term>
  DRAFTPROOF_DEVICE auto sums_by_place(int places, const Term& term) const {
    return gpu::sums_by_place(
        team_, workspace_, places, [this](const auto& visit) { this->for_own(visit); }, term);
  }
  /// Returns the weights f(x). `summed` declares that the last pass was sum(f) of the same f; the draw then reuses its
  /// sums.
  template <class F>
  DRAFTPROOF_DEVICE auto weights(F f, bool summed = false) const {
    return PassWeights<F>{*this, std::move(f), summed};
  }

  using Workspace = TeamWorkspace<PartitionOf<T>>;
  using Bins = BucketBinsIn<Workspace>;
  /// The memory in which the team makes plans.
  DRAFTPROOF_DEVICE const Workspace& workspace() const { return workspace_; }
  /// Returns the bins of p / q, after one pass. It clears the workspace, so a plan must call it before it makes lists.
  DRAFTPROOF_DEVICE Bins bins() const {
    workspace_.clear();
    Bins bins(workspace_, RatioBuckets::count);
    const unsigned mark = workspace_.brief_so_far();
    bins.fill(workspace_, TeamMasses(team_, workspace_, rows_, [this](const auto& visit) { this->for_own(visit); }));
    workspace_.end_brief_after(mark);
    return bins;
  }
  DRAFTPROOF_DEVICE int bin(const Bins& bins, Token x) const {
    return bins.of_bucket(ratio_bucket<typename Source::Entry>(rows_.p(x), rows_.q(x, 0)));
  }

  /// Returns the `wanted` smallest of all candidates that the threads' calls of `scan(own, thread, threads)` add to
  /// `own`, by one reduction per candidate.
  template <int most, class Scan>
  DRAFTPROOF_DEVICE SmallestK<most> k_smallest(int wanted, const Scan& scan) const {
    return team_smallest<most>(team_, vocabulary(), wanted, scan);
  }

 private:
  template <class F>
  DRAFTPROOF_DEVICE Candidate greatest(const F& f, const Candidate& last) const {
    return team_greatest(
        team_, vocabulary(), [this](const auto& visit) { this->for_own(visit); }, f, last);
  }
  /// Returns the factor by which the weights of row k without n tokens are scaled up (sim/numeric/sums.hpp). If their
  /// sum is at least 1/16 or 0, the factor is 1, and total_ is their total.
  DRAFTPROOF_DEVICE double remaining_scale(int k, const Token* seen, int n) const {
    passed_ = never;
    total_ = pass(scaled_rest(k, seen, n, 1));
    if (total_ >= small_total) return 1;
    const Candidate largest = greatest(scaled_rest(k, seen, n, 1), {-infinity, no_token});
    return scale_of_small(vocabulary(), -largest.time, [&](double by) { return pass(scaled_rest(k, seen, n, by)); });
  }
  DRAFTPROOF_DEVICE auto scaled_rest(int k, const Token* seen, int n, double scale) const {
    return [this, k, seen, n, scale](Token x) { return among(x, seen, n) ? 0.0 : proposal(x, k) * scale; };
  }

  /// Weights f(x). A draw takes a pass and a search.
  template <class F>
  class PassWeights {
   public:
    DRAFTPROOF_DEVICE PassWeights(const TeamRows& rows, F f, bool summed)
        : rows_{rows}, f_{std::move(f)}, summed_{summed} {}

    DRAFTPROOF_DEVICE Token draw(std::uint64_t word) const {
      rows_.passed_ = never;
      const Fixed total = summed_ ? rows_.total_ : rows_.pass(f_);
      return rows_.search(total, word, f_);
    }
    template <class Visit>
    DRAFTPROOF_DEVICE void for_each(Visit visit) const {
      for (Token x = 0; x < rows_.vocabulary(); ++x)
        if (const double weight = f_(x); weight > 0) visit(x, weight);
    }

   private:
    const TeamRows& rows_;
    F f_;
    bool summed_;
  };

  /// Weights (p - b q)+. A draw takes a pass and a search; if the last pass had the same b, only a search.
  class ResidualWeights {
   public:
    DRAFTPROOF_DEVICE ResidualWeights(const TeamRows& rows, double b) : rows_{rows}, b_{b} {}

    DRAFTPROOF_DEVICE Token draw(std::uint64_t word) const {
      const Fixed total = rows_.residual_pass(b_);
      Token token = no_token;
      gpu::with_residual(rows_.own_tokens(), b_, [&](const auto& term) { token = rows_.search(total, word, term); });
      return token;
    }
    template <class Visit>
    DRAFTPROOF_DEVICE void for_each(Visit visit) const {
      gpu::with_residual(rows_.rows_, b_, [&](const auto& term) {
        for (Token x = 0; x < rows_.vocabulary(); ++x)
          if (const double weight = term(x); weight > 0) visit(x, weight);
      });
    }

   private:
    const TeamRows& rows_;
    double b_;
  };

  /// Returns the layout of the rows if they have one, as on-chip rows do; otherwise a layout made from the team.
  DRAFTPROOF_DEVICE static TeamLayout layout_of(const Source& rows, const T& team) {
    if constexpr (requires { rows.layout; })
      return rows.layout;
    else
      return {rows.vocabulary, team.lanes(), team.partitions()};
  }

  static constexpr double infinity = std::numeric_limits<double>::infinity();
  static constexpr double never = -1;  ///< no b is negative

  DRAFTPROOF_DEVICE Fixed residual_pass(double b) const {
    if (b != passed_) {
      gpu::with_residual(own_tokens(), b, [this](const auto& term) { total_ = pass(term); });
      passed_ = b;
    }
    return total_;
  }

  /// Calls visit(x) on this thread's part of the vocabulary.
  template <class Visit>
  DRAFTPROOF_DEVICE void for_own(const Visit& visit) const {
    const int last = layout_.last_segment(team_.partition());
    for (int segment = layout_.first_segment(team_.partition()) + team_.warp(); segment < last;
         segment += team_.warps())
      for (Token x = layout_.begin(segment) + team_.lane(); x < layout_.end(segment); x += team_.lanes()) visit(x);
  }

  /// Returns the total of f over the vocabulary; leaves the segments' sums in the scratch.
  template <class F>
  DRAFTPROOF_DEVICE Fixed pass(const F& f) const {
    Fixed none = 0;
    return sweep<false>(
        f, [](double, auto) { return 0.0; }, none);
  }
  /// Returns the total of f over the vocabulary; also sets `second` to the total of g(q(x), f(x)).
  template <class F, class G>
  DRAFTPROOF_DEVICE Fixed pass_of_two(const F& f, const G& g, Fixed& second) const {
    return sweep<true>(f, g, second);
  }

  template <bool two, class F, class G>
  DRAFTPROOF_DEVICE Fixed sweep(const F& f, const G& g, Fixed& second) const {
    // A slower warp may still read the sums of the last pass, but not the sums of the pass before, because it has
    // passed the barrier at the end of the last pass.
    if (two || !on_chip || !alternates_) team_.barrier();
    sums_ = two || !on_chip ? 0 : TeamScratch::most_segments - sums_;
    alternates_ = !two;
    bool in_fours = false;
    if constexpr (requires { requires F::of_floats; }) {
      in_fours = f.rows.in_fours();
      if (in_fours) sum_fours<two>(f, g);
    }
    if (!in_fours) sum_ones<two>(f, g);
    team_.barrier();
    if constexpr (two) second = total_of(TeamScratch::most_segments);
    return total_of(sums_);
  }

  /// Writes the sums of this warp's segments to the scratch. Each lane reads one token at a time.
  template <bool two, class F, class G>
  DRAFTPROOF_DEVICE void sum_ones(const F& f, const G& g) const {
    const int last = layout_.last_segment(team_.partition());
    for (int segment = layout_.first_segment(team_.partition()) + team_.warp(); segment < last;
         segment += team_.warps()) {
      const Token end = layout_.end(segment);
      Fixed sum = 0, beside = 0;
#if defined(__CUDA_ARCH__)
#pragma unroll 4
#endif
      for (Token x = layout_.begin(segment) + team_.lane(); x < end; x += team_.lanes()) {
        const auto term = f(x);
        sum += to_units(term);
        if constexpr (two) beside += to_units(g(f.rows.q(x, 0), term));
      }
      put_sums<two>(segment, sum, beside);
    }
  }

  /// Writes the sums of this warp's segments to the scratch, for a term of p and q. Each lane issues four 16-byte loads
  /// of p and four of q before it uses the first result, so that the loads overlap: one load from each of four
  /// segments; if the warp has fewer segments, two from each of two segments, or four from one segment. Requires: at
  /// least three lanes, which add the up to three tokens after the last group of four.
  template <bool two, class F, class G>
  DRAFTPROOF_DEVICE void sum_fours(const F& f, const G& g) const {
    constexpr int together = 4;
    const int last = layout_.last_segment(team_.partition()), warps = team_.warps();
    const int begin = layout_.first_segment(team_.partition()) + team_.warp(), step = 4 * team_.lanes();
    const Token after = vocabulary() / 4 * 4;  // the first token after the whole groups of four
    // If the team is one block, each warp has many segments at large V, and the kernel has no registers to spare.
    int shift = 2;
    if constexpr (!block_alone) shift = last - begin > 2 * warps ? 2 : last - begin > warps ? 1 : 0;
    const int segments = 1 << shift;
    for (int first = begin; first < last; first += segments * warps) {
      Fixed sums[together] = {}, beside[together] = {};
      const auto add = [&](int j, float p, float q) {
        const auto term = f.of_pair(p, q);
        sums[j] += to_units(term);
        if constexpr (two) beside[j] += to_units(g(static_cast<double>(q), term));
      };
      for (int at = 4 * team_.lane(); at < layout_.length; at += (together >> shift) * step) {
        FourTokens fours[together] = {};
        for (int j = 0; j < together; ++j) {
          const int segment = first + (j & (segments - 1)) * warps, here = at + (j >> shift) * step;
          const Token x = layout_.begin(segment) + here;
          if (segment < last && here < layout_.length && x < after) fours[j] = f.rows.four(x);
        }
        for (int j = 0; j < together; ++j)
          for (int i = 0; i < 4; ++i) add(j, fours[j].p.entries[i], fours[j].q.entries[i]);
      }
      const auto join = [&](int into, int from) {
        sums[into] += sums[from];
        beside[into] += beside[from];
      };
      if (segments < 4) {
        join(0, 2);
        join(1, 3);
      }
      if (segments < 2) join(0, 1);
      for (int j = 0; j < together; ++j) {
        const int segment = first + j * warps;
        if (j >= segments || segment >= last) break;
        if (segment == layout_.segments - 1 && after + team_.lane() < vocabulary()) {
          const Token x = after + team_.lane();
          add(j, static_cast<float>(f.rows.p(x)), static_cast<float>(f.rows.q(x, 0)));
        }
        put_sums<two>(segment, sums[j], beside[j]);
      }
    }
  }

  template <bool two>
  DRAFTPROOF_DEVICE void put_sums(int segment, Fixed sum, Fixed beside) const {
    team_.put(sums_ + segment, team_.lane_sum(sum));
    if constexpr (two) team_.put(TeamScratch::most_segments + segment, team_.lane_sum(beside));
  }

  /// Returns the token that the random bits `word` select from the weights f, after a pass over f with this total;
  /// no_token if all weights are zero. If rows are on chip, one warp of the partition that has the token finds it and
  /// puts it into the scratch, where all threads read it; `f` is called on tokens of this partition only.
  template <class F>
  DRAFTPROOF_DEVICE Token search(Fixed total, std::uint64_t word, const F& f) const {
    if (total <= 0) return no_token;
    auto left = static_cast<Fixed>(scale(word, static_cast<std::uint64_t>(total)));
    const int segment = team_segment(team_, layout_, sums_, left);
    if constexpr (!on_chip) return team_token(team_, layout_, segment, left, f);
    // The half of the scratch that the last pass did not write is free. If the pass wrote both halves, a barrier is
    // needed before one of them is overwritten.
    const int other = TeamScratch::most_segments - sums_;
    if (!alternates_) team_.barrier();
    alternates_ = false;
    if (segment / layout_.per_partition == team_.partition() && team_.warp() == 0)
      team_.put(other, team_token(team_, layout_, segment, left, f));
    team_.barrier();
    return static_cast<Token>(team_.get(other));
  }

  DRAFTPROOF_DEVICE Fixed total_of(int first) const {
    Fixed total = 0;
    for (int segment = team_.lane(); segment < layout_.segments; segment += team_.lanes())
      total += team_.get(first + segment);
    return team_.lane_sum(total);
  }

  /// Whether every team of this type is a single block.
  static constexpr bool block_alone = requires {
    requires T::partitions()
    == 1;
  };
  /// Whether the rows are on chip. Then no other object makes passes of the team, so the scratch keeps its contents
  /// between the passes of this object.
  static constexpr bool on_chip = requires(const Source& rows) { rows.own_tokens(); };
  /// Returns the rows that passes read. If rows are on chip, they have only the tokens of this partition.
  DRAFTPROOF_DEVICE auto own_tokens() const {
    if constexpr (on_chip)
      return rows_.own_tokens();
    else
      return rows_;
  }

  Source rows_;
  T team_;
  TeamLayout layout_;
  Workspace workspace_;
  mutable Fixed total_ = 0;          ///< total of the last pass
  mutable int sums_ = 0;             ///< index in the scratch at which the last pass's sums of segments begin
  mutable bool alternates_ = false;  ///< whether the next pass may write the other half without a barrier
  mutable double passed_ = never;    ///< the b whose partial sums are in the scratch
};

}  // namespace draftproof::gpu
