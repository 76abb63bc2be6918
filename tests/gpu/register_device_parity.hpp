// Registers a verifier's kernel for the parity test. The kernel itself is compiled in draftproof::gpu.
#pragma once

#include <draftproof/gpu/launch.hpp>
#include <draftproof/tests/gpu/parity.hpp>

namespace draftproof {

template <class V>
void register_device_parity() {
  if constexpr (V::info.cannot.device.empty() && V::info.cannot.fresh.empty())
    parity::add(parity::Scheme{V::info, parity::host_verdict<V>,
                               [](const gpu::Batch<float>& batch) { return gpu::verify_copied(V{}, batch); }});
}
template <class V>
void register_mutant_device_parity() {
  register_device_parity<V>();
}

}  // namespace draftproof
