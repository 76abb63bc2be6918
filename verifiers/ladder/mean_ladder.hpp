// Selection of one of K drafts from different proposals by groups and levels of bins, ordered by the ratio of the
// target to the mean proposal. Its distribution is known for any V.
//
//   r                                    mean of the proposals
//   bins           bin(x)                tokens by p / r descending; of several proposals at most 2^13 bins of
//                                        neighbours; on fresh rows buckets of p / r
//   F_i            covered(i)            1 - product of below[k][i]: the probability that some draft is in the
//                                        first i bins
//   c_i            levels                level of the break below bin i, for G = P - M with this F (plan.hpp)
//   w              orders                mixture with orders of the bins, for different proposals (order_mixture.hpp)
//   p_I(x)         distribution(x)       sum over k of q_k(x) slope[k][bin]
//                  within(tokens)        the part of it from tuples whose drafts are all among few tokens
//
// Selection: as in ladder.hpp. The group that holds the highest drafted p / r is taken, and one of the drafts in it
// is chosen uniformly; or, with some probability, the draft of the best rank in an order of the bins.
// Cost: once per (p, q, K) O(V log V), and K slopes for each of 2 n groups, for n bins; O(K) per trial.
// Acceptance: the optimum for one proposal and single tokens. It can be lower for different proposals: the least cut
// may not be a prefix of any order, F may not be concave along the order by p / r, and the distribution of a group's
// drafts may not be proportional to r.
// Correctness: p_I is computed from the levels, so the scheme is lossless for any levels (level_sweep.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include <draftproof/sim/position.hpp>
#include <draftproof/verifiers/ladder/bins.hpp>
#include <draftproof/verifiers/ladder/group_choice.hpp>
#include <draftproof/verifiers/ladder/levels.hpp>
#include <draftproof/verifiers/ladder/order_mixture.hpp>
#include <draftproof/verifiers/ladder/plan.hpp>

namespace draftproof {

/// F of independent drafts, from the masses of each proposal in the bins and below the breaks. Chords are sums of
/// positive terms of the bins' own size; on narrow bins differences of F would be rounding errors.
template <class Scalar>
class ProductCoverage {
 public:
  static constexpr bool by_place = true;

  /// `own` and `below` must outlive this. With fewer rows than drafts the last row stands for all further drafts.
  ProductCoverage(const ProposalRows<Scalar>& own, const ProposalRows<Scalar>& below, int drafts)
      : own_{own}, below_{below}, drafts_{drafts} {}

  Scalar covered(int i) const {
    if (i == 0) return Scalar{0};
    Scalar none{1};
    for (int k = 0; k < drafts_; ++k) none *= row(below_, k)[static_cast<std::size_t>(i)];
    return Scalar{1} - none;
  }
  /// Slope of F over the mass of r, from break a to break b.
  Scalar chord(int a, int b) const {
    const auto first = static_cast<std::size_t>(a), end = static_cast<std::size_t>(b);
    Scalar rise{0}, width{0}, missed{1};  // missed: Pr(no draft before k is above break b)
    for (int k = 0; k < drafts_; ++k) {
      Scalar term = missed, mass{0};
      for (std::size_t i = first; i < end; ++i) mass += row(own_, k)[i];
      for (int l = k + 1; l < drafts_; ++l) term *= row(below_, l)[first];
      rise += term * mass;
      width += mass;
      missed *= row(below_, k)[end];
    }
    return width > Scalar{0} ? Scalar(rise * Scalar(drafts_) / width) : Scalar{0};
  }

 private:
  static const std::vector<Scalar>& row(const ProposalRows<Scalar>& rows, int k) {
    return rows[std::min(static_cast<std::size_t>(k), rows.size() - 1)];
  }
  const ProposalRows<Scalar>&own_, &below_;
  int drafts_;
};

template <class L>
class MeanLadder {
 public:
  using Scalar = typename L::Scalar;
  using Bins = std::conditional_t<FreshDistributions<L>, BucketBins, OrderedBins<Scalar>>;

