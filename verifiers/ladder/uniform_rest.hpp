// The ladder for drafts without replacement where q has fewer tokens than drafts and the drafter continues uniformly:
// the drafts are the support S of q and k tokens of the rest R, every set of k with the same probability.
//
//   r         number of tokens in R
//   bins      R by p descending, one token each, or on fresh rows and on a device in buckets of p (RestBuckets); then
//             S, one bin of unbounded width
//   s_i       number of tokens of R in the first i bins
//   F_i       1 - C(r - s_i, k) / C(r, k)          probability that some draft lies in the first i bins; 1 with S
//   p_I       slope of its bin on R, p on S        distribution of the selected token
//
// Selection: levels and groups as in ladder.hpp. If S is in the group, a token of S is drawn from p, which is
// accepted; else the group's first draft is tested.
// Cost: a plan sorts R, O(r log r), or takes one pass and a sweep over at most 512 bins; O(K) per trial.
// Correctness: tokens of a group of R are equally likely drafts, so its first draft is uniform on it, for any bins. S
// is always drafted, so any of its tokens may be taken (docs/ladder.md).
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <draftproof/sim/sampling/weights.hpp>
#include <draftproof/sim/token.hpp>
#include <draftproof/sim/verifier.hpp>
#include <draftproof/verifiers/ladder/bins.hpp>
#include <draftproof/verifiers/ladder/levels.hpp>
#include <draftproof/verifiers/ladder/plan.hpp>

namespace draftproof {

/// Returns one bin for each token outside S, by p descending, and then one for S, whose n tokens are at `support`. A
/// token outside S has width 1.
template <class L>
OrderedBins<typename L::Scalar> rest_in_order(const L& distributions, const Token* support, int n) {
  using Scalar = typename L::Scalar;
  std::vector<Token> order;
  for (Token x = 0; x < distributions.vocabulary(); ++x)
    if (!among(x, support, n)) order.push_back(x);
  std::stable_sort(order.begin(), order.end(),
                   [&](Token x, Token y) { return distributions.target(x) > distributions.target(y); });
  OrderedBins<Scalar> bins(static_cast<std::size_t>(distributions.vocabulary()), Scalar{0});
  for (const Token x : order) bins.add(x, distributions.target(x), Scalar{1}, 0);
  bins.add_certain();
  return bins;
}

/// F of k uniform drafts without replacement among r tokens, and its chords per token.
template <class Scalar>
class RestCoverage {
 public:
  static constexpr bool by_place = true;
  static constexpr bool open_end = true;  ///< the last bin has no bounded width (level_sweep.hpp)

  RestCoverage(int r, int k) {
    Scalar missed{1};
    covered_.push_back(Scalar{0});
    for (int i = 0; i < r; ++i) {
      const int left = r - i;
      const Scalar after = k < left ? Scalar(missed * Scalar(left - k) / Scalar(left)) : Scalar{0};
      // The chord is missed - after, computed as a product: C(left - 1, k - 1) of the C(left, k) sets that are left
      // contain the next token.
      chord_.push_back(k < left ? Scalar(missed * Scalar(k) / Scalar(left)) : missed);
      covered_.push_back(Scalar{1} - after);
      missed = after;
    }
    chord_.push_back(Scalar{0});
    covered_.push_back(Scalar{1});
  }
  const Scalar& covered(int i) const { return covered_[static_cast<std::size_t>(i)]; }
  Scalar chord(int a, int b) const {
    Scalar rise{0};
    if (b == static_cast<int>(chord_.size())) return rise;
    for (int i = a; i < b; ++i) rise += chord_[static_cast<std::size_t>(i)];
    return rise / Scalar(b - a);
  }

 private:
  std::vector<Scalar> covered_, chord_;
};

/// RestCoverage on buckets: chords are sums of products, so that nothing cancels. `below` must outlive this.
template <class List>
class RestBucketCoverage {
 public:
  static constexpr bool by_place = true, open_end = true;

  DRAFTPROOF_DEVICE RestBucketCoverage(const List& below, int drafts)
      : below_{below}, drafts_{drafts}, last_{static_cast<int>(below.size()) - 1} {
    rest_ = below[static_cast<std::size_t>(last_) - 1];
  }

