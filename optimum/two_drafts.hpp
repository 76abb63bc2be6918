// The optimum of two i.i.d. drafts without a power, in any scalar. Both drafts lie in S, or one or both lie outside:
//
//   alpha* = min over S of p(S) + q(S^c)^2 + 2 q(S) q(S^c)      prefixes S of rising p / q suffice
//
// Cost: O(V) on a table, O(V log V) on rows.
//
// Correctness: all terms are positive, so nothing cancels even if little mass lies outside S.
//
// Source: derived here, the form in Khisti et al., arXiv:2410.18234; the prefix rule in docs/optimum.md.
#pragma once

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

#include <draftproof/sim/distributions/ratio_table.hpp>

namespace draftproof {

/// p(S) + 1 - q(S)^2, from the masses inside S and the q-mass outside.
template <class Scalar>
Scalar two_draft_cut(const Scalar& target_inside, const Scalar& proposal_inside, const Scalar& proposal_outside) {
  return target_inside + proposal_outside * (proposal_outside + 2 * proposal_inside);
}

/// alpha* of rows that sum to 1 in their scalar; exact in fractions.
template <class Scalar>
Scalar two_draft_optimum(std::span<const Scalar> target, std::span<const Scalar> proposal) {
  std::vector<std::size_t> rising(target.size());
  std::iota(rising.begin(), rising.end(), std::size_t{0});
  // Tokens without q-mass are in no least cut. Without them p_a q_b < p_b q_a is a strict weak order.
  std::erase_if(rising, [&](std::size_t x) { return !(proposal[x] > Scalar(0)); });
  std::sort(rising.begin(), rising.end(),
            [&](std::size_t a, std::size_t b) { return target[a] * proposal[b] < target[b] * proposal[a]; });
  Scalar best(1), p(0), q(0);  // of the empty set
  for (const std::size_t x : rising) {
    p += target[x];
    q += proposal[x];
    best = std::min<Scalar>(best, two_draft_cut<Scalar>(p, q, Scalar(1) - q));
  }
  return best;
}

/// alpha* of the table's first proposal. Error below 4 2^-53.
inline double two_draft_optimum(const RatioTable& table) {
  double best = 1;
  for (const auto& outside : table.prefix())
    best = std::min(best, two_draft_cut(1 - outside.target, 1 - outside.proposal, outside.proposal));
  return best;
}

}  // namespace draftproof