  /// Largest number of orders in a mixture. This many close most of the gap in acceptance that different proposals
  /// leave (order_mixture.hpp).
  static constexpr int most_orders = 8;

  /// `proposals`: K, or 1 where all drafts share one. `orders`: how many orders to mix in, at most.
  MeanLadder(const L& distributions, int drafts, int proposals, int orders)
      : drafts_{drafts}, rows_{agree(distributions, proposals) ? 1 : proposals} {
    const int rows = rows_;
    std::vector<Scalar> p, r;
    for (Token x = 0; x < distributions.vocabulary(); ++x) {
      p.push_back(distributions.target(x));
      Scalar sum{0};
      for (int k = 0; k < rows; ++k) sum += distributions.proposal(x, k);
      const Scalar mean = sum / Scalar(rows);
      r.push_back(mean > Scalar{0} ? mean : sum);  // the mean of denormals can be 0 although the token can be drafted
    }
    const Bins bins = binned(distributions, rows, p, r);
    const std::vector<Scalar> none(static_cast<std::size_t>(bins.size()), Scalar{0});
    ProposalRows<Scalar> own(static_cast<std::size_t>(rows), none);
    std::vector<Scalar> target = none;
    for (Token x = 0; x < distributions.vocabulary(); ++x) {
      const auto at = static_cast<std::size_t>(x);
      bin_.push_back(-1);
      if (!(r[at] > Scalar{0})) continue;
      if constexpr (FreshDistributions<L>)
        bin_.back() = bins.of(p[at], r[at]);
      else
        bin_.back() = bins.of(x);
      const auto i = static_cast<std::size_t>(bin_.back());
      target[i] += p[at];
      for (int k = 0; k < rows; ++k) own[static_cast<std::size_t>(k)][i] += distributions.proposal(x, k);
    }
    const auto below = sums_below(own);
    const auto plan = make_ladder_plan<Scalar>(HostWorkspace{}, bins, bins.ratios(),
                                               ProductCoverage<Scalar>(own, below, drafts), true);
    level_ = plan.level;
    if (rows == 1) {
      levels = LadderLevels<Scalar>(plan, !FreshDistributions<L>);
      slope_ = group_slopes(level_, below, drafts);
      return;
    }
    for (Scalar& level : level_) level = on_coarse_grid(level);
    levels = LadderLevels<Scalar>(level_);
    slope_ = group_slopes(level_, below, drafts);
    orders_ = search_orders(target, own, slope_, drafts, std::min(orders, bins.size() / 2));  // few bins need few
    slope_ = orders_.slopes(own, std::move(slope_), drafts);
  }

  /// Bin of x; the last bin if no proposal can draw x, as for a draft whose probability was rounded to zero.
  int bin(const auto&, Token x) const {
    const int i = bin_[static_cast<std::size_t>(x)];
    return i < 0 ? static_cast<int>(slope_.front().size()) - 1 : i;
  }
  /// Probability that the selected draft is x.
  Scalar distribution(const L& distributions, Token x) const { return weighted(distributions, x, slope_); }

  /// Returns for each of `tokens` the probability that it is selected and that all drafts are among `tokens`.
  std::vector<Scalar> within(const L& distributions, const std::vector<Token>& tokens) const {
    ProposalRows<Scalar> own(slope_.size(), std::vector<Scalar>(slope_.front().size(), Scalar{0}));
    for (const Token x : tokens)
      for (int k = 0; k < rows_; ++k)
        own[static_cast<std::size_t>(k)][static_cast<std::size_t>(bin(distributions, x))] +=
            distributions.proposal(x, k);
    const auto slope = orders_.slopes(own, group_slopes(level_, sums_below(own), drafts_), drafts_);
    std::vector<Scalar> distribution;
    for (const Token x : tokens) distribution.push_back(weighted(distributions, x, slope));
    return distribution;
  }

