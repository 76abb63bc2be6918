// The histogram of p / q and the pass over what a ladder leaves: every width gives the bits of a plain loop, on rows
// with zeros, denormals, ratios beyond the buckets and lengths that no register divides.
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

/// Probabilities of all sizes, among them 0, denormals and ratios at the ends of buckets.
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
        break;  // where buckets begin
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

std::vector<wide::Width> widths_at_hand() {
  std::vector<wide::Width> all;
  for (const wide::Width width : wide::widths)
    if (width <= wide::widest()) all.push_back(width);
  return all;
}

constexpr std::size_t lengths[] = {1, 7, 15, 16, 17, 255, 256, 257, 1023, 1025, 5000};

TEST(RatioMasses, AreThoseOfAPlainLoopAtEveryWidth) {
  for (const std::size_t vocabulary : lengths)
    for (std::uint32_t seed = 0; seed < 8; ++seed) {
      const auto [p, q] = uneven_pair(vocabulary, seed);
      std::vector<wide::RatioMass> plain(RatioBuckets::count + 1);
      for (std::size_t x = 0; x < vocabulary; ++x) {
        // In double, rounded to float afterwards: the other way to divide.
        const auto ratio = static_cast<float>(double{p[x]} / double{q[x]});
        auto& mass = plain[q[x] > 0 ? RatioBuckets::of(ratio) : RatioBuckets::outside];
        mass.target += to_fixed(p[x]);
        mass.proposal += to_fixed(q[x]);
      }
      for (const wide::Width width : widths_at_hand()) {
        const wide::RatioMasses masses(std::span<const float>{p}, std::span<const float>{q}, width);
        for (std::size_t bucket = 0; bucket <= RatioBuckets::count; ++bucket)
          ASSERT_EQ(masses.of(bucket), plain[bucket])
              << wide::name_of(width) << ", V = " << vocabulary << ", bucket " << bucket;
      }
    }
}

// What ladders are planned on: integers down to the last unit, and each token in the rung that its look-up says.
// Tokens of so little q that it vanishes stand above the rung they are looked up in, if not in it.
TEST(BucketRungs, HoldTheIntegersOfTheirTokens) {
  int rungs_seen = 0, vanished = 0;
  for (const std::size_t vocabulary : lengths)
    for (std::uint32_t seed = 0; seed < 8; ++seed) {
      const auto [p, q] = uneven_pair(vocabulary, seed);
      const FreshRows<float> rows(p, std::span<const float>(q));
      const BucketRungs rungs = rows.rungs();
      for (int i = 0; i < rungs.size(); ++i, ++rungs_seen) {
        const std::size_t bucket = RatioBuckets::of(static_cast<float>(rungs.lowest(i)));
        wide::RatioMass above, inside;
        for (Token x = 0; x < rows.vocabulary(); ++x) {
          const Fixed target = to_fixed(rows.target(x)), proposal = to_fixed(rows.proposal(x));
          const bool drafted = rows.proposal(x) > 0;
          const std::size_t own =
              drafted ? RatioBuckets::of(rows.target(x), rows.proposal(x)) : RatioBuckets::outside;
          if (own == bucket) {
            ASSERT_EQ(rows.rung(rungs, x), i);
            inside.target += target;
            inside.proposal += proposal;
          } else if (own > bucket) {
            above.target += target;
            above.proposal += proposal;
          }
          vanished += drafted && own > bucket && i == 0;
        }
        ASSERT_EQ(rungs.target_below(i), from_fixed(above.target)) << vocabulary << " " << i;
        ASSERT_EQ(rungs.proposal_below(i), from_fixed(above.proposal)) << vocabulary << " " << i;
        ASSERT_EQ(rungs.ratios()[static_cast<std::size_t>(i)],
                  static_cast<double>(inside.target) / static_cast<double>(inside.proposal));
        ASSERT_EQ(rungs.highest(i), RatioBuckets::end(static_cast<int>(bucket)));
      }
      if (rungs.size() == 0) continue;
      for (std::size_t bucket = 0; bucket < RatioBuckets::count; ++bucket) {
        int rung = rungs.size() - 1;  // the last that does not lie below, or else the first
        while (rung > 0 && RatioBuckets::of(static_cast<float>(rungs.lowest(rung))) < bucket) --rung;
        ASSERT_EQ(rungs.of_bucket(bucket), rung) << vocabulary << " " << bucket;
      }
      EXPECT_EQ(rungs.target_below(rungs.size()), 1);  // whatever rows sum to
      EXPECT_EQ(rungs.proposal_below(rungs.size()), 1);
    }
  EXPECT_GT(rungs_seen, 1000);
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
      const BucketRungs rungs = rows.rungs();
      std::vector<double> slope(static_cast<std::size_t>(std::max(rungs.size(), 1)));
      // Descending, as plans have them; in some cases so high that most buckets leave nothing.
      for (double& s : slope) s = static_cast<double>(words() % 4096) / 1024 * (seed + 1);
      std::sort(slope.rbegin(), slope.rend());
      if (rungs.size() == 0) continue;
      if (seed == 3)  // one edge, where ratios lie on both sides: nothing left above it and much below, or vice versa
        for (int i = 0; i < rungs.size(); ++i)
          slope[static_cast<std::size_t>(i)] = (rungs.lowest(i) >= 1.5) == (vocabulary % 2 == 0) ? 1000 : 0x1p-9;
      for (const double scale : {1.0, 0.37}) {
        const auto weights = rows.weights([&](Token x) {
          const double proposal = rows.proposal(x);
          const double chosen = proposal > 0 ? proposal * slope[static_cast<std::size_t>(rows.rung(rungs, x))] : 0;
          return std::max(scale * rows.target(x) - chosen, 0.0);
        });
        for (const wide::Width width : widths_at_hand()) {
          const wide::Using use(width);
          const LadderLeft<FreshRows<float>, BucketRungs> left(rows, rungs, slope, scale);
          ASSERT_EQ(left.total(), weights.total()) << wide::name_of(width) << ", V = " << vocabulary;
          if (!(left.total() > 0)) continue;
          for (int i = 0; i < 200; ++i) {
            const std::uint64_t word = std::uint64_t{words()} << 32 | words();
            ASSERT_EQ(left.draw(word), weights.draw(word)) << wide::name_of(width) << ", V = " << vocabulary;
          }
        }
      }
    }
}

}  // namespace
}  // namespace draftproof
