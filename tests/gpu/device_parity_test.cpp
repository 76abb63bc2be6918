// Every kernel against the host. Exit code 77, which CTest reads as skipped, without a device.
#include <cstdio>
#include <exception>

#include <draftproof/gpu/launch.hpp>
#include <draftproof/tests/gpu/parity.hpp>

namespace draftproof::found {
void device_parity_everything();
}

int main() try {
  if (draftproof::gpu::device_count() == 0) {
    std::puts("skipped: no CUDA device");
    return 77;
  }
  draftproof::found::device_parity_everything();
  int mismatches = draftproof::parity::run({.vocabularies = {1, 31, 32, 1000, 4096}, .drafts = 8, .positions = 192});
  mismatches += draftproof::parity::run({.vocabularies = {32000}, .drafts = 8, .positions = 24});
  return mismatches == 0 ? 0 : 1;
} catch (const std::exception& error) {
  std::printf("error: %s\n", error.what());
  return 1;
}