  /// Index of the selected draft.
  template <class P, class R>
  int select(const P& at, R& random) const {
    if (const int j = orders_.draw(random); j > 0) {
      const auto rank = [&](int k) { return orders_.rank(j, bin(at.distributions(), at.draft(k))); };
      int first[max_drafts], size = 0;  // the drafts of the best bin
      for (int k = 0; k < at.drafts(); ++k) {
        if (size > 0 && rank(k) < rank(first[0])) size = 0;
        if (size == 0 || rank(k) == rank(first[0])) first[size++] = k;
      }
      return size == 1 ? first[0] : first[random.pick(UniformIndex{size})];
    }
    return choose_in_top_group(at, *this, random);
  }

  LadderLevels<Scalar> levels;

 private:
  static bool agree(const L& distributions, int proposals) {
    for (Token x = 0; proposals > 1 && x < distributions.vocabulary(); ++x)
      for (int k = 1; k < proposals; ++k)
        if (distributions.proposal(x, k) != distributions.proposal(x, 0)) return false;
    return true;
  }

  /// Rounds a level down to a multiple of 2^-20, which keeps fractions short. The loss of acceptance is tolerated,
  /// because with different proposals the ladder does not attain the optimum in any case.
  static Scalar on_coarse_grid(const Scalar& level) {
    return Scalar(static_cast<int>(static_cast<double>(level) * Orders::unit)) / Scalar(int{Orders::unit});
  }

  static Bins binned(const L& distributions, int rows, const std::vector<Scalar>& p, const std::vector<Scalar>& r) {
    if constexpr (FreshDistributions<L>) {
      return BucketBins(simd::RatioMasses(std::span<const Scalar>(p), std::span<const Scalar>(r)));
    } else {
      std::vector<std::pair<Scalar, Token>> order;
      Scalar undraftable{0};
      for (Token x = 0; x < distributions.vocabulary(); ++x) {
        const auto i = static_cast<std::size_t>(x);
        if (r[i] > Scalar{0})
          order.emplace_back(p[i] / r[i], x);
        else
          undraftable += p[i];
      }
      // Ids decide the order only of tokens with equal p and equal proposals, so relabelling tokens changes nothing.
      std::sort(order.begin(), order.end(), [&](const auto& a, const auto& b) {
        if (a.first != b.first) return a.first > b.first;
        for (int k = 0; k < rows; ++k)
          if (distributions.proposal(a.second, k) != distributions.proposal(b.second, k))
            return distributions.proposal(a.second, k) > distributions.proposal(b.second, k);
        return a.second < b.second;
      });
      // With one proposal, bins of single tokens reach the optimum. With several proposals no bins reach it, and fewer
      // bins make faster plans.
      const double least = rows == 1 ? 0 : 0x1p-12;
      OrderedBins<Scalar> bins(p.size(), undraftable);
      for (const auto& [ratio, x] : order)
        bins.add(x, p[static_cast<std::size_t>(x)], r[static_cast<std::size_t>(x)], least);
      return bins;
    }
  }

  Scalar weighted(const L& distributions, Token x, const ProposalRows<Scalar>& slope) const {
    const int i = bin_[static_cast<std::size_t>(x)];
    Scalar sum{0};
    if (i < 0) return sum;
    for (int k = 0; k < rows_; ++k)
      sum += distributions.proposal(x, k) * slope[static_cast<std::size_t>(k)][static_cast<std::size_t>(i)];
    return rows_ == drafts_ ? sum : Scalar(sum * Scalar(drafts_));
  }

  int drafts_, rows_;
  std::vector<int> bin_;  ///< -1 if no proposal can draw the token
  ProposalRows<Scalar> slope_;
  std::vector<Scalar> level_;
  Orders orders_;
};

}  // namespace draftproof
