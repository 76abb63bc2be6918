// Exit codes of a parity test: 0 if all results are equal, 1 if not, 77 if it cannot run here.
#pragma once

#include <cstdio>
#include <exception>

namespace draftproof::parity {

/// Returns the result of `test`, or 1 after printing the text of its exception.
template <class Test>
int outcome(const Test& test) try {
  return test();
} catch (const std::exception& error) {
  std::printf("error: %s\n", error.what());
  return 1;
}

/// Returns outcome(test) if there is a device, else 77.
template <class Test>
int outcome_on_device(int (&devices)(), const Test& test) {
  return outcome([&] {
    if (devices() > 0) return test();
    std::puts("skipped: no CUDA device");
    return 77;
  });
}

}  // namespace draftproof::parity
