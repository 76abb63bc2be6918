// Simulation on a device against the host's. Exit code 77, which CTest reads as skipped, without a device.
#include <cstdio>
#include <exception>

#include <draftproof/gpu/launch.hpp>
#include <draftproof/tests/gpu/table_parity.hpp>

namespace draftproof::found {
void device_trials_everything();
}

int main() try {
  if (draftproof::gpu::device_count() == 0) {
    std::puts("skipped: no CUDA device");
    return 77;
  }
  draftproof::found::device_trials_everything();
  // 6000 tokens are more than have counters in a block's memory.
  int mismatches = draftproof::parity::run({.vocabularies = {1, 7, 100}, .drafts = {1, 2, 8}, .trials = 5000});
  mismatches += draftproof::parity::run({.vocabularies = {6000}, .drafts = {2, 4}, .trials = 1000});
  return mismatches == 0 ? 0 : 1;
} catch (const std::exception& error) {
  std::printf("error: %s\n", error.what());
  return 1;
}
