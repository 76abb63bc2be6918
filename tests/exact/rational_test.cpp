// Compares Rational with the fractions of Boost.
#include <cmath>
#include <limits>
#include <sstream>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <draftproof/optimum/exact/rational.hpp>

namespace draftproof {
namespace {

TEST(Rational, WeightsBecomeADistribution) {
  const std::vector<int> weights{1, 0, 3};
  EXPECT_EQ(normalised(weights), (std::vector<Rational>{{1, 4}, 0, {3, 4}}));
}

TEST(Rational, PrintsInLowestTerms) {
  EXPECT_EQ(to_text(Rational(6, 8)), "3/4");
  EXPECT_EQ(to_text(Rational(4, 2)), "2");
  EXPECT_EQ(to_text(std::vector<Rational>{{1, 4}, 0, {3, 4}}), "(1/4 0 3/4)");
}

TEST(Rational, BriefTextCutsWhatNobodyReads) {
  EXPECT_EQ(brief(Rational(6, 8)), "3/4");
  EXPECT_EQ(brief(Rational(123456789, 100000007)), "123456789/100000007");
  EXPECT_EQ(brief(std::vector<Rational>{{1, 4}, Rational(1) / 3 + Rational(1) / 1000000007}), "(1/4 0.333333334...)");
}

TEST(Rational, TotalVariationIsHalfTheDistance) {
  const std::vector<Rational> a{{1, 2}, {1, 2}, 0}, b{{1, 4}, {1, 4}, {1, 2}};
  EXPECT_EQ(total_variation(a, b), Rational(1, 2));
  EXPECT_EQ(total_variation(a, a), 0);
}

// Tests every operation on fractions of 64-bit integers and of longer integers, also at the boundary between the two.

using Reference =
    boost::multiprecision::number<boost::multiprecision::cpp_rational_backend, boost::multiprecision::et_off>;
constexpr std::int64_t longest_word = std::numeric_limits<std::int64_t>::max();

/// Returns integers of any length up to 64 bits; the extreme values and their neighbours are frequent.
rc::Gen<std::int64_t> any_length() {
  const auto shorter = rc::gen::apply([](std::int64_t word, int bits) { return word >> bits; },
                                      rc::gen::arbitrary<std::int64_t>(), rc::gen::inRange(0, 63));
  return rc::gen::oneOf(shorter, rc::gen::element<std::int64_t>(0, 1, -1, longest_word, -longest_word,
                                                                std::numeric_limits<std::int64_t>::min(),
                                                                longest_word - 1, std::int64_t{1} << 62, 720'720));
}

struct Both {
  Rational ours;
  Reference wanted;
};

/// Returns a fraction of 64-bit integers, or the product of two such fractions.
rc::Gen<Both> any_fraction() {
  return rc::gen::apply(
      [](std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d, bool far) {
        if (b == 0) b = 1;
        if (d == 0 || !far) d = 1;
        if (!far) c = 1;
        return Both{Rational(a, b) * Rational(c, d), Reference(a) / b * c / d};
      },
      any_length(), any_length(), any_length(), any_length(), rc::gen::arbitrary<bool>());
}

void expect_same(const Rational& ours, const Reference& wanted) {
  RC_ASSERT(ours.str() == wanted.str());
  const BigInteger numerator = boost::multiprecision::numerator(wanted),
                   denominator = boost::multiprecision::denominator(wanted);
  RC_ASSERT(ours.big().numerator == numerator);
  RC_ASSERT(ours.big().denominator == denominator);
  RC_ASSERT(ours.sign() == wanted.sign());
  // The representation of a value is unique, so values that are equal compare equal however they were computed.
  const Rational again(BigRational{numerator, denominator});
  RC_ASSERT(ours == again);
  RC_ASSERT((ours <=> again) == std::strong_ordering::equal);
  RC_ASSERT(ours.is_integer() == (denominator == 1));
}

RC_GTEST_PROP(RationalNumber, ComputesAsBoostDoes, ()) {
  const Both a = *any_fraction(), b = *any_fraction();
  expect_same(a.ours, a.wanted);
  expect_same(a.ours + b.ours, a.wanted + b.wanted);
  expect_same(a.ours - b.ours, a.wanted - b.wanted);
  expect_same(a.ours * b.ours, a.wanted * b.wanted);
  if (b.wanted != 0) expect_same(a.ours / b.ours, a.wanted / b.wanted);
  expect_same(-a.ours, -a.wanted);
  expect_same(abs(a.ours), abs(a.wanted));
  RC_ASSERT((a.ours < b.ours) == (a.wanted < b.wanted));
  RC_ASSERT((a.ours == b.ours) == (a.wanted == b.wanted));
  RC_ASSERT((a.ours <=> b.ours < 0) == (a.wanted < b.wanted));
}

RC_GTEST_PROP(RationalNumber, ComesBackIntoWords, ()) {
  const Both a = *any_fraction(), b = *any_fraction();
  expect_same(a.ours + b.ours - b.ours, a.wanted);
  if (b.wanted != 0) expect_same(a.ours * b.ours / b.ours, a.wanted);
}

RC_GTEST_PROP(RationalNumber, MayBeItsOwnOperand, ()) {
  const Both a = *any_fraction();
  Rational value = a.ours;
  const Rational& itself = value;
  expect_same(value -= itself, 0);
  value = a.ours;
  expect_same(value *= itself, a.wanted * a.wanted);
  value = a.ours;
  if (a.wanted != 0) expect_same(value /= itself, 1);
  value = a.ours;
  expect_same(value += itself, a.wanted + a.wanted);
  value = itself;
  expect_same(value, a.wanted + a.wanted);
}

RC_GTEST_PROP(RationalNumber, IsTheValueOfADouble, (double value)) {
  RC_PRE(std::isfinite(value));
  RC_ASSERT(Rational(value).str() == Reference(value).str());
  RC_ASSERT(static_cast<double>(Rational(value)) == value);
}

/// Expects that the conversion to double rounds to nearest: neither neighbour of the result is nearer to `value`.
void expect_nearest(const Rational& value) {
  const double nearest = static_cast<double>(value);
  RC_ASSERT(std::isfinite(nearest));
  for (const double other : {std::nextafter(nearest, -1e300), std::nextafter(nearest, 1e300)})
    RC_ASSERT(abs(value - Rational(nearest)) <= abs(value - Rational(other)));
}

RC_GTEST_PROP(RationalNumber, RoundsToTheNearestDouble, ()) {
  const std::int64_t most = std::int64_t{1} << 53;
  expect_nearest(Rational(*rc::gen::inRange<std::int64_t>(-most, most), *rc::gen::inRange<std::int64_t>(1, most)));
}

RC_GTEST_PROP(RationalNumber, RoundsToTheNearestDoubleAtAnySize, ()) {
  const auto factor = [] {
    return Rational(std::ldexp(*rc::gen::inRange(-4096, 4097), *rc::gen::inRange(-540, 440)));
  };
  expect_nearest((*any_fraction()).ours * factor() * factor());
}

/// Tests values so near to a half of the least double that 53 bits cannot represent the difference: rounding to 53
/// bits first, and then to a denormal, would give a wrong result.
TEST(RationalNumber, RoundsHalvesOfTheLeastDouble) {
  const Rational least(std::numeric_limits<double>::denorm_min());
  for (int eighths = 0; eighths <= 64; ++eighths)
    for (const int beside : {-1, 0, 1}) {
      const Rational value = least * Rational(eighths, 8) + least * Rational(beside, std::int64_t{1} << 60);
      const int whole = eighths / 8, rest = eighths % 8 * 2 + beside;
      const int nearest = whole + (rest > 8 || (rest == 8 && whole % 2 == 1));
      EXPECT_EQ(static_cast<double>(value), nearest * std::numeric_limits<double>::denorm_min()) << eighths << beside;
    }
}

TEST(RationalNumber, TakesEveryInteger) {
  EXPECT_EQ(Rational(std::numeric_limits<std::uint64_t>::max()).str(), "18446744073709551615");
  EXPECT_EQ(Rational(std::numeric_limits<std::int64_t>::min()).str(), "-9223372036854775808");
  EXPECT_EQ(-Rational(std::numeric_limits<std::int64_t>::min()) - 1, longest_word);
  EXPECT_EQ(Rational(1, std::numeric_limits<std::int64_t>::min()).str(), "-1/9223372036854775808");
  EXPECT_EQ(Rational(true), 1);
}

TEST(RationalNumber, ReadsAndPrints) {
  EXPECT_EQ(Rational(std::string("6/8")), Rational(3, 4));
  EXPECT_EQ(Rational(std::string("-12345678901234567890123")) * 0, 0);
  EXPECT_THROW(Rational(std::string("a half")), std::runtime_error);
  std::ostringstream out;
  out << Rational(-6, 8) << ' ' << Rational(4, -2);
  EXPECT_EQ(out.str(), "-3/4 -2");
}

TEST(RationalNumber, RefusesADenominatorOfZero) {
  EXPECT_THROW(Rational(1, 0), std::overflow_error);
  EXPECT_THROW(Rational(1, 3) / 0, std::overflow_error);
}

}  // namespace
}  // namespace draftproof
