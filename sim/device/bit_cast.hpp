// std::bit_cast for host and device: the library's own is a host function to nvcc.
#pragma once

#include <draftproof/sim/device/host_device.hpp>

namespace draftproof {

/// The value of type To that has the bits of `value`; both types are trivially copyable and of one size.
template <class To, class From>
DRAFTPROOF_DEVICE constexpr To bit_cast(From value) {
  return __builtin_bit_cast(To, value);
}

}  // namespace draftproof
