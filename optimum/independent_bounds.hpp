// Bounds on the optimum for one draft of each of K different proposals, at any V. In general there is no order of the
// tokens of which every least cut is a prefix. A scan over prefixes of one order bounds the optimum from both sides.
// Where heavy tokens keep the bounds apart, the search branches on whether the set S of the cut contains them.
//
//   q_k        proposal(x, k)
//   l          weights             positive, product 1
//   r          mixture             (l_1 q_1 + .. + l_K q_K) / K
//   upper      p(S) + 1 - q_1(S) .. q_K(S) for any S: the best prefix of the order of p / r
//   lower      min over all S of p(S) + 1 - min(1, r(S)^K), for any l: a prefix of the same order
//
// Cost: O(V (K + log V)) for each scan, usually with a few scans, and with a few hundred in the worst case.
//
// Correctness: a product of K factors is at most the K-th power of their mean, also after the factors are multiplied by
// weights of product 1. The two are equal at a set where all weighted factors are equal; the iteration searches for
// such weights.
//
// Source: derived in docs/optimum.md.
#pragma once

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

#include <draftproof/optimum/sampling_optimum.hpp>
#include <draftproof/sim/distributions/ratio_table.hpp>

namespace draftproof {

// The optimum of a draft sampling that always drafts the set T and one token y outside it, in closed form. SpecHub's
// hub, greedy drafts and the tail draw are such samplings.
//
//   T         fixed     tokens drafted with probability 1
//   rho       free      distribution of y; not defined on T
//   alpha*              p(T) + sum outside T of min(p, rho)
//
// Cost: O(V).
//
// Source: derived in docs/optimum.md. Only cuts S that contain T have to be compared, and for each token outside T
// the cheaper of p (in S) and rho (not in S) is taken.

/// Returns alpha*. `free` has one probability per token; its values at tokens of `fixed` are ignored. The error is
/// below V 2^-53.
inline double one_free_draft_optimum(const RatioTable& table, std::span<const Token> fixed,
                                     std::span<const double> free) {
  double sum = 0;
  for (const Token x : fixed) sum += table.target(x);
  for (Token x = 0; x < table.vocabulary(); ++x)
    if (!among(x, fixed.data(), static_cast<int>(fixed.size())))
      sum += std::min(table.target(x), free[static_cast<std::size_t>(x)]);
  return sum;
}

/// Returns q outside the first `n` tokens of `fixed`, renormalised; uniform outside them if q has no mass
/// there.
inline std::vector<double> proposal_outside(const RatioTable& table, const Token* fixed, int n) {
  const double mass = table.mass_without(0, fixed, n);
  std::vector<double> distribution(static_cast<std::size_t>(table.vocabulary()), 0);
  for (Token x = 0; x < table.vocabulary(); ++x)
    if (!among(x, fixed, n))
      distribution[static_cast<std::size_t>(x)] =
          mass > 0 ? table.proposal(x) / mass : 1.0 / (table.vocabulary() - n);
  return distribution;
}

// The optimum of two i.i.d. drafts, in any scalar type. The term 1 - q(S)^2 of a cut S is computed as the probability
// that one or both drafts lie outside S:
//
//   alpha* = min over S of p(S) + q(S^c)^2 + 2 q(S) q(S^c)      prefixes S of rising p / q suffice
//
// Cost: O(V) on a table, O(V log V) on rows.
//
// Correctness: all terms are positive, so nothing cancels even if little mass lies outside S.
//
// Source: derived here; Khisti et al., arXiv:2410.18234, have the same form. docs/optimum.md proves that
// prefixes suffice.

/// Returns p(S) + 1 - q(S)^2, from the masses inside S and the q-mass outside.
template <class Scalar>
Scalar two_draft_cut(const Scalar& target_inside, const Scalar& proposal_inside, const Scalar& proposal_outside) {
  return target_inside + proposal_outside * (proposal_outside + 2 * proposal_inside);
}

/// Returns alpha* of rows that sum to 1 in the arithmetic of Scalar; exact if Scalar is a fraction.
template <class Scalar>
Scalar two_draft_optimum(std::span<const Scalar> target, std::span<const Scalar> proposal) {
  std::vector<std::size_t> rising(target.size());
  std::iota(rising.begin(), rising.end(), std::size_t{0});
  // Tokens with q = 0 are left out. They need not be in S, because they would only add their p to the cut; and only
  // without them the comparison p_a q_b < p_b q_a of tokens a and b is a strict weak order.
  std::erase_if(rising, [&](std::size_t x) { return !(proposal[x] > Scalar(0)); });
  std::sort(rising.begin(), rising.end(),
            [&](std::size_t a, std::size_t b) { return target[a] * proposal[b] < target[b] * proposal[a]; });
  Scalar best(1), p(0), q(0);  // 1 is the cut of the empty set
  for (const std::size_t x : rising) {
    p += target[x];
    q += proposal[x];
    best = std::min<Scalar>(best, two_draft_cut<Scalar>(p, q, Scalar(1) - q));
  }
  return best;
}

/// Returns alpha* of the table's first proposal. The error is below 2^-51.
inline double two_draft_optimum(const RatioTable& table) {
  double best = 1;
  for (const auto& outside : table.prefix())
    best = std::min(best, two_draft_cut(1 - outside.target, 1 - outside.proposal, outside.proposal));
  return best;
}

/// Returns bounds on the optimum for one draft of each proposal k < `drafts`. The bounds include rounding errors.
OptimumBounds independent_bounds(const RatioTable& table, int drafts);

}  // namespace draftproof
