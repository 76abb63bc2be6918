// Compares the algorithms of gpu/ with the host, with fibers instead of the threads of a CUDA block; needs no device
// and no CUDA. It tests passes, draws and their order of tokens, but neither shuffles nor the device's arithmetic.
#include <cstdio>

#include <draftproof/tests/support/gpu/outcome.hpp>
#include <draftproof/tests/support/gpu/parity.hpp>

namespace draftproof::found {
void lockstep_parity_everything();
}

int main() {
  return draftproof::parity::outcome([] {
    draftproof::found::lockstep_parity_everything();
    // 1100 entries exceed 256 segments of one entry for each of four lanes, so a lane reads two entries of a segment.
    int mismatches = draftproof::parity::run({.vocabularies = {1, 2, 7, 33, 100}, .drafts = 8, .positions = 6});
    mismatches += draftproof::parity::run({.vocabularies = {1100}, .drafts = 4, .positions = 6});
    return mismatches == 0 ? 0 : 1;
  });
}
