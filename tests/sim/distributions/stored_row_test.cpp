// Rows as they are stored: refused rows at the boundary, sums and normalised rows with the same bits at every width,
// and readers against the conversion of each entry.
#include <bit>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <draftproof/sim/distributions/normalised_rows.hpp>
#include <draftproof/tests/support/example_rows.hpp>

namespace draftproof {
namespace {

template <class Entry>
std::vector<Entry> stored_as(const std::vector<double>& row) {
  std::vector<Entry> stored;
  for (const double entry : row) stored.push_back(static_cast<Entry>(entry));
  return stored;
}

template <class Entry>
struct StoredRowOf : testing::Test {};
using StoredEntries = testing::Types<double, float, Bfloat16, Half>;
TYPED_TEST_SUITE(StoredRowOf, StoredEntries);

const std::vector<std::size_t> stored_sizes{1, 3, 8, 9, 31, 1023, 1024, 1030, 5000};

TYPED_TEST(StoredRowOf, SumsAndNormalisesAlikeAtEveryWidth) {
  double largest = 0;
  for (const std::size_t size : stored_sizes)
    for (const double sharpness : {1.0, 6.0}) {
      const auto row = stored_as<TypeParam>(examples::random_row(size, size, sharpness, 0.2));
      const std::span<const TypeParam> view(row);
      long double sum = 0;
      for (const TypeParam entry : row) sum += static_cast<double>(entry);
      const double scalar = checked_sum(view, "row", simd::Width::scalar);
      const double allowed = static_cast<double>(size) * 0x1p-52;
      ASSERT_NEAR(scalar, static_cast<double>(sum), allowed + 0x1p-52);
      largest = std::max(largest, std::abs(scalar - 1) / sum_tolerance<TypeParam>(size));
      std::vector<float> wanted(size), found(size);
      normalise_stored(view, scalar, wanted.data(), simd::Width::scalar);
      long double normalised = 0;
      for (std::size_t x = 0; x < size; ++x) {
        ASSERT_EQ(wanted[x], static_cast<float>(static_cast<double>(row[x]) * (1 / scalar)));
        normalised += wanted[x];
      }
      ASSERT_LE(std::abs(normalised - 1), 0x1p-24L + allowed + 0x1p-51L);
      for (const simd::Width width : simd::widths) {
        if (width > simd::widest()) continue;
        ASSERT_EQ(checked_sum(view, "row", width), scalar) << simd::name_of(width);
        normalise_stored(view, scalar, found.data(), width);
        ASSERT_EQ(found, wanted) << simd::name_of(width);
      }
    }
  if constexpr (sizeof(TypeParam) == 2) {
    EXPECT_GT(largest, 0.05) << "a tolerance far above what storing does";
  }
}

TYPED_TEST(StoredRowOf, RefusesWhatIsNoLaw) {
  const auto message = [](const std::vector<TypeParam>& row, simd::Width width) -> std::string {
    try {
      checked_sum(std::span<const TypeParam>(row), "target row", width);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "nothing";
  };
  for (const simd::Width width : simd::widths) {
    if (width > simd::widest()) continue;
    for (const std::size_t size : {4u, 40u, 1024u, 3000u})
      for (const std::size_t token : {std::size_t{1}, size / 2, size - 1}) {
        const std::string place = "target row: token " + std::to_string(token) + ": found ";
        std::vector<TypeParam> row(size, static_cast<TypeParam>(0));
        row[0] = static_cast<TypeParam>(1);
        ASSERT_EQ(message(row, width), "nothing");
        row[token] = static_cast<TypeParam>(std::numeric_limits<double>::quiet_NaN());
        ASSERT_EQ(message(row, width), place + "NaN, wanted a probability");
        row[token] = static_cast<TypeParam>(HUGE_VAL);
        ASSERT_EQ(message(row, width), place + "inf, wanted a probability");
        row[token] = static_cast<TypeParam>(-0.25);
        ASSERT_EQ(message(row, width), place + "-0.250000, wanted a probability");
        row[token] = static_cast<TypeParam>(0.25);
        ASSERT_EQ(message(row, width).substr(0, 48), "target row: found probabilities with sum 1.25000");
      }
    // An integer sum would wrap around to 1 again at 2^64 units.
    const std::vector<TypeParam> ones(1 << 13, static_cast<TypeParam>(1));
    ASSERT_EQ(message(ones, width).substr(0, 50), "target row: found probabilities with sum 2 or more");
  }
}

TYPED_TEST(StoredRowOf, IsReadAsItIsConverted) {
#if DRAFTPROOF_WIDE
  if constexpr (sizeof(TypeParam) == 2) {
    // Every finite pattern through the readers of passes: normalised with factor 1, the result is the entry itself.
    std::vector<TypeParam> all;
    for (int bits = 0; bits < 1 << 16; ++bits) {
      const auto entry = TypeParam::of_bits(static_cast<std::uint16_t>(bits));
      if (std::isfinite(static_cast<float>(entry))) all.push_back(entry);
    }
    for (const simd::Width width : simd::widths) {
      if (width > simd::widest()) continue;
      std::vector<float> widened(all.size());
      normalise_stored(std::span<const TypeParam>(all), 1, widened.data(), width);
      for (std::size_t i = 0; i < all.size(); ++i)
        ASSERT_EQ(std::bit_cast<std::uint32_t>(widened[i]), std::bit_cast<std::uint32_t>(static_cast<float>(all[i])));
    }
  }
#endif
}

TEST(SumTolerance, CoversWhatDenormalsOfFp16LoseTogether) {
  // 1 / V is 16.49 quanta of 2^-24: every entry loses nearly half a quantum, 3 % of the row.
  const std::size_t size = 1'017'417;
  const std::vector<Half> flat(size, Half(1.0 / static_cast<double>(size)));
  EXPECT_LT(checked_sum(std::span<const Half>(flat)), 0.971);
  // The format does not explain the same loss in a row of a tenth of the tokens, each ten times as likely.
  const std::vector<Half> fewer(size / 10, Half(9.7 / static_cast<double>(size)));
  EXPECT_THROW(checked_sum(std::span<const Half>(fewer)), std::invalid_argument);
}

TEST(NormalisedRows, AreFreshRowsThatSumToOne) {
  const auto p = stored_as<Bfloat16>(examples::random_row(1, 2000)),
             q = stored_as<Bfloat16>(examples::random_row(2, 2000));
  NormalisedRows normalised(2000);
  const std::span<const Bfloat16> target(p), proposal(q);
  const FreshRows<float> rows = normalised.of(target, proposal);
  EXPECT_NEAR(rows.residual_mass(0), 1, 0x1p-24 + 2000 * 0x1p-52);
  EXPECT_GT(std::abs(checked_sum(target) - 1), 0x1p-20) << "it did not before";
  for (Token x = 0; x < 2000; ++x)
    ASSERT_EQ(rows.proposal(x),
              double{static_cast<float>(double{q[static_cast<std::size_t>(x)]} * (1 / checked_sum(proposal)))});
}

}  // namespace
}  // namespace draftproof