  DRAFTPROOF_DEVICE double covered(int i) const { return i == last_ ? 1 : 1 - missed(left(i)); }
  DRAFTPROOF_DEVICE double chord(int a, int b) const {
    if (b == last_) return 0;
    const double from = left(a), to = left(b);
    if (to < drafts_) return missed(from) / (from - to);
    // The difference of two products as a sum: term m has its first m factors from `to`, the rest from `from`.
    double sum = 0, product = 1;
    for (int m = drafts_; m-- > 0;) {  // `product` has the factors of `from` after m
      double term = 1 / (rest_ - m);
      for (int j = 0; j < m; ++j) term *= (to - j) / (rest_ - j);
      sum += term * product;
      product *= (from - m) / (rest_ - m);
    }
    return sum;
  }

 private:
  DRAFTPROOF_DEVICE double left(int i) const { return rest_ - below_[static_cast<std::size_t>(i)]; }
  /// C(left, k) / C(r, k).
  DRAFTPROOF_DEVICE double missed(double left) const {
    if (left < drafts_) return 0;
    double product = 1;
    for (int j = 0; j < drafts_; ++j) product *= (left - j) / (rest_ - j);
    return product;
  }

  const List& below_;
  int drafts_, last_;
  double rest_;
};

/// Returns the verdict at `at`, whose first `used` drafts are S. `bin(k)`: the bin of draft k, which is outside S;
/// `selected(x)`: the probability that token x of R is selected; `refuse()` emits a token of the residual.
template <class P, class R, class Levels, class Bin, class Selected, class Refuse>
[[gnu::noinline]] DRAFTPROOF_DEVICE Verdict verify_rest(const P& at, int used, R& random, const Levels& levels,
                                                        int outside, const Bin& bin, const Selected& selected,
                                                        bool nothing_left, const Refuse& refuse) {
  int top = outside;
  for (int k = used; k < at.drafts(); ++k)
    if (const int own = bin(k); own < top) top = own;
  const auto u = levels.draw(random);
  if (levels.together(top, outside, u)) {
    const auto target = [&at](Token k) { return at.target(at.draft(k)); };
    auto inside = at.zero();
    for (int k = 0; k < used; ++k) inside += target(k);
    if (!(inside > at.zero())) return refuse();  // by rounding only, because S with p(S) = 0 is never selected
    const int chosen = random.pick(FunctionWeights(used, target));
    return accepted(at.draft(chosen), chosen);
  }
  int chosen = used;
  while (!levels.together(top, bin(chosen), u)) ++chosen;
  const Token x = at.draft(chosen);
  if (random.flip(at.target(x), selected(x))) return accepted(x, chosen);
  return nothing_left && at.target(x) > at.zero() ? accepted(x, chosen) : refuse();
}

/// The plan for one position and its verdicts. The distributions must outlive it.
template <class L>
class UniformRest {
 public:
  using Scalar = typename L::Scalar;

  /// `support`: the n < V tokens of S; `drafts`: k > 0.
  UniformRest(const L& distributions, const Token* support, int n, int drafts)
      : distributions_{distributions},
        drafts_{drafts},
        core_{std::make_shared<const Core>(distributions, support, n, drafts)},
        left_{distributions.alias_weights(Left{&distributions, core_})} {
    for (Token x = 0; x < distributions.vocabulary() && nothing_left_; ++x)
      nothing_left_ = !(left(distributions, *core_, x) > distributions.zero());
  }

  int drafts() const { return drafts_; }
  /// Probability that token x of R is selected.
  const Scalar& selected(Token x) const { return core_->plan.slope[static_cast<std::size_t>(core_->bins.of(x))]; }

  /// `at` has S as its first `used` drafts, then k others.
  template <class P, class R>
  Verdict verify(const P& at, int used, R& random) const {
    const auto& bins = core_->bins;
    return verify_rest(
        at, used, random, core_->levels, bins.outside(), [&](int k) { return bins.of(at.draft(k)); },
        [this](Token x) { return selected(x); }, nothing_left_,
        // Draws from the residual, or from p if rounding leaves no residual.
        [&] { return nothing_left_ ? random.emit(distributions_.residual(at.zero())) : random.emit(left_); });
  }

