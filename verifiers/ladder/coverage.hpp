// f(s), the probability that at least one draft is in the first bins, whose q-mass is s: the upper bound of G in a
// ladder (plan.hpp). It is computed for a fixed number of drafts and for a random number.
//
//   A, B, C          q-mass below a break, 1 - s: the arguments of `none`, `chord` and `bend`
//   none(A)          1 - f: A^K, or its mean over the number of drafts
//   chord(A, B)      slope of f between two breaks
//   bend(A, B, C)    (slope of f over A..B minus slope over B..C) / (A - C)
//
// Cost: O(K) each.
// Correctness: (A^K - B^K) / (A - B) is the sum of A^i B^j over i + j = K - 1, and the second difference quotient is
// the sum of A^i B^j C^k over i + j + k = K - 2. These sums of products do not cancel on bins of any width. The loops
// compute the sums of all smaller K on the way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include <draftproof/sim/device/host_device.hpp>
#include <draftproof/sim/token.hpp>
#include <draftproof/verifiers/ladder/bins.hpp>
#include <draftproof/verifiers/ladder/race_bins.hpp>

namespace draftproof {

/// f for a fixed number of drafts.
template <class Scalar>
class FixedCoverage {
 public:
  DRAFTPROOF_DEVICE explicit FixedCoverage(int drafts) : drafts_{drafts} {}

  DRAFTPROOF_DEVICE Scalar none(const Scalar& a) const {
    Scalar power{1};
    for (int k = 0; k < drafts_; ++k) power *= a;
    return power;
  }
  DRAFTPROOF_DEVICE Scalar chord(const Scalar& a, const Scalar& b) const {
    Scalar sum{1}, power{1};
    for (int degree = 1; degree < drafts_; ++degree) {
      power *= b;
      sum = a * sum + power;
    }
    return sum;
  }
  DRAFTPROOF_DEVICE Scalar bend(const Scalar& a, const Scalar& b, const Scalar& c) const {
    if (drafts_ < 2) return Scalar{0};
    Scalar three{1}, two{1}, power{1};
    for (int degree = 1; degree < drafts_ - 1; ++degree) {
      power *= c;
      two = b * two + power;
      three = a * three + two;
    }
    return three;
  }

 private:
  int drafts_;
};

/// f for a random number of drafts, m with probability `distribution`[m - 1], m = 1 .. K; the distribution sums to 1
/// and must outlive this. Loops are not unrolled on a device, to save registers in the sweep.
template <class Scalar, class List = std::vector<Scalar>>
class MixedCoverage {
 public:
  static constexpr bool many_terms = true;  ///< described in level_sweep.hpp

  DRAFTPROOF_DEVICE explicit MixedCoverage(const List& distribution) : distribution_{distribution} {}

  DRAFTPROOF_DEVICE Scalar none(const Scalar& a) const {
    Scalar mean{0};
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
    for (std::size_t m = distribution_.size(); m-- > 0;) mean = a * (distribution_[m] + mean);
    return mean;
  }
  DRAFTPROOF_DEVICE Scalar chord(const Scalar& a, const Scalar& b) const {
    Scalar sum{1}, power{1}, mean = distribution_[0];
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
    for (std::size_t degree = 1; degree < distribution_.size(); ++degree) {
      power *= b;
      sum = a * sum + power;
      mean += distribution_[degree] * sum;
    }
    return mean;
  }
  DRAFTPROOF_DEVICE Scalar bend(const Scalar& a, const Scalar& b, const Scalar& c) const {
    if (distribution_.size() < 2) return Scalar{0};
    Scalar three{1}, two{1}, power{1}, mean = distribution_[1];
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
    for (std::size_t degree = 1; degree + 1 < distribution_.size(); ++degree) {
      power *= c;
      two = b * two + power;
      three = a * three + two;
      mean += distribution_[degree + 1] * three;
    }
    return mean;
  }

