// Tests of rows in the formats that engines pass: logits, and probabilities in double, float, bf16 or fp16.
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <thread>

#include <gtest/gtest.h>

#include <draftproof/sim/distributions/plain_rows.hpp>
#include <draftproof/tests/support/example_rows.hpp>

namespace draftproof {
namespace {

constexpr float infinite = std::numeric_limits<float>::infinity();

/// Returns logits near `centre`. Every `masked`-th logit, and all from token 2048 to 3071, are -infinity.
template <class Entry>
std::vector<Entry> random_logits(std::uint64_t seed, std::size_t size, double spread, double centre,
                                 std::size_t masked) {
  std::vector<Entry> logits(size);
  for (std::size_t x = 0; x < size; ++x) {
    const bool out = (masked > 0 && x % masked == seed % masked) || x / 1024 == 2;
    logits[x] = static_cast<Entry>(out ? -HUGE_VAL : centre + spread * std::log(1 - examples::uniform(seed, x)));
  }
  logits[seed % std::min<std::size_t>(size, 1000)] = static_cast<Entry>(centre);  // at least one logit is finite
  return logits;
}

struct Shape {
  double spread, centre;
  std::size_t masked;
  double temperature;
};
// With spread 30 the smallest of 4096 logits is about 250 below the greatest, so powers of e and products underflow.
const std::vector<Shape> shapes{
    {1, 0, 0, 1}, {2.5, 17.3, 0, 1}, {3, -250, 3, 0.7}, {30, 40, 0, 1}, {5, 1000, 7, 2.5}};
const std::vector<std::size_t> sizes{1, 2, 7, 8, 15, 16, 17, 33, 1023, 1024, 1025, 1039, 4096};

template <class Visit>
void for_widths(Visit visit) {
  for (const simd::Width width : simd::widths_here()) {
    const simd::Using using_width(width);
    visit(width);
  }
}

std::vector<std::uint32_t> bits_of(std::span<const float> row) {
  std::vector<std::uint32_t> bits;
  for (const float entry : row) bits.push_back(std::bit_cast<std::uint32_t>(entry));
  return bits;
}

TEST(PowersOfE, AreThoseOfOneNumberAtEveryWidth) {
  std::vector<float> exponents{-infinite, std::nanf(""), 0, -0.0f, -87, std::nextafter(-87.0f, -infinite)};
  const auto end = std::bit_cast<std::uint32_t>(-100.0f);
  for (std::uint32_t bits = 0x80000000; bits <= end; bits += 4099) exponents.push_back(std::bit_cast<float>(bits));
  for (std::uint64_t i = 0; i < 100'000; ++i) exponents.push_back(static_cast<float>(-90 * examples::uniform(7, i)));
  std::vector<float> wanted, found(exponents.size());
  for (const float x : exponents) wanted.push_back(exp_nonpositive(x));
  for_widths([&](simd::Width width) {
    powers_of_e(exponents.data(), exponents.size(), found.data());
    EXPECT_TRUE(bits_of(found) == bits_of(wanted)) << simd::name_of(width);
  });
}

template <class Entry>
struct SoftmaxOf : testing::Test {};
using LogitEntries = testing::Types<float, Bfloat16, Half>;
TYPED_TEST_SUITE(SoftmaxOf, LogitEntries);

TYPED_TEST(SoftmaxOf, HasTheSameBitsAtEveryWidth) {
  for (const std::size_t size : sizes)
    for (const Shape& shape : shapes) {
      const auto logits = random_logits<TypeParam>(size, size, shape.spread, shape.centre, shape.masked);
      Softmax softmax(static_cast<int>(size));
      std::vector<std::uint32_t> scalar;
      for_widths([&](simd::Width width) {
        const auto bits = bits_of(softmax.of(std::span<const TypeParam>(logits), shape.temperature));
        if (width == simd::Width::scalar) scalar = bits;
        ASSERT_EQ(bits, scalar) << "V " << size << " " << simd::name_of(width);
      });
    }
}

TYPED_TEST(SoftmaxOf, DoesNotDependOnOrderOrThreads) {
  const std::size_t size = 12'345;
  const auto logits = random_logits<TypeParam>(5, size, 4, 3, 11);
  const std::span<const TypeParam> view(logits);
  Softmax whole(static_cast<int>(size)), parts(static_cast<int>(size));
  const auto wanted = bits_of(whole.of(view));
  for (const std::size_t threads : {1u, 2u, 5u}) {
    const auto on_threads = [&](const std::function<void(std::size_t)>& step) {
      std::vector<std::jthread> running;
      for (std::size_t thread = 0; thread < threads; ++thread)
        running.emplace_back([&, thread] {
          for (std::size_t b = parts.blocks(); b-- > 0;)
            if (b % threads == thread) step(b);
        });
    };
    on_threads([&](std::size_t b) { parts.read_block(view, 1, b); });
    parts.join(view, 1);
    on_threads([&](std::size_t b) { parts.scale_block(b); });
    EXPECT_EQ(bits_of(parts.row()), wanted) << threads;
  }
}

TYPED_TEST(SoftmaxOf, KeepsItsBounds) {
  long double largest_defect = 0;
  for (const std::size_t size : sizes)
    for (const Shape& shape : shapes) {
      const auto logits = random_logits<TypeParam>(size + 1, size, shape.spread, shape.centre, shape.masked);
      Softmax softmax(static_cast<int>(size));
      const auto row = softmax.of(std::span<const TypeParam>(logits), shape.temperature);
      long double greatest = -HUGE_VALL, total = 0, sum = 0;
      for (const TypeParam logit : logits) greatest = std::max<long double>(greatest, static_cast<float>(logit));
      const auto depth = [&](std::size_t x) {
        return (greatest - static_cast<float>(logits[x])) / shape.temperature;
      };
      for (std::size_t x = 0; x < size; ++x) total += std::exp(-depth(x));
      for (std::size_t x = 0; x < size; ++x) {
        const long double wanted = std::exp(-depth(x)) / total;
        if (std::isinf(static_cast<float>(logits[x]))) {
          ASSERT_EQ(row[x], 0) << "masked";
        } else if (row[x] == 0) {
          // An entry is 0 only if its logit is more than 87 below the greatest logit of its block, or if the greatest
          // logit of its block is more than 87 below the greatest of the row; e^-87 < 2^-125.
          ASSERT_LT(wanted, 0x1p-125L);
        } else {
          const long double bound = 0x1p-22L + 0x1p-22L + 0x1p-23L + 3 * 0x1p-24L * depth(x);
          ASSERT_LE(std::abs(row[x] / wanted - 1), bound) << "V " << size << " token " << x;
          ASSERT_GE(row[x], std::numeric_limits<float>::min() / 2) << "denormal by more than a rounding";
        }
        sum += row[x];
      }
      ASSERT_LE(std::abs(sum - 1), 0x1p-23L + static_cast<long double>(size) * 0x1p-46L) << "V " << size;
      largest_defect = std::max(largest_defect, std::abs(sum - 1));
    }
  EXPECT_GT(largest_defect, 0x1p-28L) << "a bound that is never approached bounds something else";
}

TYPED_TEST(SoftmaxOf, NamesTheRowAndTokenOfWhatIsNoLogit) {
  const auto message = [](const std::vector<TypeParam>& logits) -> std::string {
    try {
      Softmax(static_cast<int>(logits.size())).of(std::span<const TypeParam>(logits), 1, "target logits");
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "nothing";
  };
  for_widths([&](simd::Width) {
    for (const std::size_t size : {1u, 20u, 1024u, 2500u})
      for (const std::size_t token : {std::size_t{0}, size / 2, size - 1}) {
        std::vector<TypeParam> logits(size, TypeParam{0.0f});
        const std::string place = "target logits: token " + std::to_string(token) + ": got ";
        logits[token] = static_cast<TypeParam>(std::numeric_limits<float>::quiet_NaN());
        ASSERT_EQ(message(logits), place + "NaN, expected a finite logit, or -infinity");
        logits[token] = static_cast<TypeParam>(infinite);
        ASSERT_EQ(message(logits), place + "+infinity, expected a finite logit, or -infinity");
        logits.assign(size, static_cast<TypeParam>(-infinite));
        ASSERT_EQ(message(logits), "target logits: got -infinity for every token, expected a finite logit");
        logits[token] = TypeParam{1.0f};
        ASSERT_EQ(message(logits), "nothing");
      }
  });
}

TEST(SoftmaxScale, KeepsWhatIsAtItsLeastAndNothingBelow) {
  const float least = 0x1.8p-20f, factor = 0x1.23456p-9f;
  std::vector<float> powers;
  for (int i = 0; i < 11; ++i)
    powers.insert(powers.end(), {least, std::nextafter(least, 0.0f), std::nextafter(least, 1.0f), 0, 1});
  for_widths([&](simd::Width width) {
    std::vector<float> scaled = powers;
    softmax_scale(scaled.data(), scaled.size(), factor, least);
    for (std::size_t i = 0; i < powers.size(); ++i)
      ASSERT_EQ(scaled[i], powers[i] < least ? 0 : powers[i] * factor) << simd::name_of(width) << " " << i;
  });
}

TEST(Softmax, RefusesTemperaturesThatAreNone) {
  for (const double temperature : {0.0, -1.0, HUGE_VAL, std::nan(""), 1e-39, 1e39})
    EXPECT_THROW(inverse_temperature(temperature), std::invalid_argument) << temperature;
  EXPECT_EQ(inverse_temperature(4), 0.25f);
}

TEST(LogitRows, AreFreshRowsOfTheSoftmax) {
  const std::size_t size = 3000;
  const auto p = random_logits<Half>(1, size, 2, 5, 0), q = random_logits<Half>(2, size, 2, 5, 9),
             r = random_logits<Half>(3, size, 3, 0, 0);
  const std::vector<std::span<const Half>> proposals{q, r};
  LogitRows logits(size, 2);
  const FreshRows<float> rows = logits.of(std::span<const Half>(p), proposals, {.target = 1, .proposal = 0.6});
  Softmax one(size), other(size), third(size);
  const auto target = one.of(std::span<const Half>(p)), cooler = other.of(proposals[0], 0.6),
             second = third.of(proposals[1], 0.6);
  for (Token x = 0; x < 3000; ++x) {
    const auto i = static_cast<std::size_t>(x);
    ASSERT_EQ(rows.target(x), double{target[i]});
    ASSERT_EQ(rows.proposal(x, 0), double{cooler[i]});
    ASSERT_EQ(rows.proposal(x, 1), double{second[i]});
  }
}

// Tests of stored rows: invalid rows are rejected; sums, conversions and normalised rows are the same at every width.

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
      for_widths([&](simd::Width width) {
        ASSERT_EQ(checked_sum(view, "row", width), scalar) << simd::name_of(width);
        normalise_stored(view, scalar, found.data(), width);
        ASSERT_EQ(found, wanted) << simd::name_of(width);
      });
    }
  if constexpr (sizeof(TypeParam) == 2) {
    EXPECT_GT(largest, 0.05) << "a tolerance far above what storing does";
  }
}

TYPED_TEST(StoredRowOf, RefusesWhatIsNoDistribution) {
  const auto message = [](const std::vector<TypeParam>& row, simd::Width width) -> std::string {
    try {
      checked_sum(std::span<const TypeParam>(row), "target row", width);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "nothing";
  };
  for_widths([&](simd::Width width) {
    for (const std::size_t size : {4u, 40u, 1024u, 3000u})
      for (const std::size_t token : {std::size_t{1}, size / 2, size - 1}) {
        const std::string place = "target row: token " + std::to_string(token) + ": got ";
        std::vector<TypeParam> row(size, static_cast<TypeParam>(0));
        row[0] = static_cast<TypeParam>(1);
        ASSERT_EQ(message(row, width), "nothing");
        row[token] = static_cast<TypeParam>(std::numeric_limits<double>::quiet_NaN());
        ASSERT_EQ(message(row, width), place + "NaN, expected a probability");
        row[token] = static_cast<TypeParam>(HUGE_VAL);
        ASSERT_EQ(message(row, width), place + "inf, expected a probability");
        row[token] = static_cast<TypeParam>(-0.25);
        ASSERT_EQ(message(row, width), place + "-0.250000, expected a probability");
        row[token] = static_cast<TypeParam>(0.25);
        ASSERT_EQ(message(row, width).substr(0, 46), "target row: got probabilities with sum 1.25000");
      }
    // A sum of 64-bit integers without a check for overflow would wrap around.
    const std::vector<TypeParam> ones(1 << 13, static_cast<TypeParam>(1));
    ASSERT_EQ(message(ones, width).substr(0, 48), "target row: got probabilities with sum 2 or more");
  });
}

TYPED_TEST(StoredRowOf, IsReadAsItIsConverted) {
#if DRAFTPROOF_WIDE
  if constexpr (sizeof(TypeParam) == 2) {
    // Converts every finite 16-bit pattern. Normalising by the sum 1 must keep the values of the entries.
    std::vector<TypeParam> all;
    for (int bits = 0; bits < 1 << 16; ++bits) {
      const auto entry = TypeParam::of_bits(static_cast<std::uint16_t>(bits));
      if (std::isfinite(static_cast<float>(entry))) all.push_back(entry);
    }
    for_widths([&](simd::Width width) {
      std::vector<float> widened(all.size());
      normalise_stored(std::span<const TypeParam>(all), 1, widened.data(), width);
      for (std::size_t i = 0; i < all.size(); ++i)
        ASSERT_EQ(std::bit_cast<std::uint32_t>(widened[i]), std::bit_cast<std::uint32_t>(static_cast<float>(all[i])));
    });
  }
#endif
}

TEST(SumTolerance, CoversWhatDenormalsOfFp16LoseTogether) {
  // 1 / V is 16.49 steps of 2^-24, the distance of denormal fp16 numbers, so rounding decreases every entry by nearly
  // half a step, which is 3 % of it.
  const std::size_t size = 1'017'417;
  const std::vector<Half> flat(size, Half(1.0 / static_cast<double>(size)));
  EXPECT_LT(checked_sum(std::span<const Half>(flat)), 0.971);
  // With a tenth of the tokens, each ten times as likely, rounding to fp16 cannot explain a loss of 3 %.
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
