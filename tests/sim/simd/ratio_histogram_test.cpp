// Tests of the histogram of p / q and of the pass over a ladder's residual: every SIMD width gives the same bits as a
// plain loop, on zeros, denormals, ratios beyond the buckets and lengths that are not a multiple of a register.
#include <algorithm>
#include <bit>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include <draftproof/sim/distributions/streamed_rows.hpp>
#include <draftproof/sim/simd/ratio_histogram.hpp>
#include <draftproof/verifiers/ladder/residual.hpp>

namespace draftproof {
namespace {

struct FloatPair {
  std::vector<float> p, q;
};

/// Returns rows with entries of all sizes: zeros, denormals, and pairs whose ratio is at the end of a bucket.
FloatPair uneven_pair(std::size_t vocabulary, std::uint32_t seed) {
  std::mt19937 words(seed);
  std::normal_distribution<double> normal;
  FloatPair pair;
  for (std::size_t x = 0; x < vocabulary; ++x) {
    const double logit = 3 * normal(words) - std::log(static_cast<double>(vocabulary)) - 5;
    auto p = static_cast<float>(std::exp(logit)), q = static_cast<float>(std::exp(logit + 2 * normal(words)));
    switch (words() % 16) {
      case 0:
        p = 0;
        break;
      case 1:
        q = 0;
        break;
      case 2:
        p = q = 0;
        break;
      case 3:
        p = 0x1p-130f * static_cast<float>(words() % 1000);
        break;
      case 4:
        q = 0x1p-135f * static_cast<float>(words() % 1000);
        break;
      case 5:
        p = q * static_cast<float>(1 + words() % 64) / 32;
        break;  // ratios at which buckets begin
      case 6:
        p = std::nextafter(q * static_cast<float>(words() % 2 == 0 ? 48 : 1 + words() % 64) / 32, 0.0f);
        break;
      case 7:
        q = p * 0x1p-12f;
        break;
      case 8:
        p = q * 0x1p-12f;
        break;
      default:
        break;
    }
    pair.p.push_back(p);
    pair.q.push_back(q);
  }
  return pair;
}

constexpr std::size_t lengths[] = {1, 7, 15, 16, 17, 255, 256, 257, 1023, 1025, 5000};

TEST(RatioMasses, AreThoseOfAPlainLoopAtEveryWidth) {
  for (const std::size_t vocabulary : lengths)
    for (std::uint32_t seed = 0; seed < 8; ++seed) {
      const auto [p, q] = uneven_pair(vocabulary, seed);
      std::vector<simd::RatioMass> plain(RatioBuckets::count + 1);
      for (std::size_t x = 0; x < vocabulary; ++x) {
        // The expected ratio is divided in double and rounded to float; the code under test divides in float.
        const auto ratio = static_cast<float>(double{p[x]} / double{q[x]});
        auto& mass = plain[q[x] > 0 ? RatioBuckets::of(ratio) : RatioBuckets::outside];
        mass.target += to_fixed(p[x]);
        mass.proposal += to_fixed(q[x]);
      }
      for (const simd::Width width : simd::widths_here()) {
        const simd::RatioMasses masses(std::span<const float>{p}, std::span<const float>{q}, width);
        for (std::size_t bucket = 0; bucket <= RatioBuckets::count; ++bucket)
          ASSERT_EQ(masses.of(bucket), plain[bucket])
              << simd::name_of(width) << ", V = " << vocabulary << ", bucket " << bucket;
      }
    }
}

// The bins of a ladder's plan have exact integer sums, and each token's look-up finds the bin in which it is counted. A
// token whose q is 0 in units of 2^-60 is counted in the bin of its look-up or above it.
TEST(BucketBins, HoldTheIntegersOfTheirTokens) {
  int bins_seen = 0, vanished = 0;
  for (const std::size_t vocabulary : lengths)
    for (std::uint32_t seed = 0; seed < 8; ++seed) {
      const auto [p, q] = uneven_pair(vocabulary, seed);
      const FreshRows<float> rows(p, std::span<const float>(q));
      const BucketBins bins = rows.bins();
      for (int i = 0; i < bins.size(); ++i, ++bins_seen) {
        const std::size_t bucket = RatioBuckets::of(static_cast<float>(bins.lowest(i)));
        simd::RatioMass above, inside;
        for (Token x = 0; x < rows.vocabulary(); ++x) {
          const Fixed target = to_fixed(rows.target(x)), proposal = to_fixed(rows.proposal(x));
          const bool drafted = rows.proposal(x) > 0;
          const std::size_t own =
              drafted ? RatioBuckets::of(rows.target(x), rows.proposal(x)) : RatioBuckets::outside;
          if (own == bucket) {
            ASSERT_EQ(rows.bin(bins, x), i);
            inside.target += target;
            inside.proposal += proposal;
          } else if (own > bucket) {
            above.target += target;
            above.proposal += proposal;
          }
          vanished += drafted && own > bucket && i == 0;
        }
        ASSERT_EQ(bins.target_below(i), from_fixed(above.target)) << vocabulary << " " << i;
        ASSERT_EQ(bins.proposal_below(i), from_fixed(above.proposal)) << vocabulary << " " << i;
        ASSERT_EQ(bins.ratios()[static_cast<std::size_t>(i)],
                  static_cast<double>(inside.target) / static_cast<double>(inside.proposal));
        ASSERT_EQ(bins.highest(i), RatioBuckets::end(static_cast<int>(bucket)));
      }
      if (bins.size() == 0) continue;
      for (std::size_t bucket = 0; bucket < RatioBuckets::count; ++bucket) {
        int bin = bins.size() - 1;  // the last bin that is not below `bucket`, else the first bin
        while (bin > 0 && RatioBuckets::of(static_cast<float>(bins.lowest(bin))) < bucket) --bin;
        ASSERT_EQ(bins.of_bucket(bucket), bin) << vocabulary << " " << bucket;
      }
      EXPECT_EQ(bins.target_below(bins.size()), 1);  // holds even if the row does not sum to exactly 1
      EXPECT_EQ(bins.proposal_below(bins.size()), 1);
    }
  EXPECT_GT(bins_seen, 1000);
  EXPECT_GT(vanished, 0);
}

TEST(RatioMasses, DivisionInFloatIsDivisionInDoubleRounded) {
  std::mt19937 words(5);
  for (int i = 0; i < 2000000; ++i) {
    const auto some = [&] {
      return std::bit_cast<float>(static_cast<std::uint32_t>((words() & 0x7fffff) | (100 + words() % 27) << 23));
    };
    const float p = some(), q = some();
    ASSERT_EQ(p / q, static_cast<float>(double{p} / double{q})) << p << " / " << q;
  }
}

TEST(RatioMasses, BucketsBeginAndEndWhereTheySay) {
  for (int bucket = 1; bucket < RatioBuckets::count; ++bucket) {
    const auto begin = static_cast<float>(RatioBuckets::begin(bucket));
    EXPECT_EQ(RatioBuckets::of(begin), static_cast<std::size_t>(bucket));
    EXPECT_EQ(RatioBuckets::of(std::nextafter(begin, 0.0f)), static_cast<std::size_t>(bucket) - 1);
    EXPECT_EQ(RatioBuckets::end(bucket - 1), RatioBuckets::begin(bucket));
  }
}

TEST(LadderLeft, IsTheSumOfItsDefinitionAtEveryWidth) {
  std::mt19937 words(9);
  for (const std::size_t vocabulary : lengths)
    for (std::uint32_t seed = 0; seed < 4; ++seed) {
      const auto [p, q] = uneven_pair(vocabulary, seed);
      const FreshRows<float> rows(p, std::span<const float>(q));
      const BucketBins bins = rows.bins();
      std::vector<double> slope(static_cast<std::size_t>(std::max(bins.size(), 1)));
      // Slopes descend, as in plans. Some are so large that the residual is 0 in most buckets.
      for (double& s : slope) s = static_cast<double>(words() % 4096) / 1024 * (seed + 1);
      std::sort(slope.rbegin(), slope.rend());
      if (bins.size() == 0) continue;
      if (seed == 3)  // one step: the residual is 0 above ratio 1.5 and large below, or vice versa
        for (int i = 0; i < bins.size(); ++i)
          slope[static_cast<std::size_t>(i)] = (bins.lowest(i) >= 1.5) == (vocabulary % 2 == 0) ? 1000 : 0x1p-9;
      for (const double scale : {1.0, 0.37}) {
        const auto weights = rows.weights([&](Token x) {
          const double proposal = rows.proposal(x);
          const double chosen = proposal > 0 ? proposal * slope[static_cast<std::size_t>(rows.bin(bins, x))] : 0;
          return std::max(scale * rows.target(x) - chosen, 0.0);
        });
        for (const simd::Width width : simd::widths_here()) {
          const simd::Using use(width);
          const LadderLeft<FreshRows<float>, BucketBins> left(rows, bins, slope, scale);
          ASSERT_EQ(left.total(), weights.total()) << simd::name_of(width) << ", V = " << vocabulary;
          if (!(left.total() > 0)) continue;
          for (int i = 0; i < 200; ++i) {
            const std::uint64_t word = std::uint64_t{words()} << 32 | words();
            ASSERT_EQ(left.draw(word), weights.draw(word)) << simd::name_of(width) << ", V = " << vocabulary;
          }
        }
      }
    }
}

}  // namespace
}  // namespace draftproof
