// Global resolution: reaches the optimum for i.i.d. drafts up to a tolerance, without a linear program. The cut of
// the optimum gives the drafts that are always accepted; softmax choices, fitted by convex minimisation, choose among
// the other tokens.
//
//   tau     tolerance       the fits stop when their errors sum to tau in L1, tau / 2 in total variation
//   |T|     truncation      number of tokens outside H that are fitted; all by default
//   H       core            tokens of the minimising cut; core also has the odds of every set (resolution_plan.hpp)
//   delta   plan.residual   the part of p that no draft emits
//
// Cost: the sets of at most K of V tokens and two Newton fits once per (p, q, K); one draw over |A| + 1 numbers per
// trial.
// Source: Thomas and Pal, arXiv:2511.15898; a reconstruction from secondary sources, with sets for tuples.
// Correctness: the output distribution differs from p by at most the error of the fitted marginals, which the plan
// measures. A refused set lies in H and the residual lies outside H, so an emitted token that is not accepted was not
// drafted. A tuple with a draft outside H and T is accepted at the first such draft; this adds at most 1 - q(H + T)^K
// to the total variation and does not reduce acceptance. plan.core->error bounds the whole error. The bound `tau`
// holds only without truncation.
#pragma once

#include <memory>

#include <draftproof/sim/sampling/weights.hpp>
#include <draftproof/sim/verifier.hpp>
#include <draftproof/verifiers/rejection/residual_chain.hpp>
#include <draftproof/verifiers/transport/resolution_plan.hpp>

namespace draftproof::verifiers {

struct GlobalResolution {
  static constexpr Info info{.name = "global_resolution",
                             .summary = "the optimum for i.i.d. drafts by fitted softmax choices, up to a tolerance",
                             .source = "Thomas and Pal, arXiv:2511.15898; reconstruction",
                             .drafts = DraftSamplings{"iid"},
                             .promise = Promise::lossless_up_to,
                             .tau = 1e-4,
                             .claims = {.emitted_drafts_are_accepted = true},
                             .unsupported = {.simulate = "the plan enumerates the sets of K tokens",
                                             .fresh = "the plan enumerates the sets of K tokens",
                                             .device = "the plan enumerates the sets of K tokens"}};

  double tolerance = info.tau;
  std::size_t truncation = ResolutionPlan::everything;

  template <class L>
  static auto residual_of(const L& distributions, const std::shared_ptr<const ResolutionPlan>& core) {
    return distributions.alias_weights([core](Token x) {
      const int rank = core->rank[static_cast<std::size_t>(x)];
      return typename L::Scalar(rank < 0 ? 0.0 : core->refused[static_cast<std::size_t>(rank)]);
    });
  }
  template <class L>
  struct Plan {
    std::shared_ptr<const ResolutionPlan> core;
    decltype(residual_of(std::declval<const L&>(), core)) residual;
  };

  template <Distributions L>
  Plan<L> prepare(const L& distributions, int drafts) const {
    std::vector<double> p, q;
    for (Token x = 0; x < distributions.vocabulary(); ++x) {
      p.push_back(static_cast<double>(distributions.target(x)));
      q.push_back(static_cast<double>(distributions.proposal(x)));
    }
    auto core = std::make_shared<const ResolutionPlan>(p, q, drafts, tolerance, truncation);
    return {core, residual_of(distributions, core)};
  }

  template <Position P, RandomSource R>
  Verdict verify(const P& at, const Plan<typename P::Underlying>& plan, R& random) const {
    const ResolutionPlan& core = *plan.core;
    Token ranks[max_drafts];
    for (int k = 0; k < at.drafts(); ++k) {
      ranks[k] = core.rank[static_cast<std::size_t>(at.draft(k))];
      if (ranks[k] >= 0 && !core.kept[static_cast<std::size_t>(ranks[k])]) return accepted(at.draft(k), k);
    }
    const auto set = core.drafts.of(ranks, at.drafts());
    if (set == core.drafts.size()) return {};  // drafts of probability 0 are reported as an impossible branch
    const auto& odds = core.share[set];
    const Token chosen = random.pick(FunctionWeights{static_cast<int>(odds.size()), [&odds](Token j) {
                                                       return typename P::Scalar(odds[static_cast<std::size_t>(j)]);
                                                     }});
    const auto& members = core.drafts.sets[set];
    if (static_cast<std::size_t>(chosen) == members.size()) return last_draw(at, random, plan.residual);
    const Token x = core.tokens[static_cast<std::size_t>(members[static_cast<std::size_t>(chosen)])];
    return accepted(x, find_draft(at, x));
  }
};

}  // namespace draftproof::verifiers
