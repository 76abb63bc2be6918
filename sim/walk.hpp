// Lifts any verifier of one position to trees: at each node it decides among the tokens drafted there, and an emitted
// token that was drafted is descended to. Every file in verifiers/ therefore has a form for trees without a line of
// its own.
//
//   drafts at u   draws(u), repeats kept, for schemes of i.i.d. drafts and those that read their noise; children(u)
//                 otherwise
//   noise at u    the streams that the drafts at u were drawn from
//   plan          of V at (context, number of drafts), made when first needed
//
// Cost: one decision of V a level. Exact because V's token has law p(.|u) given its drafts' law, and what was drafted
// below u was drawn without regard to what V did there. A token V emits although it refused it as a draft is a
// drafted node all the same, and the walk goes on there.
//
// For schemes that read shared noise V's token at u has law p(.|u) over the noise of the streams at u alone. Whether
// the walk gets to u, and which paths are still drafts there, was decided by streams at the nodes above, and no
// stream is of two depths; so the noise at u is fresh, given all of that. With paths that is the list coupling
// conditional on the paths that still agree: the token after x does not move with the proposals from x on, only
// with which drafts agreed so far.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>

#include <draftproof/sim/contexts.hpp>
#include <draftproof/sim/node_noise.hpp>
#include <draftproof/sim/settled.hpp>
#include <draftproof/sim/verifier.hpp>

namespace draftproof {

/// What a walk has prepared so far. One thread's own.
template <class V, class L>
class WalkPlans {
 public:
  explicit WalkPlans(const V& verifier) : verifier_{verifier} {}

  /// For the laws at node u of a tree.
  const PlanOf<V, L>& of(const TreeAt<L>& at, int u, const L& laws, int drafts) {
    const Contexts<L>& contexts = at.contexts();
    const int context = at.tree().context(u);
    if (contexts.forgotten() != forgotten_) {
      plans_.clear();
      forgotten_ = contexts.forgotten();
    }
    const auto key = (static_cast<std::uint64_t>(context) << 8) | static_cast<std::uint64_t>(drafts);
    auto& plan = plans_[key];
    if (!plan) plan = std::make_unique<PlanOf<V, L>>(prepare(verifier_, laws, drafts));
    return *plan;
  }

 private:
  V verifier_;
  int forgotten_ = 0;
  std::unordered_map<std::uint64_t, std::unique_ptr<PlanOf<V, L>>> plans_;
};

template <class V>
struct Walk {
  V verifier{};
  static constexpr bool sees_repeats = V::info.drafts.includes("iid") || V::info.shared_noise;

  template <class L>
  WalkPlans<V, L> prepare(const Contexts<L>&, const TreeShape&) const {
    return WalkPlans<V, L>(verifier);
  }

  template <class L, class R>
  DRAFTPROOF_DEVICE Passage verify(const TreeAt<L>& at, WalkPlans<V, L>& plans, R& random) const {
    const auto& tree = at.tree();
    Settled<R> settled(random);
    for (int u = DraftTree::root;;) {
      const L& laws = at.laws(u);
      if (tree.leaf(u)) return {u, random.emit(laws.residual(laws.zero()))};
      Token drafts[max_drafts];
      int count = 0;
      [[maybe_unused]] std::uint32_t streams[max_drafts];
      if constexpr (sees_repeats) {
        const auto draws = tree.draws(u);
        for (auto draw = draws.begin(); !(draw == draws.end()); ++draw) {
          if constexpr (V::info.shared_noise) streams[count] = draw.stream();
          drafts[count++] = tree.token(*draw);
        }
      } else {
        for (const int child : tree.children(u)) drafts[count++] = tree.token(child);
      }
      const auto decide = [&](auto& source) {
        const auto& plan = plans.of(at, u, laws, count);
        return draftproof::verify(verifier, At<L>(laws, drafts, count), plan, source);
      };
      Verdict verdict;
      if constexpr (V::info.shared_noise) {
        NodeNoise noise(settled, streams);
        verdict = decide(noise);
      } else {
        verdict = decide(settled);
      }
      const int child = verdict.token < 0 ? -1 : tree.find(u, verdict.token);
      if (child < 0) return {u, {verdict.token, none_accepted}};
      u = child;
    }
  }
};

}  // namespace draftproof
