// Registers verifiers and drafters for the test of simulation on a device.
#pragma once

#include <draftproof/gpu/simulate.hpp>
#include <draftproof/tests/support/gpu/table_parity.hpp>

namespace draftproof {

template <class V>
void register_device_trials() {
  if constexpr (parity::runs_on_views<V>)
    parity::add(
        parity::TableScheme{V::info,
                            parity::verdicts_on<V, RatioTable>,
                            {},
                            [](std::string_view distribution, const RatioTable& table, const gpu::TrialRange& range) {
                              return gpu::simulate(V{}, distribution, gpu::DeviceTable(table), range);
                            }});
}
template <class D>
void register_device_trial_distribution() {
  parity::add(parity::TableDistribution{D::info,
                                        [](const RatioTable& distributions, int drafts, Philox random, Token* out) {
                                          return D{}.draw(distributions, drafts, random, out);
                                        },
                                        {}});
}

}  // namespace draftproof
