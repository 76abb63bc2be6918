// Registers schemes of paths, and verifiers of one position run by NodeByNode, for the lockstep test of steps, which
// runs fibers of the host instead of a device's threads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include <draftproof/gpu/workspace.hpp>
#include <draftproof/tests/support/gpu/host_team.hpp>
#include <draftproof/tests/support/gpu/step_parity.hpp>

namespace draftproof {
namespace step_parity {

/// A block of two warps, a block of one warp, and a team of four blocks.
inline constexpr std::array<parity::TeamShape, 3> team_shapes{
    parity::TeamShape{.partitions = 1, .warps = 2, .lanes = 4},
    parity::TeamShape{.partitions = 1, .warps = 1, .lanes = 4},
    parity::TeamShape{.partitions = 4, .warps = 2, .lanes = 4}};

template <class V>
void lockstep_steps(const gpu::StepBatch<float>& batch, std::int64_t) {
  for (int i = 0; i < batch.requests; ++i) {
    parity::HostTeam team(team_shapes[static_cast<std::size_t>(i) % team_shapes.size()]);
    team.give_memory(gpu::plan_bytes<V>);
    std::vector<StepOutput> steps(static_cast<std::size_t>(team.shape().threads()));
    team.run([&](const parity::HostThread& thread) {
      steps[static_cast<std::size_t>(thread.index())] = gpu::pass(V{}, batch, i, thread, thread.index() == 0);
    });
    for (const StepOutput& step : steps)
      if (step.node != steps.front().node || step.extra.token != steps.front().extra.token)
        throw std::logic_error("lockstep: the threads of a team disagree");
    batch.steps[i] = steps.front();
  }
}

}  // namespace step_parity

template <class V>
void register_lockstep_steps() {
  if constexpr (gpu::no_steps<V>.empty()) step_parity::add<V>(V::info, step_parity::lockstep_steps<V>);
}
template <class D>
void register_lockstep_steps_trees() {
  step_parity::add_trees<D>();
}
template <class V>
void register_lockstep_steps_tree() {
  if constexpr (gpu::no_steps<NodeByNode<V>>.empty())
    step_parity::add<NodeByNode<V>>(LiftedToTrees<V>::info, step_parity::lockstep_steps<NodeByNode<V>>);
}

}  // namespace draftproof
