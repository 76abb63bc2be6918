// The proposal on the bins from a break on, without some tokens: its mass and draws from it. Drafts without
// replacement go on from there after the race of a trial.
//
//   mass()        q-mass
//   draw(word)    a token, proportional to q
//
// Cost: O(n) and O(n + log V) for n tokens left out where the laws keep sums along their ranking. On fresh rows a
// pass in wide registers, but for the mass, which is O(n) while a sixteenth of the bins' mass is left. Else O(V).
// Correctness: where every token is left out the mass is exactly 0: sums are integers, or terms that are left out are
// not added in the first place.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <draftproof/sim/device/cooperative_memory.hpp>
#include <draftproof/sim/position.hpp>
#include <draftproof/sim/random/realised_weights.hpp>
#include <draftproof/sim/random/uniform_source.hpp>
#include <draftproof/sim/sampling/function_weights.hpp>
#include <draftproof/sim/token.hpp>
#include <draftproof/verifiers/ladder/path_bins.hpp>
#include <draftproof/verifiers/ladder/residual.hpp>

namespace draftproof {

/// Refers to its arguments. `seen`: n distinct tokens of bins from `first` on.
template <class L, class Bins>
class RemainingBins {
 public:
  using Scalar = typename L::Scalar;

  RemainingBins(const L& laws, const Bins& bins, int first, const Token* seen, int n)
      : laws_{laws}, bins_{bins}, first_{first}, seen_{seen}, n_{n} {}

  Scalar mass() const {
    return laws_.sum([this](Token x) { return weight(x); });
  }
  Token draw(std::uint64_t word) const { return weights().draw(word); }
  template <class Visit>
  void for_each(Visit visit) const {
    weights().for_each(visit);
  }
  template <class Visit>
  void for_each_realised(Visit visit) const {
    visit_realised(weights(), visit);
  }

 private:
  Scalar weight(Token x) const {
    const auto& q = laws_.proposal(x);
    const bool left = q > laws_.zero() && !(ladder_bin(laws_, bins_, x) < first_) && !among(x, seen_, n_);
    return left ? Scalar(q) : laws_.zero();
  }
  auto weights() const {
    return laws_.weights([this](Token x) { return weight(x); });
  }

  const L& laws_;
  const Bins& bins_;
  int first_;
  const Token* seen_;
  int n_;
};

/// Buckets of fresh rows: the residual of no target and of a selected law of -q on the bins from a break on.
template <ShowsRows L, class Bins>
requires(!Bins::single_tokens) class RemainingBins<L, Bins> {
 public:
  RemainingBins(const L& laws, const Bins& bins, int first, const Token* seen, int n)
      : laws_{laws},
        bins_{bins},
        first_{first},
        seen_{seen},
        n_{n},
        slope_(static_cast<std::size_t>(bins.size()), 0.0),
        weights_(laws, bins, slope_, 0.0) {
    std::fill(slope_.begin() + first, slope_.end(), -1.0);
    weights_.leave_out(seen, n);
  }
  RemainingBins(const RemainingBins&) = delete;
  RemainingBins& operator=(const RemainingBins&) = delete;

  double mass() const {  // by subtraction while that loses at most four bits
    const double all = bins_.proposal_below(bins_.size()) - bins_.proposal_below(first_);
    double left = all;
    for (int i = 0; i < n_; ++i) left -= laws_.proposal(seen_[i]);
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
  const L& laws_;
  const Bins& bins_;
  int first_;
  const Token* seen_;
  int n_;
  std::vector<double> slope_;
  LadderLeft<L, Bins> weights_;
};

/// Buckets of rows that a team reads: the integers of FreshRows by passes of the whole team. `all`: the mass of the bins
/// from `first` on.
template <PlannedByTeam L, class Bins>
class RemainingBins<L, Bins> {
 public:
  DRAFTPROOF_DEVICE RemainingBins(const L& laws, const Bins& bins, int first, const Token* seen, int n, double all)
      : laws_{laws}, bins_{bins}, first_{first}, seen_{seen}, n_{n}, all_{all} {}

  DRAFTPROOF_DEVICE double mass() const {
    double left = all_;
    for (int i = 0; i < n_; ++i) left -= laws_.proposal(seen_[i]);
    return left >= all_ * 0x1p-4 ? left : laws_.sum(Left{this});
  }
  DRAFTPROOF_DEVICE Token draw(std::uint64_t word) const { return laws_.weights(Left{this}).draw(word); }
  template <class Visit>
  DRAFTPROOF_DEVICE void for_each(Visit visit) const {
    laws_.weights(Left{this}).for_each(visit);
  }

 private:
  struct Left {
    const RemainingBins* of;
    DRAFTPROOF_DEVICE double operator()(Token x) const {
      const double q = of->laws_.proposal(x);
      const bool left = q > 0 && of->laws_.bin(of->bins_, x) >= of->first_ && !among(x, of->seen_, of->n_);
      return left ? q : 0.0;
    }
  };

  const L& laws_;
  const Bins& bins_;
  int first_;
  const Token* seen_;
  int n_;
  double all_;
};

/// Stretches of a ranking with exact sums, or its single tokens.
template <RankedBySums L, class Bins>
class RemainingBins<L, Bins> {
 public:
  RemainingBins(const L& laws, const Bins& bins, int first, const Token* seen, int n)
      : laws_{laws}, ranking_{laws.ranking()}, first_{first_rank(bins, first)}, n_{n} {
    for (int i = 0; i < n; ++i) rank_[static_cast<std::size_t>(i)] = rank_of(bins, seen[i]);
    std::sort(rank_.begin(), rank_.begin() + n);
  }

  double mass() const { return static_cast<double>(left()) * unit; }
  Token draw(std::uint64_t word) const {
    if (left() == 0) return no_token;
    // The place among the integers of the tokens that are left; tokens left out before it push it on.
    std::uint64_t place = below(first_) + scale(word, left());
    for (int i = 0; i < n_ && below(rank(i)) <= place; ++i) place += below(rank(i) + 1) - below(rank(i));
    int low = first_, high = ranking_.size() - 1;  // last rank with below(rank) <= place
    while (low < high) {
      const int middle = low + (high - low + 1) / 2;
      if (below(middle) <= place)
        low = middle;
      else
        high = middle - 1;
    }
    return ranking_.token(low);
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
    const auto sums = laws_.exact_prefix();
    return sums[sums.size() - 1 - static_cast<std::size_t>(ranking_.size() - j)].proposal;
  }
  std::uint64_t left() const {
    std::uint64_t sum = below(ranking_.size()) - below(first_);
    for (int i = 0; i < n_; ++i) sum -= below(rank(i) + 1) - below(rank(i));
    return sum;
  }

  using Ranking = decltype(std::declval<const L&>().ranking());

  const L& laws_;
  Ranking ranking_;
  int first_, n_;
  std::array<int, 2 * max_drafts> rank_{};
};

}  // namespace draftproof
