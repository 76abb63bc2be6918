// Which trials a device is to run.
#pragma once

#include <cstdint>

namespace draftproof::gpu {

/// Trials `first` .. `first` + `count` - 1 of `seed`, with this many drafts.
struct TrialRange {
  std::uint64_t seed = 0, first = 0, count = 0;
  int drafts = 1;
};

}  // namespace draftproof::gpu
