// Lifts any verifier of one position to trees: at each node it decides among the tokens drafted there, and an emitted
// token that was drafted is descended to. Every file in verifiers/ therefore has a form for trees without a line of
// its own.
//
//   drafts at u   draws(u), repeats kept, for schemes of i.i.d. drafts; children(u) otherwise
//   plan          of V at (context, number of drafts), made when first needed
//
// Cost: one decision of V a level. Exact because V's token has law p(.|u) given its drafts' law, and what was drafted
// below u was drawn without regard to what V did there. A token V emits although it refused it as a draft is a
// drafted node all the same, and the walk goes on there.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>

#include <draftproof/sim/contexts.hpp>
#include <draftproof/sim/verifier.hpp>

namespace draftproof {

/// Makes `emit` an ordinary draw: a walk must know the token to go on.
template <class R>
class Settled {
 public:
  explicit Settled(R& random) : random_{random} {}

  template <class Scalar>
  bool flip(const Scalar& num, const Scalar& den) {
    return random_.flip(num, den);
  }
  template <class W>
  Token pick(const W& weights) {
    return random_.pick(weights);
  }
  template <class W>
  Verdict emit(const W& weights) {
    // Not by emitting first: an explorer would look at every weight again whenever it replays.
    if constexpr (requires { R::spreads_emitted; })
      return {random_.pick(weights), none_accepted};
    else
      return random_.emit(weights);
  }

 private:
  R& random_;
};

/// What a walk has prepared so far. One thread's own.
template <class V, class L>
class WalkPlans {
 public:
  explicit WalkPlans(const V& verifier) : verifier_{verifier} {}

  const PlanOf<V, L>& of(const Contexts<L>& contexts, int context, int drafts) {
    const auto key = (static_cast<std::uint64_t>(context) << 8) | static_cast<std::uint64_t>(drafts);
    auto& plan = plans_[key];
    if (!plan) plan = std::make_unique<PlanOf<V, L>>(prepare(verifier_, contexts.laws(context), drafts));
    return *plan;
  }

 private:
  V verifier_;
  std::unordered_map<std::uint64_t, std::unique_ptr<PlanOf<V, L>>> plans_;
};

template <class V>
struct Walk {
  V verifier{};

  template <class L>
  WalkPlans<V, L> prepare(const Contexts<L>&, const TreeShape&) const {
    return WalkPlans<V, L>(verifier);
  }

  template <class L, class R>
  Passage verify(const TreeAt<L>& at, WalkPlans<V, L>& plans, R& random) const {
    const DraftTree& tree = at.tree();
    Settled<R> settled(random);
    for (int u = DraftTree::root;;) {
      const L& laws = at.laws(u);
      if (tree.leaf(u)) return {u, random.emit(laws.residual(laws.zero()))};
      Token drafts[max_drafts];
      int count = 0;
      if constexpr (V::info.drafts.includes("iid"))
        for (const int child : tree.draws(u)) drafts[count++] = tree.token(child);
      else
        for (const int child : tree.children(u)) drafts[count++] = tree.token(child);
      const Verdict verdict = draftproof::verify(verifier, At<L>(laws, drafts, count),
                                                 plans.of(at.contexts(), tree.context(u), count), settled);
      const int child = verdict.token < 0 ? -1 : tree.find(u, verdict.token);
      if (child < 0) return {u, {verdict.token, none_accepted}};
      u = child;
    }
  }
};

}  // namespace draftproof
