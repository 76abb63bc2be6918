// Times, rates and ratios as text: three digits, and the unit that leaves 1 to 999 before the point.
#pragma once

#include <cmath>
#include <string>

#include <fmt/format.h>

namespace draftproof::benchmarks {

/// "412", "17.3", "1.05", "0.32", "0.047"; from 1000 on without decimals.
inline std::string three_digits(double value) {
  const double size = std::fabs(value);
  if (size < 0.0995) return fmt::format("{:.2g}", value);
  return size >= 99.95   ? fmt::format("{:.0f}", value)
         : size >= 9.995 ? fmt::format("{:.1f}", value)
                         : fmt::format("{:.2f}", value);
}

/// "17.3 us".
inline std::string time_text(double seconds) {
  // Above the last value that would not round to 1000, the next unit is used.
  if (seconds < 999.5e-9) return three_digits(seconds * 1e9) + " ns";
  if (seconds < 999.5e-6) return three_digits(seconds * 1e6) + " us";
  if (seconds < 999.5e-3) return three_digits(seconds * 1e3) + " ms";
  return three_digits(seconds) + " s";
}

/// "4.51 M/s".
inline std::string rate_text(double per_second) {
  if (per_second >= 999.5e6) return three_digits(per_second / 1e9) + " G/s";
  if (per_second >= 999.5e3) return three_digits(per_second / 1e6) + " M/s";
  if (per_second >= 999.5) return three_digits(per_second / 1e3) + " k/s";
  return three_digits(per_second) + " /s";
}

/// "3 %", either way of the median.
inline std::string spread_text(double relative) {
  return fmt::format("{:.{}f} %", 100 * relative, relative < 0.0995 ? 1 : 0);
}

/// A counter: whole numbers as such, others to five digits.
inline std::string count_text(double value) {
  return value == std::floor(value) && std::fabs(value) < 1e15 ? fmt::format("{:.0f}", value)
                                                               : fmt::format("{:.5g}", value);
}

}  // namespace draftproof::benchmarks
