// The decisions of a 64-bit word: the unit interval, comparisons at its ends, and integers below a bound.
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

#include <draftproof/sim/random/tape.hpp>

namespace draftproof::uniform_source_test {
namespace {

__extension__ using Wide = unsigned __int128;
constexpr std::uint64_t largest_word = ~std::uint64_t{0};

static_assert(unit_interval(0) == 0);
static_assert(unit_interval(largest_word) == 1 - 0x1p-53);
static_assert(unit_interval(2047) == 0 && unit_interval(2048) == 0x1p-53, "the low 11 bits are not used");

TEST(UniformSource, LargestUniformTimesDenominatorStaysBelowIt) {
  // Just above and just below powers of two, where the gap between doubles changes; down to the smallest normal
  // number with a full gap below it.
  const double u = unit_interval(largest_word);
  for (int exponent = -1021; exponent < 1023; ++exponent) {
    const double power = std::ldexp(1.0, exponent);
    for (const double den : {power, std::nextafter(power, 0), std::nextafter(power, 2 * power), power * 1.1,
                             power / 3, std::nextafter(2 * power, 0)})
      EXPECT_TRUE(den <= std::numeric_limits<double>::min() || u * den < den) << den;
  }
}

TEST(UniformSource, EqualNumeratorAndDenominatorAlwaysAccept) {
  for (const double den : {1.0, 0.1, 0.3, 1.0 / 3, 2.0 / 3, 1e-300, 5.1e-17, std::nextafter(1.0, 0)}) {
    Tape tape({largest_word});
    EXPECT_TRUE(tape.flip(den, den)) << den;
  }
}

TEST(UniformSource, ComparisonIsStrict) {
  EXPECT_FALSE(Tape({0}).flip(0.0, 0.5)) << "u = 0 must not accept probability 0";
  EXPECT_FALSE(Tape({Tape::word(0.5)}).flip(0.25, 0.5)) << "u equal to the threshold";
  EXPECT_TRUE(Tape({Tape::word(0.5) - 1}).flip(0.25, 0.5)) << "the word below";
}

TEST(UniformSource, ConsumesTheWordOfACertainFlip) {
  Tape tape({5, 6});
  EXPECT_TRUE(tape.flip(2.0, 1.0));
  EXPECT_FALSE(tape.flip(-1.0, 1.0));
  EXPECT_EQ(tape.played(), 2u);
}

TEST(UniformSource, ScaleIsTheFloorOfTheProduct) {
  const std::array<std::uint64_t, 9> words{0,
                                           1,
                                           0x8000000000000000,
                                           0x7fffffffffffffff,
                                           12345678901234567,
                                           1ull << 32,
                                           largest_word,
                                           largest_word - 1,
                                           0x243f6a8885a308d3};
  for (const std::uint64_t word : words)
    for (const std::uint64_t bound : {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{3}, std::uint64_t{262144},
                                      std::uint64_t{1} << 62, (std::uint64_t{1} << 62) - 1, largest_word})
      EXPECT_EQ(scale(word, bound), static_cast<std::uint64_t>(static_cast<Wide>(word) * bound >> 64));
}

// The words of value i are those from ceil(i 2^64 / bound) on, so every value has the same number of them to within
// one.
TEST(UniformSource, ScaleSplitsTheWordsEvenly) {
  for (const std::uint64_t bound : {std::uint64_t{1}, std::uint64_t{3}, std::uint64_t{7}, std::uint64_t{1000}}) {
    for (std::uint64_t i = 0; i < bound; ++i) {
      const auto first = static_cast<std::uint64_t>(((static_cast<Wide>(i) << 64) + bound - 1) / bound);
      EXPECT_EQ(scale(first, bound), i);
      EXPECT_TRUE(i == 0 || scale(first - 1, bound) == i - 1);
    }
    EXPECT_EQ(scale(largest_word, bound), bound - 1);
  }
}

}  // namespace
}  // namespace draftproof::uniform_source_test
