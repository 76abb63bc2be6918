// Exponentials of words: the logarithm in long double within the derived bound, the bound by which races skip tokens,
// and the law.
#include <algorithm>
#include <cmath>
#include <iostream>

#include <gtest/gtest.h>

#include <draftproof/sim/numeric/exponential_variate.hpp>
#include <draftproof/sim/random/philox4x32.hpp>

namespace draftproof {
namespace {

/// Words near both ends and the switch of branches, powers of two and their neighbours, and random words.
template <class Visit>
void for_words(Visit visit) {
  for (std::uint64_t n = 0; n < 2000; ++n) {
    visit(n);
    visit(~n);
    visit(0x4AFB0CCC06219B7B - 1000 + n);
    const std::uint64_t any = philox_pair(17, n, 0, 0).first;
    for (int shift = 0; shift < 64; shift += 4) {
      visit(any >> shift);
      visit(~(any >> shift));
    }
  }
  for (int bit = 0; bit < 64; ++bit)
    for (std::uint64_t near = 0; near < 3; ++near) {
      visit((std::uint64_t{1} << bit) - 1 + near);
      visit(~((std::uint64_t{1} << bit) - 1 + near));
    }
}

/// -ln(1 - t) to 2^-62 relative: long double holds word + 1/2 up to 2^63 exactly, and 1 - t from the other end.
long double reference(std::uint64_t word) {
  if (word < std::uint64_t{1} << 62) return -std::log1p(-(static_cast<long double>(word) + 0.5L) * 0x1p-64L);
  return -std::log((static_cast<long double>(~word) + 0.5L) * 0x1p-64L);
}

TEST(Exponential, KeepsItsRelativeErrorBound) {
  static_assert(std::numeric_limits<long double>::digits >= 64);
  long double largest = 0;
  for_words([&](std::uint64_t word) {
    const long double wanted = reference(word);
    const long double error = std::abs(static_cast<long double>(exponential(word)) - wanted) / wanted;
    ASSERT_LE(error, 0x1p-49L) << "word " << word;
    largest = std::max(largest, error);
  });
  std::cout << "largest relative error " << static_cast<double>(largest * 0x1p53L) << " 2^-53\n";
}

TEST(Exponential, IsNotBelowItsUniform) {
  for_words([](std::uint64_t word) {
    ASSERT_GE(exponential(word) * (1 + 0x1p-40), static_cast<double>(word >> 11) * 0x1p-53) << "word " << word;
  });
}

TEST(Exponential, HasItsEnds) {
  EXPECT_EQ(exponential(0), 0x1p-65);
  EXPECT_NEAR(exponential(~std::uint64_t{0}), 65 * std::log(2.0), 1e-13);
  EXPECT_NEAR(exponential(std::uint64_t{1} << 63), std::log(2.0), 1e-15);
}

TEST(Exponential, HasItsLaw) {
  // Pr(E <= e) = 1 - e^-e: Dvoretzky, Kiefer and Wolfowitz bound the largest deviation of n = 100,000 by
  // sqrt(ln(2 / 1e-9) / 2 n) = 0.0104 but with probability 1e-9.
  std::vector<double> found;
  for (std::uint64_t n = 0; n < 100'000; ++n) found.push_back(exponential(philox_pair(18, n, 0, 0).second));
  std::sort(found.begin(), found.end());
  const double size = static_cast<double>(found.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    ASSERT_NEAR(-std::expm1(-found[i]), static_cast<double>(i) / size, 0.0104);
}

}  // namespace
}  // namespace draftproof
