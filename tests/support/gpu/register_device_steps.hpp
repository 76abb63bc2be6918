// Registers kernels of schemes of paths, and of verifiers of one position run by NodeByNode, for the parity test on a
// device. They are compiled in draftproof::gpu.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include <draftproof/gpu/steps.hpp>
#include <draftproof/tests/support/gpu/step_parity.hpp>

namespace draftproof {
namespace step_parity {

/// Runs the steps with every mapping in turn, and checks that the results of all mappings agree.
template <class V>
void device_steps(const gpu::StepBatch<float>& batch, std::int64_t rows) {
  bool first = true;
  for (const gpu::Mapping mapping : {gpu::Mapping::block, gpu::Mapping::split}) {
    const gpu::StepResults results = gpu::verify_steps_copied(V{}, batch, rows, mapping);
    for (std::size_t i = 0; i < results.steps.size(); ++i) {
      const StepOutput &found = results.steps[i], &before = batch.steps[i];
      if (!first && (found.node != before.node || found.extra.token != before.extra.token))
        throw std::logic_error("mappings disagree: " + std::string(gpu::name_of(mapping)));
      batch.steps[i] = found;
    }
    first = false;
    // The carries are replaced after the last mapping only, so that every mapping reads the carries of the previous
    // iteration.
    if (mapping == gpu::Mapping::split) std::ranges::copy(results.carries, batch.carries);
  }
}

}  // namespace step_parity

template <class V>
void register_device_steps() {
  if constexpr (gpu::no_steps<V>.empty()) step_parity::add<V>(V::info, step_parity::device_steps<V>);
}
template <class D>
void register_device_steps_trees() {
  step_parity::add_trees<D>();
}
template <class V>
void register_device_steps_tree() {
  if constexpr (gpu::no_steps<NodeByNode<V>>.empty())
    step_parity::add<NodeByNode<V>>(LiftedToTrees<V>::info, step_parity::device_steps<NodeByNode<V>>);
}

}  // namespace draftproof
