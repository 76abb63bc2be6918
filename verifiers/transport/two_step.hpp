// The second half of two-step verification: one draft was selected by some rule, the distribution of the selected
// draft is known, and the draft is verified as a single draft of that distribution.
//
//   p_I(x)   distribution[x]         probability that the selected draft is x, over drafts and selection
//   r        residual       weights (p - p_I)+
//            nothing_left   whether r is 0 everywhere
//
// Cost: one pass for the residual, one flip per trial.
// Source: Khisti et al., arXiv:2410.18234.
// Correctness: it is single-draft sampling with proposal p_I, for every rule of selection with this distribution.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include <draftproof/sim/verifier.hpp>

namespace draftproof {

// A softmax choice among tokens, with one level a token, fitted such that every token is chosen with a given mass.
//
//   c, w    SoftmaxChoice   tokens to choose among, and the mass of this choice
//   a       level[x]        c takes x with probability exp(a_x) / sum over c of exp(a); -inf: never
//   m(a)    marginals       mass with which x is chosen, summed over choices
//   Phi     potential       sum of w log sum exp a - <wanted, a>: convex, with gradient m(a) - wanted
//
// The method is Newton's with backtracking. If the wanted marginals lie on a face of the feasible set, levels go to
// infinity; Newton's steps then reduce the gradient by a constant factor, where first-order steps would be slow.
// Cost: a few dozen steps of O(choices c^2 + tokens^3). The fit is computed in double; error() measures its error.

/// Tokens are numbers from 0, listed in ascending order.
struct SoftmaxChoice {
  std::vector<int> tokens;
  double weight;
};

class SoftmaxFit {
 public:
  /// Stops when the L1 norm of m - wanted is at most `tolerance`, or after 100 steps.
  SoftmaxFit(const std::vector<SoftmaxChoice>& choices, const std::vector<double>& wanted, double tolerance)
      : choices_{choices}, wanted_{wanted}, place_(wanted.size(), -1), level_(wanted.size(), never) {
    for (std::size_t x = 0; x < wanted.size(); ++x)
      if (wanted[x] > 0) {
        place_[x] = static_cast<int>(free_.size());
        free_.push_back(x);
        level_[x] = std::log(wanted[x]);
      }
    for (int step = 0; step < 100 && error() > tolerance; ++step)
      if (!improve()) break;
  }

  /// Level of every token; -infinity for tokens that are not wanted.
  const std::vector<double>& level() const { return level_; }

  /// Gives tokens first .. last - 1, which must be interchangeable, the same level. By convexity this does not
  /// increase the potential.
  void level_out(std::size_t first, std::size_t last) {
    double mean = 0;
    for (std::size_t x = first; x < last; ++x) mean += level_[x] / static_cast<double>(last - first);
    std::fill(level_.begin() + static_cast<std::ptrdiff_t>(first), level_.begin() + static_cast<std::ptrdiff_t>(last),
              mean);
  }

  /// exp(a_x - largest a) for the tokens of a choice; all 1 if no token of the choice is wanted.
  std::vector<double> odds(const std::vector<int>& tokens) const { return odds_at(level_, tokens); }

  /// Error of the fit: the L1 norm of m - wanted.
  double error() const {
    const auto m = marginals(level_);
    double sum = 0;
    for (std::size_t x = 0; x < m.size(); ++x) sum += std::abs(m[x] - wanted_[x]);
    return sum;
  }

 private:
  static constexpr double never = -std::numeric_limits<double>::infinity();
  static std::size_t index(int x) { return static_cast<std::size_t>(x); }

  static double highest(const std::vector<double>& level, const std::vector<int>& tokens) {
    double top = never;
    for (const int x : tokens) top = std::max(top, level[index(x)]);
    return top;
  }
  static std::vector<double> odds_at(const std::vector<double>& level, const std::vector<int>& tokens) {
    const double top = highest(level, tokens);
    std::vector<double> odds;
    for (const int x : tokens) odds.push_back(top == never ? 1 : std::exp(level[index(x)] - top));
    return odds;
  }

  std::vector<double> marginals(const std::vector<double>& level) const {
    std::vector<double> m(wanted_.size());
    for (const auto& [tokens, weight] : choices_) {
      const auto odds = odds_at(level, tokens);
      double total = 0;
      for (const double o : odds) total += o;
      for (std::size_t j = 0; j < odds.size(); ++j) m[index(tokens[j])] += weight * odds[j] / total;
    }
    return m;
  }

  double potential(const std::vector<double>& level) const {
    double sum = 0;
    for (const auto& [tokens, weight] : choices_) {
      const double top = highest(level, tokens);
      if (top == never) continue;
      double total = 0;
      for (const double o : odds_at(level, tokens)) total += o;
      sum += weight * (top + std::log(total));
    }
    for (const std::size_t x : free_) sum -= wanted_[x] * level[x];
    return sum;
  }

