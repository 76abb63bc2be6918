// Laws that all threads of a CUDA block look at together: every pass over V strides over the threads, and
// every thread returns with the same answer. The device twin of FreshRows; the same words give the same
// tokens.
//
//   symbol      code            meaning                                                       shape
//   V           vocabulary()    number of tokens                                              int
//   segments    segments_       runs of length_ consecutive tokens, at most most_segments     int
//   partial     scratch         sum of a segment's terms in 2^-60                             [segments]
//
// Cost: a pass reads its rows once, one warp per segment, with two barriers. A draw after it bisects nothing:
// each warp walks the partial sums and then one segment by warp-wide running sums, without a barrier. The
// bits are those of the host because terms are formed by the same IEEE operations (no contraction but the fused
// operations of float_residual.hpp) and added as integers, which no order of addition can change; a token is the
// first one whose running sum, in token order, exceeds the scaled word.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include <draftproof/gpu/row_view.hpp>
#include <draftproof/gpu/thread_block.cuh>
#include <draftproof/sim/fixed_point.hpp>
#include <draftproof/sim/float_residual.hpp>
#include <draftproof/sim/mass_and_slope.hpp>
#include <draftproof/sim/position.hpp>
#include <draftproof/sim/race.hpp>

namespace draftproof::gpu {

/// What the warps of a block tell each other; in shared memory, one per block.
struct BlockScratch {
  static constexpr int most_segments = 256, most_warps = 32;
  Fixed partial[most_segments];  ///< sums of the last pass
  struct {
    double time;
    Token token;
  } first[most_warps];  ///< each warp's first arrival
};

/// One object per thread, all made from the same arguments. Every call but target() and proposal() is
/// collective: the whole block makes it, with equal arguments. A function given to sum() or weights() is
/// called by single threads, so it may only read. `Threads` is ThreadBlock, or what stands in for it off the
/// device.
template <class Entry, class Threads = ThreadBlock>
class BlockRows {
 public:
  using Scalar = double;
  static constexpr bool fresh = true;

  DRAFTPROOF_DEVICE BlockRows(const RowView<Entry>& rows, BlockScratch* scratch, Threads threads = {})
      : rows_{rows}, threads_{threads}, scratch_{scratch} {
    const int wave = BlockScratch::most_segments * threads_.lanes();
    length_ = (rows_.vocabulary / wave + (rows_.vocabulary % wave != 0)) * threads_.lanes();
    segments_ = rows_.vocabulary / length_ + (rows_.vocabulary % length_ != 0);
  }

  DRAFTPROOF_DEVICE int vocabulary() const { return rows_.vocabulary; }
  DRAFTPROOF_DEVICE int proposals() const { return rows_.proposals; }
  DRAFTPROOF_DEVICE double zero() const { return 0; }
  DRAFTPROOF_DEVICE double one() const { return 1; }
  DRAFTPROOF_DEVICE double target(Token x) const { return rows_.p(x); }
  DRAFTPROOF_DEVICE double proposal(Token x, int k = 0) const { return rows_.q(x, k); }

  DRAFTPROOF_DEVICE double residual_mass(double b) const { return from_fixed(residual_pass(b)); }
  /// Two passes.
  DRAFTPROOF_DEVICE MassAndSlope<double> mass_and_slope(double b) const {
    const double slope = sum([this, left = above(b)](Token x) { return left(x) > 0 ? proposal(x) : 0.0; });
    return {residual_mass(b), slope};
  }

  DRAFTPROOF_DEVICE auto residual(double b) const { return ResidualWeights{*this, b}; }
  DRAFTPROOF_DEVICE auto clipped(double b, double knee) const {
    return weights([this, b, knee](Token x) {
      const double p = target(x), q = proposal(x), most = p / knee;
      return positive(p - b * (most < q ? most : q));
    });
  }
  DRAFTPROOF_DEVICE auto row(int k) const {
    return weights([this, k](Token x) { return proposal(x, k); });
  }
  DRAFTPROOF_DEVICE auto row_without(int k, const Token* seen, int n) const {
    return weights([this, k, seen, n](Token x) { return among(x, seen, n) ? 0.0 : proposal(x, k); });
  }

