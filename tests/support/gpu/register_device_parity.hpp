// Registers a verifier's kernels for the parity test. They are compiled in draftproof::gpu.
#pragma once

#include <stdexcept>
#include <string>

#include <draftproof/gpu/launch.hpp>
#include <draftproof/tests/support/gpu/parity.hpp>

namespace draftproof {
namespace parity {

/// Returns the verdicts of the kernel with the automatic mapping. Throws: std::logic_error if another mapping of the
/// device has other verdicts.
template <class V>
gpu::BatchVerdicts device_verdicts(const gpu::Batch<float>& host) {
  const gpu::DeviceBatch<float> device(host);
  gpu::verify_batch(V{}, device.view(), nullptr);
  const gpu::BatchVerdicts chosen = device.verdicts();
  for (const gpu::Mapping mapping : {gpu::Mapping::block, gpu::Mapping::split, gpu::Mapping::cluster}) {
    try {
      gpu::verify_batch(V{}, device.view(), nullptr, mapping);
    } catch (const std::invalid_argument&) {
      continue;  // the device or the rows do not support this mapping
    }
    const gpu::BatchVerdicts found = device.verdicts();
    for (std::size_t i = 0; i < found.verdicts.size(); ++i)
      if (found.verdicts[i].token != chosen.verdicts[i].token ||
          found.verdicts[i].accepted != chosen.verdicts[i].accepted)
        throw std::logic_error("mappings disagree: " + std::string(V::info.name) + " by " +
                               std::string(gpu::name_of(mapping)) + ", position " + std::to_string(i));
  }
  return chosen;
}

}  // namespace parity

template <class V>
void register_device_parity() {
  if constexpr (V::info.unsupported.device.empty() && V::info.unsupported.fresh.empty())
    parity::add(parity::Scheme{V::info, parity::host_verdict<V>, parity::device_verdicts<V>});
}
template <class V>
void register_mutant_device_parity() {
  register_device_parity<V>();
}

}  // namespace draftproof