  /// Makes one Newton step; false if no fraction of the step lowers the potential.
  bool improve() {
    const std::size_t n = free_.size();
    const auto m = marginals(level_);
    std::vector<double> gradient, hessian(n * n);
    for (const std::size_t x : free_) gradient.push_back(m[x] - wanted_[x]);
    for (const auto& [tokens, weight] : choices_) {
      auto share = odds_at(level_, tokens);
      double total = 0;
      for (const double o : share) total += o;
      for (std::size_t i = 0; i < share.size(); ++i)
        for (std::size_t j = 0; j < share.size(); ++j) {
          const int r = place_[index(tokens[i])], c = place_[index(tokens[j])];
          if (r < 0 || c < 0) continue;
          hessian[index(r) * n + index(c)] += weight * (share[i] / total) * ((i == j ? 1.0 : 0.0) - share[j] / total);
        }
    }
    // Levels are determined only up to a common constant. The ridge added to the diagonal fixes the constant, and is
    // far below any relevant curvature.
    for (std::size_t i = 0; i < n; ++i) hessian[i * n + i] += 1e-11;
    const auto step = solve(std::move(hessian), gradient);
    double slope = 0;
    for (std::size_t i = 0; i < n; ++i) slope -= gradient[i] * step[i];
    const double before = potential(level_);
    for (double size = 1; size > 1e-9; size /= 2) {
      auto tried = level_;
      for (std::size_t i = 0; i < n; ++i) tried[free_[i]] -= size * step[i];
      if (potential(tried) <= before + 1e-4 * size * slope + 1e-15) {
        level_ = std::move(tried);
        return true;
      }
    }
    return false;
  }

  /// Solves by Cholesky decomposition. `matrix` is symmetric and positive definite; pivots below 1e-11 become 1e-11.
  static std::vector<double> solve(std::vector<double> matrix, std::vector<double> right) {
    const std::size_t n = right.size();
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t i = j; i < n; ++i) {
        double sum = matrix[i * n + j];
        for (std::size_t k = 0; k < j; ++k) sum -= matrix[i * n + k] * matrix[j * n + k];
        matrix[i * n + j] = i == j ? std::sqrt(std::max(sum, 1e-11)) : sum / matrix[j * n + j];
      }
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < i; ++k) right[i] -= matrix[i * n + k] * right[k];
      right[i] /= matrix[i * n + i];
    }
    for (std::size_t i = n; i-- > 0;) {
      for (std::size_t k = i + 1; k < n; ++k) right[i] -= matrix[k * n + i] * right[k];
      right[i] /= matrix[i * n + i];
    }
    return right;
  }

  const std::vector<SoftmaxChoice>& choices_;
  const std::vector<double>& wanted_;
  std::vector<int> place_;         ///< index of a token in free_, or -1
  std::vector<std::size_t> free_;  ///< tokens with a positive wanted mass
  std::vector<double> level_;
};

template <class L>
class SelectedDraft {
 public:
  using Scalar = typename L::Scalar;

  /// `distribution` is p_I by token. `proposals` is the number of proposals that are compared with p; if all of them
  /// equal p, the first draft is accepted, because p_I differs from p by rounding, which would refuse some drafts.
  SelectedDraft(const L& distributions, std::vector<Scalar> distribution, int proposals = 0)
      : all_equal_{all_equal(distributions, proposals)},
        distribution_{std::make_shared<const std::vector<Scalar>>(std::move(distribution))},
        residual_{residual_of(distributions, distribution_)} {
    for (Token x = 0; nothing_left_ && x < distributions.vocabulary(); ++x)
      nothing_left_ = !(distributions.target(x) > of(x));
  }

  /// p_I(x).
  const Scalar& of(Token x) const { return (*distribution_)[static_cast<std::size_t>(x)]; }

  /// `x` is the selected token and must be among the drafts.
  template <class P, class R>
  Verdict verify(const P& at, Token x, R& random) const {
    if (all_equal_) return accepted(at.draft(0), 0);
    if (random.flip(at.target(x), of(x))) return accepted(x, find_draft(at, x));
    return refuse(at, x, random);
  }
  /// The verdict after a flip that refused x.
  template <class P, class R>
  Verdict refuse(const P& at, Token x, R& random) const {
    if (!nothing_left_) return random.emit(residual_);
    // Only rounding leads here: without residual p = p_I, and no flip refuses x. If p(x) = 0, p_I(x) is rounding as
    // well, and the token is drawn from p.
    return at.target(x) > at.zero() ? accepted(x, find_draft(at, x)) : random.emit(at.residual(at.zero()));
  }

 private:
  using Shared = std::shared_ptr<const std::vector<Scalar>>;

  static bool all_equal(const L& distributions, int proposals) {
    for (Token x = 0; x < distributions.vocabulary(); ++x)
      for (int k = 0; k < proposals; ++k)
        if (distributions.proposal(x, k) != distributions.target(x)) return false;
    return proposals > 0;
  }

  static auto residual_of(const L& distributions, const Shared& distribution) {
    return distributions.alias_weights([&distributions, distribution](Token x) -> Scalar {
      const Scalar left = distributions.target(x) - (*distribution)[static_cast<std::size_t>(x)];
      return left > distributions.zero() ? left : distributions.zero();
    });
  }

  bool all_equal_;
  Shared distribution_;
  bool nothing_left_ = true;
  decltype(residual_of(std::declval<const L&>(), distribution_)) residual_;
};

}  // namespace draftproof
