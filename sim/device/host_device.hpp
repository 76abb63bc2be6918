// A macro that marks functions which compile for the host and, under nvcc, for the device too.
#pragma once

#if defined(__CUDACC__)
#define DRAFTPROOF_DEVICE __host__ __device__
#else
#define DRAFTPROOF_DEVICE
#endif

namespace draftproof {

// std::bit_cast for host and device, because nvcc compiles the standard library's function for the host only.

/// Returns the value of type To with the bits of `value`; both types are trivially copyable and of equal size.
template <class To, class From>
DRAFTPROOF_DEVICE constexpr To bit_cast(From value) {
  return __builtin_bit_cast(To, value);
}

}  // namespace draftproof
