// Sums of powers of light tokens as integers, so that no order of the tokens matters: hosts and teams of a device get
// the same bits.
//
//   unit      2^-10 of the least power of two that is not below `slowest`: at least q of every light token
//   r         q / unit, at most 1; exact
//   of(r^m)   r^m in steps of 2^-50, rounded to the nearest
//   value     sum of q^m from the sum of these integers
//
// Correctness: r^m + 6 lies between 6 and 7, where doubles have steps of 2^-50, so its bits less those of 6 count the
// steps. A sum of r over light tokens is at most (sum of light q) / unit < 2^12, and r^m <= r: sums stay below 2^62.
// V tokens are off by V 2^-51 unit^m at most.
#pragma once

#include <cstdint>

#include <draftproof/sim/device/host_device.hpp>

namespace draftproof {

class LightPowers {
 public:
  LightPowers() = default;
  /// `slowest` > 0, or 0 where no token is light.
  DRAFTPROOF_DEVICE explicit LightPowers(double slowest) {
    constexpr double least = 0x1p-1000;  // 1 / unit is a double
    const auto bits = bit_cast<std::uint64_t>(slowest > least ? slowest : least);
    unit_ = 0x1p-10 * bit_cast<double>((bits + ((std::uint64_t{1} << 52) - 1)) >> 52 << 52);
  }

  /// 1 / unit.
  DRAFTPROOF_DEVICE double scale() const { return 1 / unit_; }
  /// r^m in steps.
  DRAFTPROOF_DEVICE static std::int64_t of(double power) {
    return bit_cast<std::int64_t>(power + 6.0) - bit_cast<std::int64_t>(6.0);
  }
  /// Sum of q^m.
  DRAFTPROOF_DEVICE double value(std::int64_t sum, int m) const {
    double value = static_cast<double>(sum) * 0x1p-50;
    for (int i = 0; i < m; ++i) value *= unit_;
    return value;
  }

 private:
  double unit_ = 1;
};

}  // namespace draftproof
