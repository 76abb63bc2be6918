// Tests of powers of e, exponential variates, the radix sort and 16-bit formats.
#include <algorithm>
#include <bit>
#include <cmath>
#include <iostream>
#include <limits>
#include <random>
#include <type_traits>

#include <gtest/gtest.h>

#include <draftproof/sim/numeric/exp.hpp>
#include <draftproof/sim/numeric/radix_sort.hpp>
#include <draftproof/sim/numeric/ratio_buckets.hpp>
#include <draftproof/sim/numeric/short_float.hpp>
#include <draftproof/sim/random/philox4x32.hpp>
#include <draftproof/tests/support/example_rows.hpp>

namespace draftproof {
namespace {

/// Visits every 256th float from -0 down to the end of the range, random floats in between, and the neighbours of
/// multiples of ln 2 / 2.
template <class Visit>
void for_exponents(Visit visit) {
  const auto end = bit_cast<std::uint32_t>(PowerOfE::least);
  for (std::uint32_t bits = 0x80000000; bits <= end; bits += 256) {
    const auto i = std::uint64_t{bits / 256};
    visit(bit_cast<float>(bits));
    if (i % 64 == 0) visit(PowerOfE::least * static_cast<float>(examples::uniform(41, i)));
  }
  for (int n = 0; n <= 251; ++n) {
    const auto border = static_cast<float>(-0.34657359027997264 * n);
    for (int step = -20; step <= 20; ++step) {
      const float x = bit_cast<float>(bit_cast<std::uint32_t>(border) + static_cast<std::uint32_t>(step));
      if (x <= 0 && x >= PowerOfE::least) visit(x);
    }
  }
}

TEST(PowerOfE, KeepsItsRelativeErrorBound) {
  static_assert(std::numeric_limits<long double>::digits >= 64);
  long double largest = 0;
  float worst = 0;
  for_exponents([&](float x) {
    const long double wanted = std::exp(static_cast<long double>(x));
    const long double error = std::abs(static_cast<long double>(exp_nonpositive(x)) - wanted) / wanted;
    ASSERT_LE(error, 0x1p-23L) << x;
    ASSERT_LE(exp_nonpositive(x), 1) << x;
    if (error > largest) worst = x;
    largest = std::max(largest, error);
  });
  std::cout << "largest relative error " << static_cast<double>(largest * 0x1p24L) << " 2^-24 at " << worst << "\n";
}

TEST(PowerOfE, HasItsEnds) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(exp_nonpositive(0.0f), 1);
  EXPECT_EQ(exp_nonpositive(-0.0f), 1);
  EXPECT_GE(exp_nonpositive(PowerOfE::least), std::numeric_limits<float>::min()) << "no denormal";
  EXPECT_EQ(exp_nonpositive(std::nextafter(PowerOfE::least, -infinity)), 0);
  EXPECT_EQ(exp_nonpositive(std::numeric_limits<float>::lowest()), 0);
  EXPECT_EQ(exp_nonpositive(-infinity), 0);
  EXPECT_EQ(exp_nonpositive(-std::numeric_limits<float>::denorm_min()), 1);
}

TEST(PowerOfE, HasTheBitsItHad) {
  // Results are compared with recorded bits, because a compiler, option or formula that changes a bit changes the
  // tokens drawn at a given seed.
  const std::pair<float, std::uint32_t> known[] = {
      {-0.1f, 1063756653}, {-1.0f, 1052531378}, {-2.5f, 1034427438}, {-17.25f, 856324687}, {-86.9f, 12980105}};
  for (const auto& [x, bits] : known) EXPECT_EQ(bit_cast<std::uint32_t>(exp_nonpositive(x)), bits) << x;
  std::uint64_t all = 0;
  for_exponents([&all](float x) { all = 31 * all + bit_cast<std::uint32_t>(exp_nonpositive(x)); });
  EXPECT_EQ(all, 8804200743249446601u);
}

// Tests of exponential variates: their error bound, the bound by which races skip tokens, and their distribution.

/// Visits 64-bit integers near both ends and near the switch of branches, powers of two with their neighbours, and
/// others.
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

/// Returns -ln(1 - t) with t = (word + 1/2) / 2^64, with a relative error of at most 2^-62. Each branch computes in
/// long double without cancellation.
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

TEST(Exponential, HasItsDistribution) {
  // Pr(E <= e) = 1 - e^-e. By the inequality of Dvoretzky, Kiefer and Wolfowitz, n = 100,000 draws deviate by more
  // than sqrt(ln(2 / 1e-9) / 2 n) = 0.0104 with probability at most 1e-9.
  std::vector<double> found;
  for (std::uint64_t n = 0; n < 100'000; ++n) found.push_back(exponential(philox_pair(18, n, 0, 0).second));
  std::sort(found.begin(), found.end());
  const double size = static_cast<double>(found.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    ASSERT_NEAR(-std::expm1(-found[i]), static_cast<double>(i) / size, 0.0104);
}

// Tests that the radix sort gives the order of a comparison sort, including ties and keys that are equal as floats.

void expect_sorted(std::vector<KeyedToken> keyed) {
  auto wanted = keyed;
  std::stable_sort(wanted.begin(), wanted.end(), [](const auto& a, const auto& b) { return a.key > b.key; });
  sort_by_key(keyed);
  ASSERT_EQ(keyed.size(), wanted.size());
  for (std::size_t i = 0; i < keyed.size(); ++i) {
    ASSERT_EQ(keyed[i].token, wanted[i].token) << i;
    ASSERT_EQ(keyed[i].key, wanted[i].key) << i;
  }
}

std::vector<KeyedToken> keys(int count, std::mt19937_64& random, auto key) {
  std::vector<KeyedToken> keyed;
  for (Token x = 0; x < count; ++x) keyed.push_back({key(static_cast<double>(random() >> 11) * 0x1p-53), x});
  return keyed;
}

TEST(KeyedToken, AreSortedLikeByComparison) {
  std::mt19937_64 random(1);
  for (const int count : {0, 1, 2, 7, 1000, 20'000}) {
    expect_sorted(keys(count, random, [](double u) { return u; }));
    expect_sorted(keys(count, random, [](double u) { return std::exp2(200 * u - 100); }));
    expect_sorted(keys(count, random, [](double u) { return std::floor(u * 5); }));
    expect_sorted(keys(count, random, [](double u) { return 1 + 0x1p-40 * u; }));  // equal as floats, not as doubles
    expect_sorted(keys(count, random, [](double u) {
      return u < 0.2 ? 0 : u < 0.4 ? std::numeric_limits<double>::infinity() : u < 0.6 ? 1e300 * u : 1e-300 * u;
    }));  // keys above and below the range of floats
  }
}

// Tests of both 16-bit formats against the definition of their fields, and of rounding at midpoints.

static_assert(std::is_trivially_copyable_v<Bfloat16> && std::is_trivially_default_constructible_v<Half>);
static_assert(Half(1.0).bits() == 0x3C00 && float{Half(-2.5)} == -2.5f && Bfloat16(1.0).bits() == 0x3F80);

template <class Format>
struct ShortFloatOf : testing::Test {};
using Formats = testing::Types<Bfloat16, Half>;
TYPED_TEST_SUITE(ShortFloatOf, Formats);

constexpr int patterns = 1 << 16;

/// Returns the value of a 16-bit pattern, computed from its sign, exponent and fraction by std::ldexp.
template <class Format>
double by_definition(int bits) {
  const int fraction_bits = std::is_same_v<Format, Half> ? 10 : 7;
  const int bias = std::is_same_v<Format, Half> ? 15 : 127;
  const int fraction = bits % (1 << fraction_bits), exponent = bits % 0x8000 / (1 << fraction_bits);
  double value = 0;
  if (exponent == 2 * bias + 1)
    value = fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : HUGE_VAL;
  else if (exponent == 0)
    value = std::ldexp(fraction, 1 - bias - fraction_bits);
  else
    value = std::ldexp((1 << fraction_bits) + fraction, exponent - bias - fraction_bits);
  return bits >= 0x8000 ? -value : value;
}

TYPED_TEST(ShortFloatOf, WidensEveryPatternExactly) {
  for (int bits = 0; bits < patterns; ++bits) {
    const auto stored = TypeParam::of_bits(static_cast<std::uint16_t>(bits));
    const double wanted = by_definition<TypeParam>(bits), found = static_cast<double>(stored);
    ASSERT_EQ(stored.bits(), bits);
    if (std::isnan(wanted)) {
      ASSERT_TRUE(std::isnan(found)) << bits;
      continue;
    }
    ASSERT_EQ(found, wanted) << bits;
    ASSERT_EQ(std::signbit(found), std::signbit(wanted)) << bits;
    ASSERT_EQ(TypeParam(wanted).bits(), bits) << "there and back";
  }
}

TYPED_TEST(ShortFloatOf, NarrowsToTheNearestAndTiesToEven) {
  // Above the largest finite number, the next value would have the next exponent; its pattern represents infinity.
  constexpr int infinity = TypeParam::infinity;
  for (int below = 0; below < infinity; ++below) {
    const double low = by_definition<TypeParam>(below);
    const double high =
        below + 1 < infinity ? by_definition<TypeParam>(below + 1) : 2 * low - by_definition<TypeParam>(below - 1);
    const double middle = low + (high - low) / 2;  // the midpoint is exact: it has one bit more than the format
    const int even = below % 2 == 0 ? below : below + 1;
    for (const int sign : {0, 0x8000}) {
      const auto narrow = [sign](double value) { return int{TypeParam(sign == 0 ? value : -value).bits()}; };
      ASSERT_EQ(narrow(middle), sign + even) << below;
      ASSERT_EQ(narrow(std::nextafter(middle, low)), sign + below) << below;
      ASSERT_EQ(narrow(std::nextafter(middle, high)), sign + below + 1) << below;
      ASSERT_EQ(narrow(std::nextafter(low, high)), sign + below) << below;
    }
  }
}

TYPED_TEST(ShortFloatOf, NarrowsTheEndsOfDouble) {
  using Limits = std::numeric_limits<double>;
  EXPECT_EQ(TypeParam(Limits::infinity()).bits(), TypeParam::infinity);
  EXPECT_EQ(TypeParam(-Limits::max()).bits(), 0x8000 | TypeParam::infinity);
  EXPECT_EQ(TypeParam(Limits::denorm_min()).bits(), 0);
  EXPECT_EQ(TypeParam(-Limits::min()).bits(), 0x8000);
  for (const double nan : {Limits::quiet_NaN(), Limits::signaling_NaN(), -Limits::quiet_NaN()})
    EXPECT_TRUE(std::isnan(static_cast<float>(TypeParam(nan))));
}

TEST(Bfloat16, IsTheUpperHalfOfAFloat) {
  for (int bits = 0; bits < patterns; ++bits) {
    const auto stored = Bfloat16::of_bits(static_cast<std::uint16_t>(bits));
    const float value = stored;
    if (!std::isnan(value)) {
      ASSERT_EQ(std::bit_cast<std::uint32_t>(value), static_cast<std::uint32_t>(bits) << 16);
    }
  }
}

TEST(Half, HasKnownNumbers) {
  EXPECT_EQ(static_cast<double>(Half::of_bits(0x7BFF)), 65504);
  EXPECT_EQ(static_cast<double>(Half::of_bits(0x0400)), 0x1p-14);
  EXPECT_EQ(static_cast<double>(Half::of_bits(0x0001)), 0x1p-24);
  EXPECT_EQ(static_cast<double>(Half(1.0 / 3)), 0.333251953125);
  EXPECT_EQ(Half(65519.99).bits(), 0x7BFF);
  EXPECT_EQ(Half(65520.0).bits(), Half::infinity);
}

}  // namespace
}  // namespace draftproof