 private:
  const List& distribution_;
};

// F, the probability that K drafts without replacement hit a set of bins: the upper bound of G in their ladder.
//
//   F_i          covered(i)     probability that some draft is in the first i bins
//                chord(a, b)    (F_b - F_a) / (s_b - s_a)
//
// In fractions F follows from the probabilities of all K-subsets, for any bins. In floating point K = 2 has a closed
// form, F(H) = q(H) (1 + sum over the tokens below of q / (1 - q)); K > 2 uses a race of clocks (race_bins.hpp). On
// buckets the race runs only between the breaks that a plan keeps; F is approximate (RoughRace) until the plan has
// chosen them.
//
// Cost: O(V) for K <= 2; the number of subsets of at most K tokens in fractions; O(V K M) for a race whose integral
// has M nodes, and O(V + (heavy tokens + breaks) K M) on buckets.
// Correctness: F is concave along any order (docs/ladder.md), so every concave G below it has levels. Chords of bins
// are sums of terms of the bin's own size; on narrow bins differences of F would be rounding errors.

template <class Scalar>
class WorCoverage {
 public:
  /// F has no closed form: the sweep reads it at corners only (level_sweep.hpp).
  static constexpr bool by_place = true;

  /// F of `drafts` >= 1 drafts of the proposal of `distributions` on these bins; rough() on buckets of K > 2 drafts.
  /// Throws: std::invalid_argument for fractions of more than 64 tokens at K > 2.
  template <class L, class Bins>
  WorCoverage(const L& distributions, const Bins& bins, int drafts)
      : drafts_{drafts},
        covered_(at(bins.size()) + 1, Scalar{0}),
        mass_(at(bins.size()), Scalar{0}),
        chord_(mass_.size(), Scalar{1}) {
    if (drafts == 1) {  // F = s
      for (int i = 0; i < bins.size(); ++i) {
        covered_[at(i) + 1] = bins.proposal_below(i + 1);
        mass_[at(i)] = covered_[at(i) + 1] - covered_[at(i)];
      }
    } else if constexpr (std::is_floating_point_v<Scalar>) {
      RaceBins race(distributions, bins, drafts);
      mass_ = race.mass;
      if (drafts == 2)
        pairs(odds_of(race));
      else if (drafts > 2 && Bins::single_tokens)
        chord_ = RaceIntegral(race, drafts).chords();
      if (drafts <= 2 || Bins::single_tokens)
        ChordSums::add_up(mass_, chord_, covered_, race.decided());
      else
        covered_ = RoughRace(rough_.emplace(std::move(race)), drafts).covered();
    } else {
      Tokens tokens;
      std::vector<int> tokens_in(mass_.size(), 0);
      for (Token x = 0; x < distributions.vocabulary(); ++x)
        if (const Scalar q = distributions.proposal(x); q > Scalar{0}) {
          const int bin = ladder_bin(distributions, bins, x);
          tokens.emplace_back(bin, q);
          mass_[at(bin)] += q;
          ++tokens_in[at(bin)];
        }
      if (drafts == 2)
        pairs(odds_of(tokens));
      else if (drafts > 2)
        subsets(tokens, drafts);
      std::size_t decided = mass_.size();
      for (int left = 0; decided > 1 && (left += tokens_in[decided - 1]) < drafts;) --decided;
      ChordSums::add_up(mass_, chord_, covered_, decided);
    }
  }

  /// Whether F is approximate (RoughRace) and chord() has no values; refined() computes chords.
  bool rough() const { return rough_.has_value(); }
  /// Returns F with exact chords between neighbours of `breaks`, which range from 0 to the number of bins. Requires
  /// rough().
  template <class Breaks>
  requires std::is_floating_point_v<Scalar> WorCoverage refined(const Breaks& breaks)
  const {
    const RaceBins joined = rough_->joined(breaks);
    std::vector<double> chord = RaceIntegral(joined, drafts_).chords(), exact(joined.size() + 1);
    ChordSums::add_up(joined.mass, chord, exact, joined.decided());
    WorCoverage fine;
    fine.covered_ = covered_;
    fine.chord_.resize(mass_.size());
    for (std::size_t j = 0; j < joined.size(); ++j) {
      const int a = breaks[j], b = breaks[j + 1];
      ChordSums::refine(fine.chord_, fine.covered_, a, b, exact[j] - covered(a), exact[j + 1] - covered(b), chord[j]);
    }
    fine.joined_ = true;
    return fine;
  }

