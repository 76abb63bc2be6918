// Three kinds of ladder bins that ratio_bins.hpp does not have: OrderedBins of tokens in a given order, RestBuckets
// of the tokens with q = 0, and RankedBins on paths.
//
// RankedBins: on paths, long tables are grouped into bins of similar p / q, as fresh rows are, because a plan for one
// prefix is used for one or two outputs, and a sweep over every token would be most of its cost.
//
//   n                                    number of bins, size(); at most few_tokens tokens stay single
//   spread                               (r_a - r_b) q(a..b) of a bin with ranks a .. b, r = p / q: at most
//                                        least_spread, which bounds the acceptance lost; single tokens lose none
//   ladder_bins(distributions, coarse)   bins of any distributions
//   ladder_bin(distributions, bins, x)   the bin of token x
//
// Cost: O(n log V) once for the distributions, shared by all prefixes that lead to them; O(1) expected for the bin of
// a token.
// Correctness: bins are ranges of the ranking, so their masses are differences of exact sums.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include <draftproof/sim/device/cooperative_memory.hpp>
#include <draftproof/sim/distributions/ratio_bins.hpp>
#include <draftproof/sim/numeric/exp.hpp>
#include <draftproof/sim/numeric/fixed_point.hpp>
#include <draftproof/sim/numeric/ratio_buckets.hpp>
#include <draftproof/sim/position.hpp>
#include <draftproof/sim/sampling/guide_table.hpp>
#include <draftproof/sim/token.hpp>

namespace draftproof {

/// Returns the first i in [first, end) with before(i) false, or `end`. Requires: first <= end, and `before` is true
/// up to some i and false from there on.
template <class Before>
int first_place(int first, int end, const Before& before) {
  const auto of_place = [&before](std::size_t i) { return before(static_cast<int>(i)); };
  return static_cast<int>(bisected(static_cast<std::size_t>(first), static_cast<std::size_t>(end - first), of_place));
}

/// Distributions that keep exact sums along their ranking.
template <class L>
concept RankedBySums = Ranked<L> && requires(const L& distributions) {
  distributions.exact_prefix();
};

/// Vocabularies of at most this size get one bin per token, and no plan is omitted on them because of its cost.
inline constexpr int few_tokens = 64;

/// Bins along the ranking of a table. Only one thread may use an object, because of() caches its result.
template <RankedBySums L>
class RankedBins {
 public:
  static constexpr bool single_tokens = false;
  static constexpr double least_spread = 0x1p-14;

  /// Keeps references into `distributions`, which must outlive this.
  explicit RankedBins(const L& distributions, double spread = least_spread) : ranking_{distributions.ranking()} {
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

  /// A bin: p / q of its first and of its last token, and the p- and q-mass of the bin.
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
    // If ratios on both sides of a break are equal, the rank of the token determines its bin.
    const auto after = std::upper_bound(first_.begin(), first_.end(), ranking_.of(x));
    return static_cast<int>(after - first_.begin()) - 1;
  }
  /// Returns the first rank after `first` for which `joins` is false. Along the ranking ratios never rise and masses
  /// never fall, even when rounded, so `joins` is false for all later ranks too and a search finds it.
  template <class Joins>
  int end_of_group(int first, Joins joins) const {
    const int n = ranking_.size();
    int low = first, step = 1;  // last rank known to join
    while (low + step < n && joins(low + step)) {
      low += step;
      step *= 2;
    }
    return first_place(low + 1, std::min(low + step, n), joins);  // joins(low + step) is false, or the ranking ends
  }

  decltype(std::declval<const L&>().ranking()) ranking_;
  std::vector<int> first_;
  std::vector<double> target_, proposal_, ratio_, lowest_;
  std::vector<Stretch> stretches_;
  RatioGuide guide_;  ///< over lowest_
  mutable std::array<Known, 256> known_;
};

/// Bins of one token or of neighbouring tokens in a given order, with the sums that a plan reads
/// (sim/distributions/ratio_bins.hpp).
template <class Scalar>
class OrderedBins {
 public:
  /// Starts with the p-mass of the tokens that no proposal can draw.
  OrderedBins(std::size_t vocabulary, Scalar undraftable)
      : bin_(vocabulary, -1), target_{undraftable}, proposal_{Scalar{0}} {}

