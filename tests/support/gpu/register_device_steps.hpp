// Registers kernels of schemes of paths and of walks for the parity test on a device. They are compiled in
// draftproof::gpu.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include <draftproof/gpu/steps.hpp>
#include <draftproof/tests/support/gpu/step_parity.hpp>

namespace draftproof {
namespace passage_parity {

/// Every mapping in turn; they must agree with each other too.
template <class V>
void device_passages(const gpu::PassageBatch<float>& batch, std::int64_t rows) {
  bool first = true;
  for (const gpu::Mapping mapping : {gpu::Mapping::block, gpu::Mapping::warp, gpu::Mapping::split}) {
    const gpu::PassageResults results = gpu::verify_passages_copied(V{}, batch, rows, mapping);
    for (std::size_t i = 0; i < results.passages.size(); ++i) {
      const Passage &found = results.passages[i], &before = batch.passages[i];
      if (!first && (found.node != before.node || found.extra.token != before.extra.token))
        throw std::logic_error("mappings disagree: " + std::string(gpu::name_of(mapping)));
      batch.passages[i] = found;
    }
    first = false;
    // The carries of the iteration before serve every mapping; the last one's go on.
    if (mapping == gpu::Mapping::split) std::ranges::copy(results.carries, batch.carries);
  }
}

}  // namespace passage_parity

template <class V>
void register_device_steps() {
  if constexpr (gpu::no_passages<V>.empty()) passage_parity::add<V>(V::info, passage_parity::device_passages<V>);
}
template <class D>
void register_device_steps_trees() {
  passage_parity::add_trees<D>();
}
template <class V>
void register_device_steps_walk() {
  if constexpr (gpu::no_passages<Walk<V>>.empty())
    passage_parity::add<Walk<V>>(WalkOf<V>::info, passage_parity::device_passages<Walk<V>>);
}

}  // namespace draftproof
