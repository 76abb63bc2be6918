// The work of one thread of a team on one request: the step of a scheme of paths, or NodeByNode of a verifier of one
// position.
#pragma once

#include <cstdint>
#include <string_view>

#include <draftproof/gpu/steps/node_distributions.cuh>
#include <draftproof/sim/random/philox.hpp>
#include <draftproof/sim/trees/node_by_node.hpp>

namespace draftproof::gpu {

/// The reason why V cannot run as a kernel of steps; empty if it can.
template <class V>
inline constexpr std::string_view no_steps = V::info.unsupported.device;
template <class V>
inline constexpr std::string_view no_steps<NodeByNode<V>> =
    node_liftable<V> ? V::info.unsupported.device : "it cannot decide at the nodes of a tree";
template <class V>
inline constexpr std::string_view step_name = V::info.name;
template <class V>
inline constexpr std::string_view step_name<NodeByNode<V>> = V::info.name;

/// Whether V carries state between iterations.
template <class V, class L>
concept Stateful = requires(const V& verifier, const DraftedTree<L>& at, const StateAt<L>& carry,
                            const StepOutput& step) {
  verifier.after(at, carry, step);
};

template <class V, class L>
DRAFTPROOF_DEVICE StepOutput pass_nodes(const NodeByNode<V>& lifted, const DraftedTree<L>& at, Philox& random) {
  NodePlans<V, L> plans(lifted.verifier);
  return lifted.verify(at, plans, random);
}

/// Returns the step of a request; its token is no_token on a branch of probability zero. The barrier before the carry
/// is written ensures that all threads have read the old carry.
template <class V, class Entry, Team T>
DRAFTPROOF_DEVICE StepOutput pass(const V& verifier, const StepBatch<Entry>& batch, std::int64_t request,
                                  const T& team, bool writes) {
  using L = NodeDistributions<Entry, T>;
  const TreeRows<Entry, T> rows(batch, request, team);
  const DraftedTree<L> at(rows, batch.tree(request));
  Philox random(batch.seed, batch.first_trial + static_cast<std::uint64_t>(request), Philox::Role::verify);
  if constexpr (Stateful<V, L>) {
    const DeviceCarry& carry = batch.carries[request];
    const StepOutput step = verifier.verify(at, carry, random);
    if (step.extra.token < 0) return step;
    const DeviceCarry left = verifier.after(at, carry, step);
    team.barrier();
    if (writes) batch.carries[request] = left;
    return step;
  } else if constexpr (requires { verifier.verify(at, random); }) {
    return verifier.verify(at, random);
  } else if constexpr (requires { typename V::template Plans<L>; }) {
    typename V::template Plans<L> plans;
    return verifier.verify(at, plans, random);
  } else {
    return pass_nodes(verifier, at, random);
  }
}

}  // namespace draftproof::gpu