  /// Adds the next token: to the last bin while that bin has less than `least` of both masses, otherwise to a new bin.
  void add(Token x, const Scalar& p, const Scalar& r, double least) {
    const std::size_t n = ratio_.size();
    const bool joins = least > 0 && n > 0 && target_[n] - target_[n - 1] < Scalar(least) &&
                       proposal_[n] - proposal_[n - 1] < Scalar(least);
    if (!joins) {
      target_.push_back(target_.back());
      proposal_.push_back(proposal_.back());
      ratio_.push_back(p / r);
    }
    target_.back() += p;
    proposal_.back() += r;
    if (joins) ratio_.back() = (target_[n] - target_[n - 1]) / (proposal_[n] - proposal_[n - 1]);
    bin_[static_cast<std::size_t>(x)] = size() - 1;
  }

  /// Adds a last bin of unbounded width: the tokens that are drafted in every trial, with the rest of p.
  void add_certain() {
    target_.push_back(Scalar{1});
    proposal_.push_back(proposal_.back() + Scalar{1});
    ratio_.push_back(Scalar{0});
  }

  int size() const { return static_cast<int>(ratio_.size()); }
  /// Index of the last bin.
  int outside() const { return size() - 1; }
  const Scalar& target_below(int i) const { return target_[static_cast<std::size_t>(i)]; }
  const Scalar& proposal_below(int i) const { return proposal_[static_cast<std::size_t>(i)]; }
  const std::vector<Scalar>& ratios() const { return ratio_; }
  /// Bin of token x; -1 if x was not added.
  int of(Token x) const { return bin_[static_cast<std::size_t>(x)]; }

 private:
  std::vector<int> bin_;
  std::vector<Scalar> target_, proposal_, ratio_;
};

/// Bins for positions where q runs out (uniform_rest.hpp): buckets of p for the tokens outside the support S of q,
/// then one bin for S. A bucket spans two RatioBuckets of p times a power of two near 16 V. Sums of p are integers.
template <class Workspace>
class RestBuckets {
 public:
  static constexpr bool open_end = true;
  static constexpr double least_spread = 0x1p-14;

  /// `support` has the n tokens of S. All threads of a team construct the object together, before the other lists of
  /// their plan.
  template <class L>
  [[gnu::noinline]] DRAFTPROOF_DEVICE RestBuckets(const Workspace& workspace, const L& distributions,
                                                  const Token* support, int n)
      : bin_(workspace.template persistent<typename Workspace::Index>(count)),
        below_(workspace.template persistent<double>(count + 1)),
        target_(workspace.template scratch<double>(count + 1)),
        ratio_(workspace.template scratch<double>(count)),
        bucket_(workspace.template scratch<typename Workspace::Index>(count)) {
    scale_ = 0x1p4;
    for (int tokens = 1; tokens < distributions.vocabulary(); tokens *= 2) scale_ *= 2;
    const auto term = [this, &distributions, support, n](Token x) {
      return Term{among(x, support, n) ? count - 1 : place(distributions.target(x)),
                  to_fixed(distributions.target(x)), 1};
    };
    if constexpr (PlannedByTeam<L>) {
      const unsigned mark = workspace.brief_so_far();
      fill(workspace, distributions.sums_by_place(count, term));
      workspace.end_brief_after(mark);
    } else {
      std::vector<Fixed> sums(2 * static_cast<std::size_t>(count), 0);
      for (Token x = 0; x < distributions.vocabulary(); ++x) {
        const Term one = term(x);
        sums[2 * static_cast<std::size_t>(one.place)] += one.first;
        sums[2 * static_cast<std::size_t>(one.place) + 1] += one.second;
      }
      if constexpr (requires { distributions.count_visited(sums.size()); })
        distributions.count_visited(static_cast<std::size_t>(distributions.vocabulary()));
      fill(workspace, sums);
    }
  }

