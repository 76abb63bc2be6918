// The reason why a position is not verified: the first invalid entry of its rows, packed into one integer of 64 bits.
// If threads find several faults, an atomic minimum keeps the smallest integer.
//
//   bits     meaning
//   63..36   row: 0 is the target, 1 + k is proposal k
//   35..4    token; all ones if the row as a whole is invalid
//   3..0     kind
//
// A position without a fault has the value no_fault, the largest integer.
#pragma once

#include <cstdint>
#include <string>

#include <draftproof/sim/token.hpp>

namespace draftproof::gpu {

inline constexpr std::uint64_t no_fault = ~std::uint64_t{0};

struct RowFault {
  enum class Kind {
    infinite,     ///< a logit is NaN or +infinity
    masked,       ///< the logits of all tokens are -infinity
    probability,  ///< an entry is NaN, negative, or at least 2
    sum           ///< the sum of probabilities is further from 1 than the rounding of their format allows
  };

  Kind kind;
  int row;
  Token token = no_token;  ///< no_token if the row as a whole is invalid

  /// Returns the fault as an integer with the bits of the table above.
  DRAFTPROOF_DEVICE std::uint64_t word() const {
    const auto place = token == no_token ? ~std::uint32_t{0} : static_cast<std::uint32_t>(token);
    return static_cast<std::uint64_t>(row) << 36 | std::uint64_t{place} << 4 | static_cast<std::uint64_t>(kind);
  }
  /// Returns the fault that is packed in `word`. Requires: `word` is not no_fault.
  static RowFault of_word(std::uint64_t word) {
    const auto place = static_cast<std::uint32_t>(word >> 4);
    return {static_cast<Kind>(word & 15), static_cast<int>(word >> 36),
            place == ~std::uint32_t{0} ? no_token : static_cast<Token>(place)};
  }
};

/// A fault and where it is.
struct RefusedPosition {
  std::int64_t position;
  RowFault fault;
};

/// Returns a message such as "position 3: proposal 0 logits: token 17: got NaN or +infinity, expected ...".
std::string describe(const RefusedPosition& refused);

/// Lowers *place to `word` if `word` is smaller. On a device the update is atomic.
DRAFTPROOF_DEVICE inline void tell_fault(std::uint64_t* place, std::uint64_t word) {
#if defined(__CUDA_ARCH__)
  atomicMin(reinterpret_cast<unsigned long long*>(place), static_cast<unsigned long long>(word));
#else
  if (word < *place) *place = word;
#endif
}

}  // namespace draftproof::gpu
