// A row of probabilities in the format that an engine stores: it is checked, and normalised if its format is too
// coarse for entries that sum to 1. Entries are float, double, bf16 or fp16.
//
//   x_i    row             entries, as they are stored                                          [V]
//   s      checked_sum     sum of x_i, each rounded to a multiple of 2^-51                      double
//   u      rounding        largest relative change of a normal entry by rounding to the format
//   d      least_step      largest absolute change of a denormal entry by rounding to the format
//   |s-1|  sum_tolerance   at most u + V d + 1e-6
//
//   format    u        d         tolerance at V = 128256
//   float     2^-24    2^-150    1.1e-6
//   bf16      2^-8     2^-134    3.9e-3
//   fp16      2^-11    2^-25     4.3e-3: most entries are denormal
//
// Cost: one read of the row in the widest registers.
// Correctness: captures have the same tolerance. Rounding to the format changes a sum by at most u for all normal
// entries together and by d for each denormal entry; 1e-6 allows for the error of the computation that normalised the
// row. s has the same bits at every register width, because it is a sum of integers: the bits of a double 2 + x in
// [2, 4), read as an integer, count units of 2^-51. s differs from the exact sum of the entries by at most V 2^-52.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

#include <draftproof/sim/simd/dispatch.hpp>
#include <draftproof/sim/simd/readers.hpp>
#include <draftproof/sim/simd/registers.hpp>

#define DRAFTPROOF_BODY <draftproof/sim/simd/checked_sum_body.hpp>
#include <draftproof/sim/simd/each_width.hpp>

namespace draftproof {

/// The rounding of a format: relative for normal entries, absolute for denormal entries.
template <class Entry>
struct StoredRounding;
template <>
struct StoredRounding<double> {
  static constexpr double rounding = 0x1p-53, least_step = 0x1p-1074;
};
template <>
struct StoredRounding<float> {
  static constexpr double rounding = 0x1p-24, least_step = 0x1p-150;
};
template <>
struct StoredRounding<Bfloat16> {
  static constexpr double rounding = 0x1p-8, least_step = 0x1p-134;
};
template <>
struct StoredRounding<Half> {
  static constexpr double rounding = 0x1p-11, least_step = 0x1p-25;
};

/// Returns the largest |sum - 1| that a row of V stored probabilities may have.
template <class Entry>
constexpr double sum_tolerance(std::size_t vocabulary) {
  using Rounding = StoredRounding<Entry>;
  return Rounding::rounding + static_cast<double>(vocabulary) * Rounding::least_step + 1e-6;
}

namespace detail {

/// Adds the 64 bits of the double 2 + x, as an integer, to `sum` for entries start .. end - 1. Returns false if an
/// entry is not in [0, 2).
template <class Entry>
bool add_stored(const Entry* row, std::size_t start, std::size_t end, std::uint64_t& sum) {
  bool sound = true;
  for (std::size_t i = start; i < end; ++i) {
    const auto x = static_cast<double>(row[i]);
    sound &= 0 <= x && x < 2;
    sum += bit_cast<std::uint64_t>(2 + x);
  }
  return sound;
}

template <class Entry>
bool add_stored(const Entry* row, std::size_t start, std::size_t end, std::uint64_t& sum, simd::Width width) {
  std::size_t whole = start;
  bool sound = true;
#if DRAFTPROOF_WIDE
  const simd::Reader<Entry> reader{row};
  if (width != simd::Width::scalar) whole = start + (end - start) / 8 * 8;
  if (width == simd::Width::avx512) sound = simd::avx512::stored_sum(reader, start, whole, sum);
  if (width == simd::Width::avx2) sound = simd::avx2::stored_sum(reader, start, whole, sum);
#endif
  (void)width;
  return add_stored(row, whole, end, sum) && sound;
}

template <class Entry>
[[noreturn]] void reject_stored(const Entry* row, std::size_t token, std::string_view name) {
  while (0 <= static_cast<double>(row[token]) && static_cast<double>(row[token]) < 2) ++token;
  const auto found = static_cast<double>(row[token]);
  throw std::invalid_argument(std::string(name) + ": token " + std::to_string(token) + ": got " +
                              (std::isnan(found) ? "NaN" : std::to_string(found)) + ", expected a probability");
}

}  // namespace detail

/// Returns the sum of the row.
/// Throws: std::invalid_argument, with row and token, on a NaN, an infinity, a negative entry, an entry of 2 or more,
/// or if the sum is further from 1 than sum_tolerance.
template <class Entry>
double checked_sum(std::span<const Entry> row, std::string_view name = "row", simd::Width width = simd::in_use()) {
  constexpr std::size_t block = 1024;  // bits of 2 + x, less the bits of 2, are below 2^52 and sum to less than 2^62
  double sum = 0;                      // exact: multiples of 2^-51 below 4
  for (std::size_t start = 0; start < row.size() && sum < 2; start += block) {
    const std::size_t end = std::min(start + block, row.size());
    std::uint64_t bits = 0;
    if (!detail::add_stored(row.data(), start, end, bits, width)) detail::reject_stored(row.data(), start, name);
    bits -= (end - start) * bit_cast<std::uint64_t>(2.0);
    sum += static_cast<double>(bits) * 0x1p-51;
  }
  const double tolerance = sum_tolerance<Entry>(row.size());
  if (!(std::abs(sum - 1) <= tolerance))
    throw std::invalid_argument(std::string(name) + ": got probabilities with sum " +
                                (sum < 2 ? std::to_string(sum) : "2 or more") + ", expected a sum within " +
                                std::to_string(tolerance) + " of 1");
  return sum;
}

/// Writes float(x_i / sum), [V], by one multiplication for each entry. The written entries sum to 1 within
/// 2^-24 + V 2^-52 + 2^-51.
template <class Entry>
void normalise_stored(std::span<const Entry> row, double sum, float* out, simd::Width width = simd::in_use()) {
  const double factor = 1 / sum;
  std::size_t done = 0;
#if DRAFTPROOF_WIDE
  const simd::Reader<Entry> reader{row.data()};
  if (width == simd::Width::avx512) done = simd::avx512::scaled(reader, row.size(), factor, out);
  if (width == simd::Width::avx2) done = simd::avx2::scaled(reader, row.size(), factor, out);
#endif
  (void)width;
  for (std::size_t i = done; i < row.size(); ++i) out[i] = static_cast<float>(static_cast<double>(row[i]) * factor);
}

}  // namespace draftproof
