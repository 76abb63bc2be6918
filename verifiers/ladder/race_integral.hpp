// Chords of F, the probability that K drafts without replacement hit a prefix of bins, by a race of exponential
// clocks: token x rings at rate q(x), and the first K to ring are the drafts.
//
//   c, W         mass of the bins above a bin, and of the bin
//   N', own      number of clocks that have rung by t, below the bin and in it
//   chord        1/W integral over t of e^(-ct) [W Pr(own = 0) Pr(N' < K)
//                                                - c sum over k + j < K, j > 0, of Pr(N' = k) Pr(own = j)]
//   Cell         four times t, in equal ratios 2^(1/4) or, for K > 8, every other one of ratios 2^(1/8)
//
// A bin's light tokens enter by their power sums: Pr(own = k) = e^(-Wt) e_k, e_k the elementary symmetric functions of
// e^(qt) - 1, by Newton from the sums of its powers. Heavier tokens multiply in one by one (race_bins.hpp, race_step.hpp).
// Cost: O(K) operations on all times for a heavy token, O(K^2) for a bin; 12 to 60 octaves of times.
// Correctness: Pr(all drafts below a set) is the integral of c e^(-ct) Pr(N' < K) (docs/optimum.md); differences of
// two of them, term by term, give the chord. All terms have the bin's own size, so narrow bins keep their precision.
// The trapezoid rule in log t errs by less than 1e-15 of each of the two terms: off the real axis by an angle d a
// probability is at most (sec d)^K times its value at t cos d, so with n nodes an octave the error is at most
// 2 (sec d)^K e^(-2 pi n d / ln 2); the best d has tan d = 2 pi n / (K ln 2). Sums go lane by lane in one order, so
// every width gives the same bits.
// Source: derived in docs/ladder.md, "Without replacement".
#pragma once

#include <cstddef>
#include <vector>

#include <draftproof/sim/simd/dispatch.hpp>
#include <draftproof/verifiers/ladder/race_bins.hpp>
#include <draftproof/verifiers/ladder/race_step.hpp>

namespace draftproof {

class RaceIntegral {
 public:
  /// drafts > 2; `bins` must outlive this.
  RaceIntegral(const RaceBins& bins, int drafts)
      : bins_{bins},
        times_{drafts},
        drafts_{static_cast<std::size_t>(drafts)},
        an_octave_{static_cast<std::size_t>(times_.an_octave)},
        live_{static_cast<std::size_t>(times_.groups(bins.slowest))},
        at_(live_),
        below_(live_),
        rung_(live_),
        counts_(drafts_ * live_),
        own_(drafts_ * live_) {
    for (std::size_t n = 0; n < live_; ++n) {
      if (n < an_octave_)
        for (std::size_t lane = 0; lane < lanes; ++lane)
          Cell::set(at_[n].at, lane, times_.first(static_cast<int>(n), static_cast<int>(lane)));
      else
        at_[n].at = at_[n - an_octave_].at * 2.0;
      Step::start(drafts_, counts(n));
      below_[n].at = Times{} + 1.0;
    }
  }

  /// (F(bins up to i) - F(bins above i)) / q(bin i) for each bin.
  std::vector<double> chords() {
#if DRAFTPROOF_WIDE
    if (simd::in_use() == simd::Width::avx512) return chords_avx512();
    if (simd::in_use() == simd::Width::avx2) return chords_avx2();
#endif
    return all_chords();
  }

 private:
#if defined(__CUDACC__)
  static constexpr std::size_t lanes = 1;  // never run there
#else
  static constexpr std::size_t lanes = 4;
#endif
  using Cell = RaceCell<lanes>;
  using Times = Cell::Times;
  using Step = RaceStep<Cell>;

#if DRAFTPROOF_WIDE
  DRAFTPROOF_AVX2 std::vector<double> chords_avx2() { return all_chords(); }
  DRAFTPROOF_AVX512 std::vector<double> chords_avx512() { return all_chords(); }
#endif

  DRAFTPROOF_INLINE std::vector<double> all_chords() {
    std::vector<double> chord(bins_.size(), 0);
    for (std::size_t i = bins_.size(); i-- > 0;) {
      const double above = bins_.above[i], width = bins_.mass[i];
      ring(i);
      // Fewer than K tokens from here on: a draft lies above for certain.
      if (!bins_.short_from(i))
        chord[i] = integral(above, width) / width;
      else if (i == 0)
        chord[i] = 1 / width;
      join();
    }
    return chord;
  }

  DRAFTPROOF_INLINE Step::Column own(std::size_t n) { return {own_.data() + n * drafts_}; }
  DRAFTPROOF_INLINE Step::Column counts(std::size_t n) { return {counts_.data() + n * drafts_}; }

  /// Sets rung_ to 1 - e^(-rate t).
  DRAFTPROOF_INLINE void ring_by(double rate) {
    for (std::size_t n = 0; n < an_octave_; ++n) Step::rung_by(at_[n].at * rate, rung_[n].at);
    for (std::size_t n = an_octave_; n < live_; ++n) Step::double_time(rung_[n - an_octave_].at, rung_[n].at);
  }

  /// The law of the number of clocks of bin i that have rung.
  DRAFTPROOF_INLINE void ring(std::size_t i) {
    if (bins_.light[i][1] > 0) {
      const LightSums light = bins_.light_sums(i);
      ring_by(light.of[1]);
      for (std::size_t n = 0; n < live_; ++n) Step::ring_light(at_[n].at, rung_[n].at, light, drafts_, own(n));
    } else {
      for (std::size_t n = 0; n < live_; ++n) Step::start(drafts_, own(n));
    }
    for (std::size_t x = bins_.first_heavy[i]; x < bins_.first_heavy[i + 1]; ++x) {
      ring_by(bins_.heavy[x]);
      for (std::size_t n = 0; n < live_; ++n) Step::ring(rung_[n].at, drafts_, own(n));
    }
  }

  /// W times the chord of the bin of mass `width` with `above` before it.
  DRAFTPROOF_INLINE double integral(double above, double width) {
    ring_by(above);
    Times sum = Times{} + 0.0, term;
    for (std::size_t n = 0; n < live_; ++n) {
      Step::integrand(at_[n].at, rung_[n].at, above, width, drafts_, own(n), counts(n), below_[n].at, term);
      sum = sum + term;
      if (Cell::get(at_[n].at, 0) * above > RaceTimes::longest) break;  // later terms are 0
    }
    double total = width * times_.before_start(above, width);
    for (std::size_t lane = 0; lane < lanes; ++lane) total += Cell::get(sum, lane);
    return times_.step() * total;
  }

  /// The bin joins those below.
  DRAFTPROOF_INLINE void join() {
    for (std::size_t n = 0; n < live_; ++n) {
      Step::join(drafts_, own(n), counts(n), below_[n].at);
      if (Cell::get(below_[n].at, 0) < RaceTimes::spent) Step::drop(drafts_, counts(n), below_[n].at);
    }
    while (live_ > 0 && !(Cell::get(below_[live_ - 1].at, 0) > 0)) --live_;
  }

  const RaceBins& bins_;
  RaceTimes times_;
  std::size_t drafts_, an_octave_, live_;  ///< groups of times that are not spent
  std::vector<Cell> at_, below_, rung_;    ///< by group; below_: Pr(N' < K)
  std::vector<Cell> counts_, own_;         ///< Pr(N' = k), Pr(own = k): [group][k]
};

}  // namespace draftproof
