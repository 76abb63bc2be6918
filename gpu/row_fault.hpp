// Why a position is not verified: the first entry of its rows that makes them no law, in one word, so that threads
// which find several agree on the least without waiting for each other.
//
//   bits     meaning
//   63..36   row: 0 is the target's, 1 + k that of proposal k
//   35..4    token; all ones where the row as a whole is at fault
//   3..0     kind
//
// A position without a fault has the word no_fault, which is greater than all faults.
#pragma once

#include <cstdint>
#include <string>

#include <draftproof/sim/token.hpp>

namespace draftproof::gpu {

inline constexpr std::uint64_t no_fault = ~std::uint64_t{0};

struct RowFault {
  enum class Kind {
    infinite,     ///< a logit that is NaN or +infinity
    masked,       ///< logits that are -infinity for every token
    probability,  ///< an entry that is NaN, negative, or 2 and more
    sum           ///< probabilities whose sum is further from 1 than their format explains
  };

  Kind kind;
  int row;
  Token token = no_token;  ///< no_token where the row as a whole is at fault

  DRAFTPROOF_DEVICE std::uint64_t word() const {
    const auto place = token == no_token ? ~std::uint32_t{0} : static_cast<std::uint32_t>(token);
    return static_cast<std::uint64_t>(row) << 36 | std::uint64_t{place} << 4 | static_cast<std::uint64_t>(kind);
  }
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

/// "position 3: logits of proposal 0: token 17: ..."
std::string describe(const RefusedPosition& refused);

/// Keeps the least of the words told to one place, whoever tells them at the same time.
DRAFTPROOF_DEVICE inline void tell_fault(std::uint64_t* place, std::uint64_t word) {
#if defined(__CUDA_ARCH__)
  atomicMin(reinterpret_cast<unsigned long long*>(place), static_cast<unsigned long long>(word));
#else
  if (word < *place) *place = word;
#endif
}

}  // namespace draftproof::gpu
