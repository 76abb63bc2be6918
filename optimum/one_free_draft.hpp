// The optimum of a draft law that always drafts the set T and one token y outside it, in closed form. SpecHub's hub,
// greedy drafts and the tail draw are such laws.
//
//   T         fixed     tokens drafted with probability 1
//   rho       free      law of y; not defined on T
//   alpha*              p(T) + sum outside T of min(p, rho)
//
// Cost: O(V).
//
// Source: derived in docs/optimum.md. Only cuts that contain T count, and outside T each token is decided separately.
#pragma once

#include <span>
#include <vector>

#include <draftproof/sim/distributions/ratio_table.hpp>

namespace draftproof {

/// alpha*. `free` has one probability per token; its values at tokens of `fixed` are ignored. Error below V 2^-53.
inline double one_free_draft_optimum(const RatioTable& table, std::span<const Token> fixed,
                                     std::span<const double> free) {
  double sum = 0;
  for (const Token x : fixed) sum += table.target(x);
  for (Token x = 0; x < table.vocabulary(); ++x)
    if (!among(x, fixed.data(), static_cast<int>(fixed.size())))
      sum += std::min(table.target(x), free[static_cast<std::size_t>(x)]);
  return sum;
}

/// q outside the first `n` tokens of `fixed`, renormalised; uniform there if q has no mass outside them.
inline std::vector<double> proposal_outside(const RatioTable& table, const Token* fixed, int n) {
  const double mass = table.mass_without(0, fixed, n);
  std::vector<double> law(static_cast<std::size_t>(table.vocabulary()), 0);
  for (Token x = 0; x < table.vocabulary(); ++x)
    if (!among(x, fixed, n))
      law[static_cast<std::size_t>(x)] = mass > 0 ? table.proposal(x) / mass : 1.0 / (table.vocabulary() - n);
  return law;
}

}  // namespace draftproof
