// How wide the registers are that passes over the vocabulary use. Chosen once, by what the processor has; every width
// gives the same bits, so the choice changes times and nothing else.
//
//   widest()     what processor and build offer
//   in_use()     what passes use: widest(), unless DRAFTPROOF_SIMD (scalar, avx2, avx512) or use() says less
//   use(width)   from now on, for all threads; for tests and benchmarks
//   name_of(w)   for reports
//
// Asking for a width that the processor lacks is an error, not a hint: whoever asks wants to measure that width.
#pragma once

#include <atomic>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

#include <draftproof/sim/wide/target.hpp>

namespace draftproof::wide {

enum class Width { scalar, avx2, avx512 };

inline constexpr Width widths[] = {Width::scalar, Width::avx2, Width::avx512};

constexpr std::string_view name_of(Width width) {
  constexpr std::string_view names[] = {"scalar", "avx2", "avx512"};
  return names[static_cast<int>(width)];
}

inline Width widest() {
#if DRAFTPROOF_WIDE
  static const Width found = [] {
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return Width::scalar;
    const bool all = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                     __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
    return all ? Width::avx512 : Width::avx2;
  }();
  return found;
#else
  return Width::scalar;
#endif
}

namespace detail {
inline Width checked(Width width) {
  if (width > widest())
    throw std::invalid_argument("no " + std::string(name_of(width)) + " here: this processor and build offer " +
                                std::string(name_of(widest())));
  return width;
}
inline Width wished() {
  const char* wish = std::getenv("DRAFTPROOF_SIMD");
  if (wish == nullptr || *wish == '\0') return widest();
  for (const Width width : widths)
    if (wish == name_of(width)) return checked(width);
  throw std::invalid_argument("DRAFTPROOF_SIMD=" + std::string(wish) + ": scalar, avx2 or avx512");
}
inline std::atomic<Width>& chosen() {
  static std::atomic<Width> width{wished()};
  return width;
}
}  // namespace detail

inline Width in_use() { return detail::chosen().load(std::memory_order_relaxed); }
inline void use(Width width) { detail::chosen().store(detail::checked(width), std::memory_order_relaxed); }

/// A width for as long as the object lives.
class Using {
 public:
  explicit Using(Width width) : before_{in_use()} { use(width); }
  ~Using() { use(before_); }
  Using(const Using&) = delete;
  Using& operator=(const Using&) = delete;

 private:
  Width before_;
};

}  // namespace draftproof::wide