  /// By subtraction while at least 1/16 is left, else by a pass: the rule of FreshRows, so the same bits.
  DRAFTPROOF_DEVICE double mass_without(int k, const Token* seen, int n) const {
    double left = 1;
    for (int i = 0; i < n; ++i) left -= proposal(seen[i], k);
    if (left >= 0x1p-4) return left;
    return sum([this, k, seen, n](Token x) { return among(x, seen, n) ? 0.0 : proposal(x, k); });
  }

  /// j + 1 reads of the row by every warp; 0 <= j < V.
  DRAFTPROOF_DEVICE Token top(int j) const {
    double bound = infinity;
    Token bound_token = no_token;
    for (int rank = 0; rank <= j; ++rank) {
      double best = -1;
      Token best_token = vocabulary();
      for (Token x = threads_.lane(); x < vocabulary(); x += threads_.lanes()) {
        const double q = proposal(x);
        const bool after = q < bound || (q == bound && x > bound_token);
        if (after && q > best) {
          best = q;
          best_token = x;
        }
      }
      bound = threads_.lane_max(best);
      bound_token = -threads_.lane_max(best == bound ? -best_token : -vocabulary());
    }
    return bound_token;
  }

  template <class F>
  DRAFTPROOF_DEVICE double sum(F f) const {
    passed_ = never;
    return from_fixed(pass(f));
  }
  template <class F>
  DRAFTPROOF_DEVICE auto weights(F f) const {
    return PassWeights<F>{*this, std::move(f)};
  }

  /// The `wanted` earliest of what walk(own, thread, threads) adds on each thread: a reduction for each of them.
  template <int most, class Walk>
  DRAFTPROOF_DEVICE Arrivals<most> earliest(int wanted, const Walk& walk) const {
    Arrivals<most> own(wanted), all(wanted);
    walk(own, threads_.warp() * threads_.lanes() + threads_.lane(), threads_.warps() * threads_.lanes());
    for (int told = 0; all.size() < wanted;) {
      const Arrival next = own[told], first = block_first(next);
      if (first.token == no_token) break;
      told += first.token == next.token && first.time == next.time;
      all.add(first);
    }
    return all;
  }

 private:
  /// Weights f(x); a draw is a pass and a search.
  template <class F>
  class PassWeights {
   public:
    DRAFTPROOF_DEVICE PassWeights(const BlockRows& rows, F f) : rows_{rows}, f_{std::move(f)} {}

    DRAFTPROOF_DEVICE Token draw(std::uint64_t word) const {
      rows_.passed_ = never;
      return rows_.search(rows_.pass(f_), word, f_);
    }
    template <class Visit>
    DRAFTPROOF_DEVICE void for_each(Visit visit) const {
      for (Token x = 0; x < rows_.vocabulary(); ++x)
        if (const double weight = f_(x); weight > 0) visit(x, weight);
    }

   private:
    const BlockRows& rows_;
    F f_;
  };

  /// Weights (p - b q)+; a draw at the b of the last residual_mass() needs no pass.
  class ResidualWeights {
   public:
    DRAFTPROOF_DEVICE ResidualWeights(const BlockRows& rows, double b) : rows_{rows}, b_{b} {}

    DRAFTPROOF_DEVICE Token draw(std::uint64_t word) const {
      return rows_.search(rows_.residual_pass(b_), word, rows_.above(b_));
    }
    template <class Visit>
    DRAFTPROOF_DEVICE void for_each(Visit visit) const {
      const Above above = rows_.above(b_);
      for (Token x = 0; x < rows_.vocabulary(); ++x)
        if (const double weight = above(x); weight > 0) visit(x, weight);
    }

   private:
    const BlockRows& rows_;
    double b_;
  };

  static constexpr double infinity = std::numeric_limits<double>::infinity();
  static constexpr double never = -1;  ///< no b is negative

  DRAFTPROOF_DEVICE static double positive(double value) { return value > 0 ? value : 0.0; }
  /// As FreshRows forms it: in float where entries are no longer than that and b fits.
  class Above {
   public:
    DRAFTPROOF_DEVICE Above(const RowView<Entry>& rows, double b) : rows_{rows}, b_{b}, factor_{b} {}
    DRAFTPROOF_DEVICE double operator()(Token x) const {
      const double p = rows_.p(x), q = rows_.q(x, 0);
      if (!std::is_same_v<Entry, double> && factor_.fits())
        return double{factor_.above(static_cast<float>(p), static_cast<float>(q))};
      return positive(p - b_ * q);
    }

   private:
    RowView<Entry> rows_;
    double b_;
    FloatFactor factor_;
  };
  DRAFTPROOF_DEVICE Above above(double b) const { return {rows_, b}; }

