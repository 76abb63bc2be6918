// The bins of ladders on paths. Long tables are grouped into bins of similar p / q, as fresh rows are: a plan for one
// prefix serves one or two outputs, and a sweep over every token would be most of its cost.
//
//   n                size()                 number of bins; at most few_tokens tokens stay single
//   spread           (r_a - r_b) q(a..b)    of ranks a .. b of one bin: at most least_spread. A bin loses less
//                                           acceptance than that; single tokens lose none
//   ladder_bins(laws, coarse)               bins of any laws
//   ladder_bin(laws, bins, x)               the bin of token x
//
// Cost: O(n log V) once for the laws, shared by all prefixes that lead to them; O(1) expected for the bin of a token.
// Correctness: bins are stretches of the ranking, so their masses are differences of exact sums.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include <draftproof/sim/distributions/ratio_bins.hpp>
#include <draftproof/sim/token.hpp>

namespace draftproof {

/// Laws that keep exact sums along their ranking.
template <class L>
concept RankedBySums = Ranked<L> && requires(const L& laws) {
  laws.exact_prefix();
};

/// Vocabularies of at most this size get one bin per token, and their plans are always computed.
inline constexpr int few_tokens = 64;

/// Bins along the ranking of a table. Calls return the same for the whole life of an object; its cache makes it
/// usable by one thread only.
template <RankedBySums L>
class RankedBins {
 public:
  static constexpr bool single_tokens = false;
  static constexpr double least_spread = 0x1p-14;

  /// Refers to the laws.
  explicit RankedBins(const L& laws, double spread = least_spread) : ranking_{laws.ranking()} {
    const int n = ranking_.size();
    const double allowed = n > few_tokens ? spread : 0;
    first_.push_back(0);
    target_.push_back(ranking_.undraftable());
    proposal_.push_back(0);
    for (int first = 0, last; first < n; first = last) {
      const double highest = ranking_.ratio(first);
      last = end_of_group(
          first, [&](int j) { return (highest - ranking_.ratio(j)) * ranking_.proposal(first, j + 1) < allowed; });
      const double target = ranking_.target(first, last), proposal = ranking_.proposal(first, last);
      first_.push_back(last);
      target_.push_back(ranking_.undraftable() + ranking_.target(0, last));
      proposal_.push_back(ranking_.proposal(0, last));
      ratio_.push_back(last == first + 1 ? highest : target / proposal);
      lowest_.push_back(ranking_.ratio(last - 1));
      stretches_.push_back({highest, lowest_.back(), target, proposal});
    }
    guide_ = RatioGuide{lowest_};
  }

  /// Number of bins.
  int size() const { return static_cast<int>(ratio_.size()); }
  /// p-mass of the first i bins, tokens with q = 0 included.
  double target_below(int i) const { return target_[static_cast<std::size_t>(i)]; }
  /// q-mass of the first i bins.
  double proposal_below(int i) const { return proposal_[static_cast<std::size_t>(i)]; }
  /// p-mass over q-mass of each bin.
  const std::vector<double>& ratios() const { return ratio_; }
  /// Bin of token x. Cached, because the same few tokens are drafted again and again.
  int of(Token x) const {
    Known& known = known_[static_cast<std::size_t>(x) % known_.size()];
    if (known.token != x) known = {x, find(x)};
    return known.bin;
  }

  /// The tokens of a bin: p / q of the first and the last, and their masses.
  struct Stretch {
    double highest, lowest, target, proposal;
  };
  const Stretch& stretch(int i) const { return stretches_[static_cast<std::size_t>(i)]; }
  /// Rank of the first token of bin i; for i = n the end of the last bin.
  int first(int i) const { return first_[static_cast<std::size_t>(i)]; }
  const auto& ranking() const { return ranking_; }

 private:
  struct Known {
    Token token = no_token;
    int bin = 0;
  };
  int find(Token x) const {
    const double ratio = ranking_.ratio_of(x);
    const std::size_t bin = guide_.prefix_length(lowest_, ratio);
    if (bin + 1 == lowest_.size() || stretches_[bin + 1].highest < ratio) return static_cast<int>(bin);
    // Equal ratios on both sides of a break.
    const auto after = std::upper_bound(first_.begin(), first_.end(), ranking_.of(x));
    return static_cast<int>(after - first_.begin()) - 1;
  }
  /// The first rank after `first` for which `joins` is false. Ratios never rise along the ranking and masses never
  /// fall, even when rounded, so `joins` is false for all later ranks too and a search gives the result of a linear
  /// scan.
  template <class Joins>
  int end_of_group(int first, Joins joins) const {
    const int n = ranking_.size();
    int low = first, step = 1;  // last rank known to join
    while (low + step < n && joins(low + step)) {
      low += step;
      step *= 2;
    }
    int high = std::min(low + step, n);  // first rank known not to join, or the end
    while (high - low > 1) {
      const int middle = low + (high - low) / 2;
      (joins(middle) ? low : high) = middle;
    }
    return high;
  }

  decltype(std::declval<const L&>().ranking()) ranking_;
  std::vector<int> first_;
  std::vector<double> target_, proposal_, ratio_, lowest_;
  std::vector<Stretch> stretches_;
  RatioGuide guide_;  ///< over lowest_
  mutable std::array<Known, 256> known_;
};

/// Spread of coarse bins, used where a second path is rare: their loss is at least as rare, because p_I is near q
/// there for any levels. Measured in docs/ladder.md.
inline constexpr double coarse_spread = 0x1p-10;

/// Bins of these laws for a ladder on paths; `coarse` takes coarse_spread.
template <class L>
DRAFTPROOF_DEVICE auto ladder_bins(const L& laws, bool coarse) {
  if constexpr (RankedBySums<L>) {
    return RankedBins<L>(laws, coarse ? coarse_spread : RankedBins<L>::least_spread);
  } else {
    auto bins = laws.bins();
    if constexpr (requires { bins.least_spread = coarse_spread; })
      if (coarse) bins.least_spread = coarse_spread;
    return bins;
  }
}
template <class L>
using LadderBins = decltype(ladder_bins(std::declval<const L&>(), false));

/// The bin of token x in the bins of these laws.
template <class L, class Bins>
DRAFTPROOF_DEVICE int ladder_bin(const L& laws, const Bins& bins, Token x) {
  if constexpr (RankedBySums<L>)
    return bins.of(x);
  else
    return laws.bin(bins, x);
}

/// The optional bins of one node.
template <class Bins>
class OwnBins {
 public:
  OwnBins() = default;
  DRAFTPROOF_DEVICE OwnBins(const Bins& bins) : bins_{bins}, there_{true} {}

  DRAFTPROOF_DEVICE explicit operator bool() const { return there_; }
  DRAFTPROOF_DEVICE const Bins& operator*() const { return bins_; }
  DRAFTPROOF_DEVICE const Bins* operator->() const { return &bins_; }

 private:
  Bins bins_;
  bool there_ = false;
};

}  // namespace draftproof
