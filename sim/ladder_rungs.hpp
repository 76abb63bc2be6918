// The rungs that ladders on paths work on. Tables of long rows are grouped by p / q, as fresh rows are: a plan a
// prefix is made for one passage or two, and a sweep over every token would be most of its cost.
//
//   n                ranking.size()      tokens with q > 0
//   few              n <= few            as many stay single: their plan is that of single tokens
//   h_i, l_i         highest(i), lowest(i)   p / q of the first and the last token of group i
//   ladder_rungs(laws), ladder_rung(laws, rungs, x)     rungs of any laws, and the one that token x is in
//
// Cost: one walk of the ranking a context, then shared by all prefixes that lead there. Right because groups are
// stretches of the ranking, so their masses are differences of exact sums.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include <draftproof/sim/ratio_buckets.hpp>
#include <draftproof/sim/token.hpp>
#include <draftproof/sim/token_ranking.hpp>

namespace draftproof {

/// Laws that keep exact sums along their ranking.
template <class L>
concept RankedBySums = Ranked<L> && requires(const L& laws) {
  laws.exact_prefix();
};

template <RankedBySums L>
class RankedRungs {
 public:
  static constexpr bool single_tokens = false;
  static constexpr double least_spread = 0x1p-16;
  static constexpr int few = 64;

  /// Refers to `laws`.
  explicit RankedRungs(const L& laws) : ranking_{laws.ranking()}, grouped_{ranking_.size() > few} {
    const int n = ranking_.size();
    if (grouped_) rung_.resize(RatioBuckets::count);
    target_.push_back(ranking_.undraftable());
    proposal_.push_back(0);
    std::size_t filled = RatioBuckets::count;  // buckets from here on have their rungs
    for (int first = 0, last; first < n; first = last) {
      last = first + 1;
      if (grouped_) {
        const std::size_t bucket = RatioBuckets::of(static_cast<float>(ranking_.ratio(first)));
        while (last < n && RatioBuckets::of(static_cast<float>(ranking_.ratio(last))) == bucket) ++last;
        while (filled > bucket) rung_[--filled] = size();
      }
      target_.push_back(ranking_.undraftable() + ranking_.target(0, last));
      proposal_.push_back(ranking_.proposal(0, last));
      ratio_.push_back(last == first + 1 ? ranking_.ratio(first)
                                         : ranking_.target(first, last) / ranking_.proposal(first, last));
      highest_.push_back(ranking_.ratio(first));
      lowest_.push_back(ranking_.ratio(last - 1));
    }
    while (filled > 0) rung_[--filled] = size() - 1;
  }

  int size() const { return static_cast<int>(ratio_.size()); }
  double target_below(int i) const { return target_[at(i)]; }
  double proposal_below(int i) const { return proposal_[at(i)]; }
  const std::vector<double>& ratios() const { return ratio_; }
  bool joins() const { return grouped_; }
  double highest(int i) const { return highest_[at(i)]; }
  double lowest(int i) const { return lowest_[at(i)]; }
  int of(const L& laws, Token x) const {
    return grouped_ ? rung_[RatioBuckets::of(laws.target(x), laws.proposal(x))] : ranking_.of(x);
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  decltype(std::declval<const L&>().ranking()) ranking_;
  bool grouped_;
  std::vector<int> rung_;  ///< of each bucket
  std::vector<double> target_, proposal_, ratio_, highest_, lowest_;
};

template <class L>
auto ladder_rungs(const L& laws) {
  if constexpr (RankedBySums<L>)
    return RankedRungs<L>(laws);
  else
    return laws.rungs();
}
template <class L>
using LadderRungs = decltype(ladder_rungs(std::declval<const L&>()));

template <class L>
int ladder_rung(const L& laws, const LadderRungs<L>& rungs, Token x) {
  if constexpr (RankedBySums<L>)
    return rungs.of(laws, x);
  else
    return laws.rung(rungs, x);
}

}  // namespace draftproof