  DRAFTPROOF_DEVICE Fixed residual_pass(double b) const {
    if (b != passed_) {
      total_ = pass(above(b));
      passed_ = b;
    }
    return total_;
  }

  /// The total of f over the vocabulary; leaves the segments' sums in the scratch.
  template <class F>
  DRAFTPROOF_DEVICE Fixed pass(const F& f) const {
    threads_.barrier();  // a slower warp may still be reading the sums of the pass before
    for (int segment = threads_.warp(); segment < segments_; segment += threads_.warps()) {
      const Token end = end_of(segment);
      Fixed sum = 0;
      for (Token x = segment * length_ + threads_.lane(); x < end; x += threads_.lanes()) sum += to_fixed(f(x));
      sum = threads_.lane_sum(sum);
      if (threads_.lane() == 0) scratch_->partial[segment] = sum;
    }
    threads_.barrier();
    Fixed total = 0;
    for (int segment = threads_.lane(); segment < segments_; segment += threads_.lanes())
      total += scratch_->partial[segment];
    return threads_.lane_sum(total);
  }

  /// The token of `word` among weights f whose pass was the last one; no_token if they are all zero.
  template <class F>
  DRAFTPROOF_DEVICE Token search(Fixed total, std::uint64_t word, const F& f) const {
    if (total <= 0) return no_token;
    auto left = static_cast<Fixed>(scale(word, static_cast<std::uint64_t>(total)));
    const int segment = find(0, segments_, left, [this](int i) { return scratch_->partial[i]; });
    return find(segment * length_, end_of(segment), left, [&f](Token x) { return to_fixed(f(x)); });
  }

  /// The first i in [first, last) at which the running sum of term(i) exceeds `left`, which is reduced by the
  /// terms before it. Each warp does all of it; the trip count is the same for its lanes.
  template <class Term>
  DRAFTPROOF_DEVICE int find(int first, int last, Fixed& left, Term term) const {
    for (int start = first; start < last; start += threads_.lanes()) {
      const int i = start + threads_.lane();
      const Fixed own = i < last ? term(i) : Fixed{0};
      const Fixed running = threads_.lane_running_sum(own);
      const int hit = threads_.first_lane(running > left);
      if (hit < threads_.lanes()) {
        left -= threads_.lane_get(running - own, hit);
        return start + hit;
      }
      left -= threads_.lane_get(running, threads_.lanes() - 1);
    }
    return last;  // not reached: left is below the sum of all terms
  }

  /// The earliest of one arrival a lane, known to the warp.
  DRAFTPROOF_DEVICE Arrival lane_first(const Arrival& own) const {
    // Lexicographic in two maxima. Times are not negative; a lane without an arrival is later than any infinity of
    // time because its token comes after all others.
    const Token none = vocabulary(), token = own.token == no_token ? none : own.token;
    const double time = -threads_.lane_max(-own.time);
    const Token first = -threads_.lane_max(own.time == time ? -token : -none);
    return first == none ? Arrival{} : Arrival{time, first};
  }
  DRAFTPROOF_DEVICE Arrival block_first(const Arrival& own) const {
    const Arrival mine = lane_first(own);
    threads_.barrier();  // a slower warp may still be reading what was told before
    if (threads_.lane() == 0) scratch_->first[threads_.warp()] = {mine.time, mine.token};
    threads_.barrier();
    Arrival best;
    for (int warp = threads_.lane(); warp < threads_.warps(); warp += threads_.lanes())
      if (const Arrival other{scratch_->first[warp].time, scratch_->first[warp].token}; other.before(best))
        best = other;
    return lane_first(best);
  }

  DRAFTPROOF_DEVICE Token end_of(int segment) const {
    const Token begin = segment * length_;
    return vocabulary() - begin < length_ ? vocabulary() : begin + length_;
  }

  RowView<Entry> rows_;
  Threads threads_;
  BlockScratch* scratch_;
  int length_, segments_;
  mutable Fixed total_ = 0;
  mutable double passed_ = never;  ///< the b whose partial sums lie in the scratch
};

static_assert(Laws<BlockRows<float>> && Laws<BlockRows<double>> && Laws<BlockRows<Bfloat16>> &&
              Laws<BlockRows<Half>>);
static_assert(Position<At<BlockRows<float>>>);

}  // namespace draftproof::gpu