  DRAFTPROOF_DEVICE int size() const { return static_cast<int>(ratio_.size()); }
  /// The bin of S.
  DRAFTPROOF_DEVICE int outside() const { return size() - 1; }
  DRAFTPROOF_DEVICE double target_below(int i) const { return target_[at(i)]; }
  DRAFTPROOF_DEVICE double proposal_below(int i) const { return below_[at(i)]; }
  DRAFTPROOF_DEVICE const ListIn<Workspace, double>& tokens_below() const { return below_; }
  DRAFTPROOF_DEVICE const ListIn<Workspace, double>& ratios() const { return ratio_; }
  /// Bounds of p over the tokens of a bin; for S both are its p-mass.
  DRAFTPROOF_DEVICE double highest(int i) const {
    if (i == outside()) return target_[at(i + 1)] - target_[at(i)];
    return RatioBuckets::end(2 * static_cast<int>(bucket_[at(i)]) + 1) / scale_;
  }
  DRAFTPROOF_DEVICE double lowest(int i) const {
    if (i == outside()) return highest(i);
    const int pair = static_cast<int>(bucket_[at(i)]);
    return (pair == 1 ? 0 : RatioBuckets::begin(2 * pair)) / scale_;
  }
  /// The bin of a token outside S with this p.
  DRAFTPROOF_DEVICE int of(double target) const { return static_cast<int>(bin_[at(place(target))]); }

 private:
  /// Number of slots that may become bins: pairs of buckets, the highest first, then S.
  static constexpr int count = RatioBuckets::count / 2;
  struct Term {
    int place;
    Fixed first, second;
  };

  DRAFTPROOF_DEVICE static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  DRAFTPROOF_DEVICE int place(double target) const {
    const int pair = static_cast<int>(RatioBuckets::of(static_cast<float>(target * scale_))) / 2;
    return count - 1 - (pair < 1 ? 1 : pair);
  }

  /// Makes a bin of each slot that has tokens.
  template <class Sums>
  DRAFTPROOF_DEVICE void fill(const Workspace& workspace, const Sums& sums) {
    workspace.once([&] {
      Fixed above = 0, tokens = 0;
      int bins = 0;
      for (int i = 0; i < count; ++i) {
        const Fixed own = sums[2 * at(i)], its_tokens = i == count - 1 ? 1 : sums[2 * at(i) + 1];
        bin_[at(i)] = static_cast<typename Workspace::Index>(bins);
        if (its_tokens == 0) continue;
        target_[at(bins)] = from_fixed(above);
        below_[at(bins)] = static_cast<double>(tokens);
        ratio_[at(bins)] = i == count - 1 ? 0 : from_fixed(own) / static_cast<double>(its_tokens);
        bucket_[at(bins)] = static_cast<typename Workspace::Index>(count - 1 - i);
        above += own;
        tokens += its_tokens;
        ++bins;
      }
      target_[at(bins)] = 1;
      below_[at(bins)] = static_cast<double>(tokens);
    });
    // The last slot is S, whose bin is the last bin.
    const int bins = static_cast<int>(bin_[at(count - 1)]) + 1;
    if constexpr (requires { workspace.meet(); }) workspace.meet();  // waits until all threads have read bin_
    target_.resize(at(bins + 1));
    below_.resize(at(bins + 1));
    ratio_.resize(at(bins));
    bucket_.resize(at(bins));
  }

  double scale_ = 1;
  ListIn<Workspace, typename Workspace::Index> bin_;
  ListIn<Workspace, double> below_, target_, ratio_;
  ListIn<Workspace, typename Workspace::Index> bucket_;
};

/// Spread of coarse bins, used where two paths are rarely together: there the distribution p_I of the selected draft
/// is near q for any levels, so that coarse bins lose little acceptance (docs/ladder.md).
inline constexpr double coarse_spread = 0x1p-10;

/// Returns the bins of `distributions` for a ladder on paths; if `coarse` is true, their spread is coarse_spread.
template <class L>
DRAFTPROOF_DEVICE auto ladder_bins(const L& distributions, bool coarse) {
  if constexpr (RankedBySums<L>) {
    return RankedBins<L>(distributions, coarse ? coarse_spread : RankedBins<L>::least_spread);
  } else {
    auto bins = distributions.bins();
    if constexpr (requires { bins.least_spread = coarse_spread; })
      if (coarse) bins.least_spread = coarse_spread;
    return bins;
  }
}
template <class L>
using LadderBins = decltype(ladder_bins(std::declval<const L&>(), false));

/// Returns the bin of token x in `bins`, the bins of `distributions`.
template <class L, class Bins>
DRAFTPROOF_DEVICE int ladder_bin(const L& distributions, const Bins& bins, Token x) {
  if constexpr (RankedBySums<L>)
    return bins.of(x);
  else
    return distributions.bin(bins, x);
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
