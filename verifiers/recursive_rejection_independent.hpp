// Recursive rejection of drafts from different proposals, tested in an order that does not depend on the drafts: draw
// order or any other order.
//
//   k_i      plan.order[i]       the draft tested after i refusals
//   r_i      plan.residual[i]    residual after i refusals, not normalised; r_0 = p
//   F_i      plan.mass[i]        its sum
//   q_k      at.proposal(x, k)   distribution of draft k
//
// Cost: for many trials O(K V) once, then K flips and a draw; on fresh rows a pass of O(k V) for the k-th refusal and
// one for the draw (verifiers/rejection/residual_chain.hpp).
// Acceptance: 1 - F_K; it depends on the order of the proposals.
// Source: Miao et al. 2023 (SpecInfer), arXiv:2305.09781, multi-step sampling with several draft models.
// Correctness: after a refusal at r_i exactly r_(i+1) = (r_i - F_i q_(k_i))+ remains to be emitted, in any fixed
// order. recursive_rejection_random_order draws the order at random; an order computed from the drafted tokens is a
// mutant.
#pragma once

#include <algorithm>
#include <vector>

#include <draftproof/sim/verifier.hpp>
#include <draftproof/verifiers/rejection/residual_chain.hpp>

namespace draftproof::verifiers {

struct RecursiveRejectionIndependent {
  static constexpr Info info{.name = "recursive_rejection_independent",
                             .summary = "recursive rejection of drafts from different proposals, in draw order",
                             .source = "Miao et al. 2023 (SpecInfer), arXiv:2305.09781",
                             .drafts = DraftSamplings{"independent"},
                             .claims = {.accepts_equal_distributions = true,
                                        .one_draft_is_single_draft = true,
                                        .more_drafts_never_hurt = true},
                             .unsupported = {.device = "the plan keeps K rows on the host"}};

  /// Indices of drafts in the order of their tests; drafts that are not listed follow in draw order.
  std::vector<int> order{};

  template <class L>
  static auto alias_weights(const L& distributions, const std::vector<typename L::Scalar>& row) {
    return distributions.alias_weights([row](Token x) { return row[static_cast<std::size_t>(x)]; });
  }

  template <class L>
  struct Plan {
    using Scalar = typename L::Scalar;
    std::vector<int> order;
    std::vector<std::vector<Scalar>> residual;
    std::vector<Scalar> mass;
    decltype(alias_weights(std::declval<const L&>(), residual[0])) last;
  };

  /// Prepares all residual rows, if many trials or branches read them; a single decision rarely needs the last row.
  template <Distributions L>
  requires(!FreshDistributions<L>) Plan<L> prepare(const L& distributions, int drafts)
  const {
    using Scalar = typename L::Scalar;
    std::vector<Scalar> row;
    for (Token x = 0; x < distributions.vocabulary(); ++x) row.push_back(distributions.target(x));
    std::vector<std::vector<Scalar>> residual;
    std::vector<Scalar> mass{distributions.one()};
    std::vector<int> tests = order_of(drafts);
    for (const int k : tests) {
      residual.push_back(row);
      for (Token x = 0; x < distributions.vocabulary(); ++x) {
        Scalar& left = row[static_cast<std::size_t>(x)];
        left -= mass.back() * distributions.proposal(x, k);
        if (left < distributions.zero()) left = distributions.zero();
      }
      mass.push_back(distributions.sum([&row](Token x) { return row[static_cast<std::size_t>(x)]; }));
    }
    auto last = alias_weights(distributions, row);
    return {std::move(tests), std::move(residual), std::move(mass), std::move(last)};
  }

  template <Position P, RandomSource R>
  Verdict verify(const P& at, const Plan<typename P::Underlying>& plan, R& random) const {
    for (std::size_t i = 0; i < plan.order.size(); ++i) {
      const int k = plan.order[i];
      const Token x = at.draft(k);
      if (random.flip(plan.residual[i][static_cast<std::size_t>(x)], plan.mass[i] * at.proposal(x, k)))
        return accepted(x, k);
    }
    return last_draw(at, random, plan.last);
  }

  template <Position P, RandomSource R>
  Verdict verify(const P& at, R& random) const {
    Refusals<P> refusals(at);
    for (const int k : order_of(at.drafts())) {
      const Token x = at.draft(k);
      if (random.flip(refusals.left(x), refusals.mass() * at.proposal(x, k))) return accepted(x, k);
      refusals.refuse(k);
    }
    return refusals.emit(random);
  }

 private:
  std::vector<int> order_of(int drafts) const {
    std::vector<int> all;
    for (const int k : order)
      if (0 <= k && k < drafts && std::find(all.begin(), all.end(), k) == all.end()) all.push_back(k);
    for (int k = 0; k < drafts; ++k)
      if (std::find(all.begin(), all.end(), k) == all.end()) all.push_back(k);
    return all;
  }
};

}  // namespace draftproof::verifiers
