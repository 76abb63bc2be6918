// The rungs that ladders on paths work on. Long tables are grouped by p / q, as fresh rows are: a plan a prefix is
// made for one passage or two, and a sweep over every token would be most of its cost.
//
//   n                ranking.size()         tokens with q > 0; as many as few_tokens stay single
//   spread           (r_a - r_b) q(a..b)    of ranks a .. b of one group: at most least_spread. A group loses less
//                                           acceptance than that, single tokens none
//   ladder_rungs(laws), ladder_rung(laws, rungs, x)     rungs of any laws, and the one that token x is in
//
// Cost: one walk of the ranking a context, then shared by all prefixes that lead there. Right because groups are
// stretches of the ranking, so their masses are differences of exact sums.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include <draftproof/sim/token.hpp>
#include <draftproof/sim/token_ranking.hpp>

namespace draftproof {

/// Laws that keep exact sums along their ranking.
template <class L>
concept RankedBySums = Ranked<L> && requires(const L& laws) {
  laws.exact_prefix();
};

/// Tokens of rows so short that every plan is made, and for single tokens.
inline constexpr int few_tokens = 64;

template <RankedBySums L>
class RankedRungs {
 public:
  static constexpr bool single_tokens = false;
  static constexpr double least_spread = 0x1p-14;

  explicit RankedRungs(const L& laws) : rung_(static_cast<std::size_t>(laws.vocabulary()), -1) {
    const auto ranking = laws.ranking();
    const int n = ranking.size();
    const double allowed = n > few_tokens ? least_spread : 0;
    target_.push_back(ranking.undraftable());
    proposal_.push_back(0);
    for (int first = 0, last; first < n; first = last) {
      last = first + 1;
      while (last < n && (ranking.ratio(first) - ranking.ratio(last)) * ranking.proposal(first, last + 1) < allowed)
        ++last;
      for (int j = first; j < last; ++j) rung_[static_cast<std::size_t>(ranking.token(j))] = size();
      target_.push_back(ranking.undraftable() + ranking.target(0, last));
      proposal_.push_back(ranking.proposal(0, last));
      ratio_.push_back(last == first + 1 ? ranking.ratio(first)
                                         : ranking.target(first, last) / ranking.proposal(first, last));
    }
  }

  int size() const { return static_cast<int>(ratio_.size()); }
  double target_below(int i) const { return target_[static_cast<std::size_t>(i)]; }
  double proposal_below(int i) const { return proposal_[static_cast<std::size_t>(i)]; }
  const std::vector<double>& ratios() const { return ratio_; }
  int of(Token x) const { return rung_[static_cast<std::size_t>(x)]; }

 private:
  std::vector<int> rung_;
  std::vector<double> target_, proposal_, ratio_;
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
    return rungs.of(x);
  else
    return laws.rung(rungs, x);
}

}  // namespace draftproof
