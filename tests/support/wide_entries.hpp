// Inputs for passes of every width: entries of every kind, places b, and plain sums for comparison.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <type_traits>
#include <vector>

#include <draftproof/sim/simd/mass_and_slope.hpp>
#include <draftproof/tests/support/example_rows.hpp>

namespace draftproof::simd::wide_entries {

inline std::vector<Width> widths_here() {
  std::vector<Width> here;
  for (const Width width : widths)
    if (width <= widest()) here.push_back(width);
  return here;
}

/// Entries of every kind that a row may hold, in random order: zeros, denormals, numbers around the unit of 2^-60,
/// uniform ones, and one large enough for the top bits of the integers. Their sum is below 1.
template <class Entry>
std::vector<Entry> entries(std::uint64_t seed, std::size_t size) {
  std::vector<Entry> row(size);
  for (std::size_t i = 0; i < size; ++i) {
    const double u = examples::uniform(seed, 3 * i), v = examples::uniform(seed, 3 * i + 1);
    switch (static_cast<int>(6 * examples::uniform(seed, 3 * i + 2))) {
      case 0:
        break;
      case 1:
        row[i] = std::numeric_limits<Entry>::denorm_min() * static_cast<Entry>(std::floor(100 * u));
        break;
      case 2:
        row[i] = static_cast<Entry>(std::ldexp(u, -static_cast<int>(40 + 30 * v)) / 2);
        break;
      case 3:
        row[i] = static_cast<Entry>(std::ldexp(u, -static_cast<int>(2000 * v)));
        break;
      default:
        row[i] = static_cast<Entry>(u / static_cast<double>(size) / 2);
    }
  }
  double sum = 0;
  for (const Entry entry : row) sum += entry;
  if (sum > 0.5)
    for (Entry& entry : row) entry = static_cast<Entry>(entry / (2 * sum));
  if (seed % 3 == 0) row[seed % size] += Entry{0.5} - std::numeric_limits<Entry>::epsilon();
  return row;
}

inline const std::vector<std::size_t> sizes{1, 7, 8, 31, 64, 65, 1000, 1023, 1024, 1025, 4097, 9999};
// Around 2^100, where rows of floats change to terms in double, and where doubles overflow.
inline const double past_floats = std::nextafter(0x1p100, 1e300);
inline const std::vector<double> places{0,
                                        1e-310,
                                        1e-280,
                                        1e-42,
                                        0.3,
                                        1,
                                        1.7,
                                        4,
                                        1e10,
                                        0x1.fffffffp99,
                                        0x1p100,
                                        past_floats,
                                        0x1p128,
                                        0x1p900,
                                        0x1.8p930,
                                        1e300,
                                        std::numeric_limits<double>::max()};

struct Sums {
  std::vector<Fixed> partial;
  Fixed total = 0;
  bool operator==(const Sums&) const = default;
};

template <class Term>
Sums sums_of(const Term& term, std::size_t size, Width width) {
  Sums result{std::vector<Fixed>((size + block - 1) / block, -1)};
  result.total = sums(term, size, result.partial.data(), width);
  return result;
}

/// The sums of `value` in the order of the tokens.
inline Sums plain_sums(std::size_t size, const std::function<double(std::size_t)>& value) {
  Sums result{std::vector<Fixed>((size + block - 1) / block)};
  for (std::size_t i = 0; i < size; ++i) {
    const Fixed term = to_fixed(value(i));
    result.partial[i / block] += term;
    result.total += term;
  }
  return result;
}

/// (p - b q)+ as rows of the format form it: in float if entries are floats and b is at most 2^100.
template <class Entry>
double residual_term(Entry p, Entry q, double b) {
  if constexpr (std::is_same_v<Entry, float>)
    if (b <= 0x1p100) {
      const auto high = static_cast<float>(b), low = static_cast<float>(b - double{high});
      return double{std::max(std::fmaf(-low, q, std::fmaf(-high, q, p)), 0.0f)};
    }
  return std::max(double{p} - b * double{q}, 0.0);
}
template <class Entry>
auto residual(const std::vector<Entry>& p, const std::vector<Entry>& q, double b) {
  if constexpr (std::is_same_v<Entry, float>)
    return FloatResidualTerm<float>(p.data(), q.data(), b);
  else
    return ResidualTerm<Reader<Entry>, Reader<Entry>>{{p.data()}, {q.data()}, b};
}

}  // namespace draftproof::simd::wide_entries
