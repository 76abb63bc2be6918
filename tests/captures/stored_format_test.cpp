// Rounding to stored formats, against the hardware's float and against bits by hand.
#include <bit>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

#include <draftproof/captures/stored_format.hpp>
#include <draftproof/sim/numeric/short_float.hpp>
#include <draftproof/tests/support/example_rows.hpp>

namespace draftproof {
namespace {

/// Upper half of a float's bits, to nearest, ties to even: bf16 as engines store it. `value` is a float already.
double bf16_by_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return std::bit_cast<float>((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000);
}

TEST(StoredFormat, Float32IsTheHardwares) {
  for (std::uint64_t i = 0; i < 2000; ++i)
    for (const int power : {0, -30, -125, -127, -140, -149, -151}) {
      const double value = std::ldexp(examples::uniform(7, i), power);
      EXPECT_EQ(float32.round(value), static_cast<double>(static_cast<float>(value))) << value;
    }
  EXPECT_EQ(float32.round(0.0), 0.0);
  EXPECT_EQ(float32.round(1 + 0x1p-24), 1.0) << "a tie to even";
  EXPECT_EQ(float32.round(1 + 0x1.8p-23), 1 + 0x1p-22) << "a tie to even";
}

TEST(StoredFormat, Bfloat16IsHalfOfAFloat) {
  for (std::uint64_t i = 0; i < 2000; ++i)
    for (const int power : {0, -30, -126, -130, -134}) {
      const float value = std::ldexp(static_cast<float>(examples::uniform(8, i)), power);
      EXPECT_EQ(bfloat16.round(double{value}), bf16_by_bits(value)) << value;
    }
}

TEST(StoredFormat, Float16HasTenBitsAndStopsAtTwoToTheMinus24) {
  EXPECT_EQ(float16.round(1 + 0x1p-10), 1 + 0x1p-10);
  EXPECT_EQ(float16.round(1 + 0x1p-11), 1.0);
  EXPECT_EQ(float16.round(0x1p-24), 0x1p-24);
  EXPECT_EQ(float16.round(0x1p-25), 0.0) << "a tie to even";
  EXPECT_EQ(float16.round(0x1.8p-25), 0x1p-24);
  EXPECT_EQ(float16.round(0x1.3p-20), 0x1.3p-20);
  EXPECT_EQ(float16.round(0x1.38p-21), 0x1.4p-21) << "denormals have the spacing 2^-24";
}

TEST(StoredFormat, RoundsAsTheStorageTypesDo) {
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    const double value = std::ldexp(examples::uniform(3, i), -static_cast<int>(i % 140));
    ASSERT_EQ(bfloat16.round(value), static_cast<double>(Bfloat16(value))) << value;
    ASSERT_EQ(float16.round(value), static_cast<double>(Half(value))) << value;
  }
}

TEST(StoredFormat, RoundsEveryRow) {
  const RowPair rows = bfloat16.round(RowPair{{1 - 0x1p-12, 0x1p-12}, {{0.5, 0.5}, {0.3, 0.7}}});
  EXPECT_EQ(rows.target, (std::vector{1.0, 0x1p-12}));
  EXPECT_EQ(rows.proposals[0], (std::vector{0.5, 0.5}));
  EXPECT_EQ(rows.proposals[1], (std::vector{bfloat16.round(0.3), bfloat16.round(0.7)}));
  EXPECT_NE(rows.proposals[1][0], 0.3);
}

}  // namespace
}  // namespace draftproof
