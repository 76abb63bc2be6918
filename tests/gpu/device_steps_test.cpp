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
    int mismatches =
        draftproof::step_parity::run({.vocabularies = {2, 33, 1000}, .requests = 24, .iterations = 3, .tells = true});
    mismatches +=
        draftproof::step_parity::run({.vocabularies = {6000}, .requests = 4, .iterations = 2, .tells = true});
    return mismatches == 0 ? 0 : 1;
  });
}
