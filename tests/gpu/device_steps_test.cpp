// Steps by kernels against the host. Exit code 77, which CTest reads as skipped, without a device.
#include <cstdio>

#include <draftproof/gpu/launch.hpp>
#include <draftproof/gpu/steps.hpp>
#include <draftproof/tests/support/gpu/outcome.hpp>
#include <draftproof/tests/support/gpu/step_parity.hpp>

namespace draftproof::found {
void device_steps_everything();
}

int main() {
  return draftproof::parity::outcome_on_device(draftproof::gpu::device_count, [] {
    draftproof::found::device_steps_everything();
    int mismatches = draftproof::step_parity::run({.vocabularies = {2, 33, 1000}, .requests = 96, .iterations = 5});
    mismatches += draftproof::step_parity::run({.vocabularies = {32000}, .requests = 12, .iterations = 3});
    return mismatches == 0 ? 0 : 1;
  });
}
