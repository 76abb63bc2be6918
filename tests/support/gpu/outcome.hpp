// How a parity test ends: 0 if all is the same, 1 if not, 77 if it cannot be asked here.
#pragma once

#include <cstdio>
#include <exception>

namespace draftproof::parity {

/// What `test` returns, or 1 and the text of what it throws.
template <class Test>
int outcome(const Test& test) try {
  return test();
} catch (const std::exception& error) {
  std::printf("error: %s\n", error.what());
  return 1;
}

/// The same where there is a device.
template <class Test>
int outcome_on_device(int (&devices)(), const Test& test) {
  return outcome([&] {
    if (devices() > 0) return test();
    std::puts("skipped: no CUDA device");
    return 77;
  });
}

}  // namespace draftproof::parity
