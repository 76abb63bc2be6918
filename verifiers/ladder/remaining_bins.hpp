// The proposal q restricted to the bins below a break, without some tokens: its mass and draws from it. The choice
// among drafts without replacement draws from it (group_choice.hpp).
//
//   mass()        q-mass
//   draw(word)    a token, proportional to q
//
// Cost: for n tokens left out O(n), and O(n + log V) per draw, if the distributions keep sums along their ranking. On
// fresh rows a draw is a pass in wide registers; the mass is computed in O(n) if at least a sixteenth of the bins' mass
// is left. In all other cases O(V).
// Correctness: if all tokens are left out, the mass is exactly 0, because sums are of integers, or because terms of
// tokens that are left out are never added.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <draftproof/sim/device/cooperative_memory.hpp>
#include <draftproof/sim/numeric/exp.hpp>
#include <draftproof/sim/numeric/fixed_point.hpp>
#include <draftproof/sim/numeric/ratio_buckets.hpp>
#include <draftproof/sim/position.hpp>
#include <draftproof/sim/random/tape.hpp>
#include <draftproof/sim/random/uniform_source.hpp>
#include <draftproof/sim/sampling/weights.hpp>
#include <draftproof/sim/token.hpp>
#include <draftproof/verifiers/ladder/bins.hpp>
#include <draftproof/verifiers/ladder/residual.hpp>

namespace draftproof {

/// Makes passes over the tokens; on a device all threads of the team make them together and add the same integers as
/// FreshRows. The constructor's arguments must outlive the object.
/// `seen`: n distinct tokens of bins from `first` on; `all`, which only a team reads: the mass of these bins.
template <class L, class Bins>
class RemainingBins {
 public:
  using Scalar = typename L::Scalar;

  DRAFTPROOF_DEVICE RemainingBins(const L& distributions, const Bins& bins, int first, const Token* seen, int n,
                                  Scalar all = Scalar{0})
      : distributions_{distributions}, bins_{bins}, first_{first}, seen_{seen}, n_{n}, all_{all} {}

  DRAFTPROOF_DEVICE Scalar mass() const {
    if constexpr (PlannedByTeam<L>) {
      Scalar left = all_;
      for (int i = 0; i < n_; ++i) left -= distributions_.proposal(seen_[i]);
      if (left >= all_ * 0x1p-4) return left;
    }
    return distributions_.sum(Left{this});
  }
  DRAFTPROOF_DEVICE Token draw(std::uint64_t word) const { return distributions_.weights(Left{this}).draw(word); }
  template <class Visit>
  DRAFTPROOF_DEVICE void for_each(Visit visit) const {
    distributions_.weights(Left{this}).for_each(visit);
  }
  template <class Visit>
  void for_each_realised(Visit visit) const {
    visit_realised(distributions_.weights(Left{this}), visit);
  }

 private:
  struct Left {
    const RemainingBins* of;
    DRAFTPROOF_DEVICE Scalar operator()(Token x) const {
      const auto& q = of->distributions_.proposal(x);
      const bool left = q > of->distributions_.zero() &&
                        !(ladder_bin(of->distributions_, of->bins_, x) < of->first_) && !among(x, of->seen_, of->n_);
      return left ? Scalar(q) : of->distributions_.zero();
    }
  };

