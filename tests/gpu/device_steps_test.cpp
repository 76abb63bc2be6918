// Compares steps by kernels with steps by the host; with the argument `short`, compares only a tenth of the steps.
// Without a device the exit code is 77, which CTest reads as skipped.
#include <cstdio>
#include <string_view>

#include <draftproof/gpu/launch.hpp>
#include <draftproof/gpu/steps.hpp>
#include <draftproof/tests/support/gpu/outcome.hpp>
#include <draftproof/tests/support/gpu/step_parity.hpp>

namespace draftproof::found {
void device_steps_everything();
}

int main(int argc, char** argv) {
  const bool is_short = argc > 1 && std::string_view(argv[1]) == "short";
  return draftproof::parity::outcome_on_device(draftproof::gpu::device_count, [is_short] {
    draftproof::found::device_steps_everything();
    int mismatches = draftproof::step_parity::run({.vocabularies = {2, 33, 1000},
                                                   .requests = is_short ? 24 : 96,
                                                   .iterations = is_short ? 3 : 5,
                                                   .tells = true});
    mismatches += draftproof::step_parity::run({.vocabularies = {is_short ? 6000 : 32000},
                                                .requests = is_short ? 4 : 12,
                                                .iterations = is_short ? 2 : 3,
                                                .tells = true});
    // Compares only two requests, each verified by as many blocks as a team has.
    mismatches +=
        draftproof::step_parity::run({.vocabularies = {33, 6000}, .requests = 2, .iterations = 3, .tells = true});
    return mismatches == 0 ? 0 : 1;
  });
}