 private:
  struct Core {
    Core(const L& distributions, const Token* support, int n, int drafts)
        : bins{rest_in_order(distributions, support, n)},
          plan{make_ladder_plan<Scalar>(HostWorkspace{}, bins, bins.ratios(),
                                        RestCoverage<Scalar>(bins.outside(), drafts), false)},
          levels{plan, true} {}
    OrderedBins<Scalar> bins;
    LadderPlan<Scalar> plan;
    LadderLevels<Scalar> levels;
  };

  /// (p - p_I)+.
  static Scalar left(const L& distributions, const Core& core, Token x) {
    const int bin = core.bins.of(x);
    if (bin < 0) return distributions.zero();
    const Scalar rest = distributions.target(x) - core.plan.slope[static_cast<std::size_t>(bin)];
    return rest > distributions.zero() ? rest : distributions.zero();
  }
  struct Left {
    const L* distributions;
    std::shared_ptr<const Core> core;
    Scalar operator()(Token x) const { return left(*distributions, *core, x); }
  };

  const L& distributions_;
  int drafts_;
  std::shared_ptr<const Core> core_;
  decltype(std::declval<const L&>().alias_weights(std::declval<Left>())) left_;
  bool nothing_left_ = true;
};

/// On fresh rows and on a device the plan is made in the decision that needs it. A team's plan overwrites the
/// previous one.
template <FreshDistributions L>
class UniformRest<L> {
 public:
  /// `support` must outlive this.
  [[gnu::noinline]] DRAFTPROOF_DEVICE UniformRest(const L& distributions, const Token* support, int n, int drafts)
      : distributions_{distributions},
        support_{support},
        n_{n},
        bins_{cleared(workspace_of(distributions)), distributions, support, n},
        plan_{make_ladder_plan<double>(workspace_of(distributions), bins_, bins_.ratios(),
                                       RestBucketCoverage<Tokens>(bins_.tokens_below(), drafts), true)},
        levels_{workspace_of(distributions), plan_, false} {
    nothing_left_ = !(distributions.sum([this](Token x) { return left(x) > 0 ? 0x1p-60 : 0.0; }) > 0);
  }

  /// Probability that token x of R is selected.
  DRAFTPROOF_DEVICE double selected(Token x) const {
    return plan_.slope[static_cast<std::size_t>(bins_.of(distributions_.target(x)))];
  }

  /// `at` has S as its first `used` drafts, then k others.
  template <class P, class R>
  DRAFTPROOF_DEVICE Verdict verify(const P& at, int used, R& random) const {
    return verify_rest(
        at, used, random, levels_, bins_.outside(), [&](int k) { return bins_.of(at.target(at.draft(k))); },
        [this](Token x) { return selected(x); }, nothing_left_,
        // Draws from the residual, or from p if rounding leaves no residual.
        [&] {
          if (nothing_left_) return random.emit(distributions_.residual(at.zero()));
          return random.emit(distributions_.weights([this](Token x) { return left(x); }));
        });
  }

 private:
  using Workspace = WorkspaceOf<L>;
  using Tokens = ListIn<Workspace, double>;

  DRAFTPROOF_DEVICE static decltype(auto) cleared(const Workspace& workspace) {
    if constexpr (requires { workspace.clear(); }) workspace.clear();
    return workspace;
  }
  /// (p - p_I)+.
  DRAFTPROOF_DEVICE double left(Token x) const {
    if (among(x, support_, n_)) return 0;
    const double rest = distributions_.target(x) - selected(x);
    return rest > 0 ? rest : 0.0;
  }

  const L& distributions_;
  const Token* support_;
  int n_;
  RestBuckets<Workspace> bins_;
  LadderPlan<double, Workspace> plan_;
  LadderLevels<double, Workspace> levels_;
  bool nothing_left_ = true;
};

}  // namespace draftproof
