// How many threads to use when nobody says.
#pragma once

#include <thread>

namespace draftproof {

/// All processors the system reports, at least one.
inline int default_threads() {
  const unsigned processors = std::thread::hardware_concurrency();
  return processors > 0 ? static_cast<int>(processors) : 1;
}

}  // namespace draftproof
