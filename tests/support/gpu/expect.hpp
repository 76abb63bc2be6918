// Expectations for tests on fibers: the test programs print each failure and exit with 1.
#pragma once

#include <cstdio>
#include <string>

namespace draftproof::parity {

inline int compared = 0, failures = 0;

inline void expect(bool holds, const std::string& what) {
  ++compared;
  if (holds) return;
  ++failures;
  std::printf("expected %s\n", what.c_str());
}

}  // namespace draftproof::parity