  const Scalar& covered(int i) const { return covered_[at(i)]; }
  /// Slope of F from break a to break b. In a result of refined(), a and b must be neighbours among its `breaks`.
  Scalar chord(int a, int b) const {
    return joined_ || b == a + 1 ? chord_[at(a)] : ChordSums::joined(mass_, chord_, at(a), at(b));
  }

 private:
  using Tokens = std::vector<std::pair<int, Scalar>>;  ///< bin and q

  WorCoverage() = default;

  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  /// R(G), the sum of q / (1 - q), of each bin; empty if only one token can be drafted, because F then equals the
  /// q-mass s.
  std::vector<Scalar> odds_of(const Tokens& tokens) const {
    std::vector<Scalar> odds(mass_.size(), Scalar{0});
    if (tokens.size() < 2) return {};
    for (const auto& [bin, q] : tokens) odds[at(bin)] += q / (Scalar{1} - q);
    return odds;
  }
  static std::vector<double> odds_of(const RaceBins& race) {
    if (!(race.slowest > 0)) return {};
    std::vector<double> odds(race.size(), 0);
    for (std::size_t i = 0; i < odds.size(); ++i) {
      const LightSums light = race.light_sums(i);
      for (std::size_t m = RaceBins::powers; m > 0; --m) odds[i] += light.of[m];
      for (std::size_t x = race.first_heavy[i]; x < race.first_heavy[i + 1]; ++x)
        odds[i] += ChordSums::odds(race.heavy[x], race.slowest, race.imprecise);
    }
    return odds;
  }

  void pairs(const std::vector<Scalar>& odds) {
    if (!odds.empty()) ChordSums::pairs(mass_, odds, chord_);
  }

  /// Computes chords by enumeration: grows the drafted set by one token at a time, with its probability, then sums
  /// the K-sets by their highest bin.
  void subsets(const Tokens& tokens, int drafts) {
    if (tokens.size() > 64)
      throw std::invalid_argument("drafts without replacement in fractions: more than 64 tokens");
    struct Drawn {
      Scalar probability{0}, mass{0};
      int highest = 0;
    };
    std::unordered_map<std::uint64_t, Drawn> sets{{0, {Scalar{1}, Scalar{0}, static_cast<int>(mass_.size())}}};
    for (int k = 0; k < drafts && at(k) < tokens.size(); ++k) {
      std::unordered_map<std::uint64_t, Drawn> grown;
      for (const auto& [set, drawn] : sets)
        for (std::size_t x = 0; x < tokens.size(); ++x) {
          if ((set >> x & 1) != 0) continue;
          const auto& [bin, q] = tokens[x];
          Drawn& next = grown[set | std::uint64_t{1} << x];
          next.probability += drawn.probability * q / (Scalar{1} - drawn.mass);
          next.mass = drawn.mass + q;
          next.highest = bin < drawn.highest ? bin : drawn.highest;
        }
      sets = std::move(grown);
    }
    std::vector<Scalar> first(mass_.size(), Scalar{0});  // probability that the highest drafted bin is i
    for (const auto& [set, drawn] : sets) first[at(drawn.highest)] += drawn.probability;
    for (std::size_t i = 0; i < mass_.size(); ++i) chord_[i] = first[i] / mass_[i];
  }

  int drafts_ = 0;
  bool joined_ = false;  ///< whether all bins between two neighbouring breaks have the same chord
  std::optional<RaceBins> rough_;
  std::vector<Scalar> covered_, mass_, chord_;
};

}  // namespace draftproof