  const L& distributions_;
  const Bins& bins_;
  int first_;
  const Token* seen_;
  int n_;
  Scalar all_;
};

/// The form for buckets of fresh rows. It uses the residual (0 p - slope q)+ with slope -1 on the bins from `first` on
/// and 0 before them, which equals q on the bins from `first` on.
template <ShowsRows L, class Bins>
requires(!Bins::single_tokens) class RemainingBins<L, Bins> {
 public:
  RemainingBins(const L& distributions, const Bins& bins, int first, const Token* seen, int n)
      : distributions_{distributions},
        bins_{bins},
        first_{first},
        seen_{seen},
        n_{n},
        slope_(static_cast<std::size_t>(bins.size()), 0.0),
        weights_(distributions, bins, slope_, 0.0) {
    std::fill(slope_.begin() + first, slope_.end(), -1.0);
    weights_.leave_out(seen, n);
  }
  RemainingBins(const RemainingBins&) = delete;
  RemainingBins& operator=(const RemainingBins&) = delete;

  double mass() const {  // by subtraction, unless the difference loses more than four bits
    const double all = bins_.proposal_below(bins_.size()) - bins_.proposal_below(first_);
    double left = all;
    for (int i = 0; i < n_; ++i) left -= distributions_.proposal(seen_[i]);
    return left >= all * 0x1p-4 ? left : weights_.total();
  }
  Token draw(std::uint64_t word) const { return weights_.draw(word); }
  template <class Visit>
  void for_each(Visit visit) const {
    weights_.for_each(visit);
  }
  template <class Visit>
  void for_each_realised(Visit visit) const {
    weights_.for_each_realised(visit);
  }

 private:
  const L& distributions_;
  const Bins& bins_;
  int first_;
  const Token* seen_;
  int n_;
  std::vector<double> slope_;
  LadderLeft<L, Bins> weights_;
};

/// The form for rows with a ranking and exact prefix sums; bins are ranges of the ranking, or single tokens.
template <RankedBySums L, class Bins>
class RemainingBins<L, Bins> {
 public:
  RemainingBins(const L& distributions, const Bins& bins, int first, const Token* seen, int n)
      : distributions_{distributions}, ranking_{distributions.ranking()}, first_{first_rank(bins, first)}, n_{n} {
    for (int i = 0; i < n; ++i) rank_[static_cast<std::size_t>(i)] = rank_of(bins, seen[i]);
    std::sort(rank_.begin(), rank_.begin() + n);
  }

  double mass() const { return static_cast<double>(left()) * unit; }
  Token draw(std::uint64_t word) const {
    if (left() == 0) return no_token;
    // Converts a position in the mass that is left to a position in the whole mass: adds the mass of each token left
    // out before it.
    std::uint64_t place = below(first_) + scale(word, left());
    for (int i = 0; i < n_ && below(rank(i)) <= place; ++i) place += below(rank(i) + 1) - below(rank(i));
    return ranking_.token(first_place(first_ + 1, ranking_.size(), [&](int j) { return below(j) <= place; }) - 1);
  }
  template <class Visit>
  void for_each(Visit visit) const {
    for (int j = first_, i = 0; j < ranking_.size(); ++j) {
      if (i < n_ && rank(i) == j)
        ++i;
      else
        visit(ranking_.token(j), ranking_.proposal(j, j + 1));
    }
  }

 private:
  static constexpr double unit = 0x1p-62;

  static int first_rank(const Bins& bins, int bin) {
    if constexpr (Bins::single_tokens)
      return bin;
    else
      return bins.first(bin);
  }
  int rank_of(const Bins& bins, Token x) const {
    if constexpr (Bins::single_tokens)
      return bins.of(x);
    else
      return ranking_.of(x);
  }
  int rank(int i) const { return rank_[static_cast<std::size_t>(i)]; }
  /// q-mass of the ranks below j, in units of 2^-62.
  std::uint64_t below(int j) const {
    const auto sums = distributions_.exact_prefix();
    return sums[sums.size() - 1 - static_cast<std::size_t>(ranking_.size() - j)].proposal;
  }
  std::uint64_t left() const {
    std::uint64_t sum = below(ranking_.size()) - below(first_);
    for (int i = 0; i < n_; ++i) sum -= below(rank(i) + 1) - below(rank(i));
    return sum;
  }

  using Ranking = decltype(std::declval<const L&>().ranking());

  const L& distributions_;
  Ranking ranking_;
  int first_, n_;
  std::array<int, 2 * max_drafts> rank_{};
};

}  // namespace draftproof
