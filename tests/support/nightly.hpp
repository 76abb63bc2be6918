// Sizes of sweeps over seeds and models: small by default, complete in `./dev test nightly`.
#pragma once

#include <cstdlib>

namespace draftproof {

/// Whether `./dev test nightly` runs the tests, which sets DRAFTPROOF_NIGHTLY.
inline bool nightly() { return std::getenv("DRAFTPROOF_NIGHTLY") != nullptr; }

/// Returns `most` in a nightly run, else `few`.
template <class T>
T swept(T few, T most) {
  return nightly() ? most : few;
}

}  // namespace draftproof
