// Both 16-bit formats, pattern by pattern against the definition of their fields, and rounding against the midpoints
// of neighbours.
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include <gtest/gtest.h>

#include <draftproof/sim/numeric/short_float.hpp>

namespace draftproof {
namespace {

static_assert(std::is_trivially_copyable_v<Bfloat16> && std::is_trivially_default_constructible_v<Half>);
static_assert(Half(1.0).bits() == 0x3C00 && float{Half(-2.5)} == -2.5f && Bfloat16(1.0).bits() == 0x3F80);

template <class Format>
struct ShortFloatOf : testing::Test {};
using Formats = testing::Types<Bfloat16, Half>;
TYPED_TEST_SUITE(ShortFloatOf, Formats);

constexpr int patterns = 1 << 16;

/// The value of the fields of a pattern, by powers of two of the library.
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
  // The neighbour of the largest finite number is that of the next exponent; infinity has its pattern.
  constexpr int infinity = TypeParam::infinity;
  for (int below = 0; below < infinity; ++below) {
    const double low = by_definition<TypeParam>(below);
    const double high =
        below + 1 < infinity ? by_definition<TypeParam>(below + 1) : 2 * low - by_definition<TypeParam>(below - 1);
    const double middle = low + (high - low) / 2;  // exact: one bit more than the format has
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
