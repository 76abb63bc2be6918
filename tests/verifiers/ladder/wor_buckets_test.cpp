// The ladder for drafts without replacement on buckets of rows: its coverage against a race token by token, the same
// bits at every register width, and draws from what is left of the bins.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include <draftproof/captures/family.hpp>
#include <draftproof/captures/source.hpp>
#include <draftproof/optimum/exponential_clocks.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/sim/distributions/streamed_rows.hpp>
#include <draftproof/verifiers/ladder_wor.hpp>

namespace draftproof {
namespace {

/// Every break between `bins`, and the ends.
std::vector<int> all_breaks(const auto& bins) {
  std::vector<int> breaks(static_cast<std::size_t>(bins.size()) + 1);
  std::iota(breaks.begin(), breaks.end(), 0);
  return breaks;
}

/// F at these breaks, as a plan of them has it.
WorCoverage<double> at_breaks(const WorCoverage<double>& coverage, const std::vector<int>& breaks) {
  return coverage.rough() ? coverage.refined(breaks) : coverage;
}

// Buckets, whose light tokens enter by sums of powers, against the race token by token of another program. Both
// integrals err by at most 1e-13, and V masses are added in double on either side. The same where bins are joined: F at
// the breaks that are left is the same.
TEST(LadderWor, BucketsHaveTheCoverageOfTheirTokens) {
  registry();
  for (const char* spec : {"gaussian_logits:vocabulary=32000,sigma=2.5,noise=1", "zipf:vocabulary=4096",
                           "gaussian_logits:vocabulary=4096,sigma=0.3,noise=1"}) {
    const RowPair pair = parse_family(spec).pair(7, 0);
    const FreshRows<double> rows(pair.target, std::span<const double>(pair.proposals[0]));
    const RatioTable table(pair.target, pair.proposals);
    const auto bins = rows.bins();
    const double tolerance = 2e-13 + 2 * rows.vocabulary() * 0x1p-53;
    for (const int drafts : {2, 3, 4, 8, 12}) {
      const RaceBins race(rows, bins, drafts);
      const auto with_light = [](const auto& powers) { return powers[1] > 0; };
      EXPECT_GT(std::count_if(race.light.begin(), race.light.end(), with_light), bins.size() / 4) << spec;
      const WorCoverage<double> rough(rows, bins, drafts), coverage = at_breaks(rough, all_breaks(bins));
      std::vector<int> few{0};
      for (int i = 5; i < bins.size(); i += 7) few.push_back(i);
      few.push_back(bins.size());
      const WorCoverage<double> joined = at_breaks(rough, few);
      const auto missed = missed_without_replacement(table, drafts);
      std::vector<std::size_t> end(static_cast<std::size_t>(bins.size()) + 1, 0);  // of bin i in the table's order
      for (std::size_t j = 0; j < table.order().size(); ++j)
        if (const Token x = table.order()[j]; rows.proposal(x) > 0)
          end[static_cast<std::size_t>(rows.bin(bins, x)) + 1] = j + 1;
      int compared = 0;
      for (int i = 1; i < bins.size(); ++i)
        if (const std::size_t j = end[static_cast<std::size_t>(i)]; j > 0) {
          ASSERT_NEAR(coverage.covered(i), missed[j], tolerance) << spec << ", K = " << drafts << ", break " << i;
          ASSERT_NEAR(rough.covered(i), missed[j], drafts > 2 ? 1e-5 : tolerance) << spec << ", K = " << drafts;
          if (i % 7 == 5) {
            ASSERT_NEAR(joined.covered(i), missed[j], tolerance) << spec << ", K = " << drafts << ", break " << i;
          }
          ++compared;
        }
      EXPECT_GT(compared, bins.size() / 2);
    }
  }
}

TEST(LadderWor, EveryRegisterWidthGivesTheSameBits) {
  registry();
  const Source source = Source::open(DRAFTPROOF_SOURCE_DIR "/data/stories512_positions.npz");
  const simd::Using before(simd::in_use());
  for (const RowPair& pair :
       {source.pair(0), parse_family("gaussian_logits:vocabulary=9001,sigma=2,noise=1").pair(3, 0)}) {
    const std::vector<float> p(pair.target.begin(), pair.target.end()),
        q(pair.proposals[0].begin(), pair.proposals[0].end());
    const FreshRows<float> rows{std::span<const float>(p), std::span<const float>(q)};
    const auto bins = rows.bins();
    for (const int drafts : {2, 3, 4, 8, 12}) {
      simd::use(simd::Width::scalar);
      const WorCoverage<double> rough(rows, bins, drafts), scalar = at_breaks(rough, all_breaks(bins));
      for (const simd::Width width : {simd::Width::avx2, simd::Width::avx512}) {
        if (simd::widest() < width) continue;
        simd::use(width);
        const WorCoverage<double> near(rows, bins, drafts), wide = at_breaks(near, all_breaks(bins));
        for (int i = 0; i < bins.size(); ++i) {
          EXPECT_EQ(near.covered(i), rough.covered(i)) << i;
          EXPECT_EQ(wide.chord(i, i + 1), scalar.chord(i, i + 1)) << i;
        }
      }
    }
  }
}

// The bound that stands for the mass beside the K - 1 largest tokens, where it is hard to find: one token has nearly all
// the mass, few tokens are large, or the support is hardly larger than K.
TEST(LadderWor, TheSlowestClocksAreBoundedFromBelow) {
  for (const int tokens : {3, 40, 5000})
    for (const double rest : {1e-20, 1e-9, 1e-4, 0.5}) {
      std::vector<float> q(6000, 0.0f);
      for (int x = 0; x < tokens; ++x) q[static_cast<std::size_t>(7 * x % 6000)] = static_cast<float>(rest / tokens);
      q[3] = static_cast<float>(1 - rest);
      const FreshRows<float> rows{std::span<const float>(q), std::span<const float>(q)};
      const auto bins = rows.bins();
      for (const int drafts : {2, 4, 8}) {
        std::vector<double> falling(q.begin(), q.end());
        std::sort(falling.begin(), falling.end());
        double exact = 0;
        for (std::size_t x = 0; x + static_cast<std::size_t>(drafts - 1) < falling.size(); ++x) exact += falling[x];
        const RaceBins race(rows, bins, drafts);
        EXPECT_LE(race.slowest, exact * (1 + 1e-9)) << tokens << " tokens of " << rest << ", K = " << drafts;
        EXPECT_GE(race.slowest, exact * 0.5) << tokens << " tokens of " << rest << ", K = " << drafts;
      }
    }
}

// Draws after the race, on fresh rows: the integers of the tokens that are left, in token order.
TEST(LadderWor, FreshRowsDrawWhatIsLeftOfTheBinsBelow) {
  registry();
  const RowPair pair = parse_family("gaussian_logits:vocabulary=3001,sigma=2,noise=1").pair(5, 0);
  const std::vector<float> p(pair.target.begin(), pair.target.end()),
      q(pair.proposals[0].begin(), pair.proposals[0].end());
  const FreshRows<float> rows{std::span<const float>(p), std::span<const float>(q)};
  const auto bins = rows.bins();
  const double sum = std::accumulate(q.begin(), q.end(), 0.0);  // the last bin has what it lacks
  for (const int first : {1, bins.size() / 3, 3 * bins.size() / 4}) {
    std::vector<Token> below;
    for (Token x = 0; x < rows.vocabulary(); ++x)
      if (rows.proposal(x) > 0 && rows.bin(bins, x) >= first) below.push_back(x);
    ASSERT_GT(below.size(), 3u);
    const Token seen[] = {below.back(), below[0], below[below.size() / 2]};
    std::vector<std::pair<Token, Fixed>> left;
    Fixed all = 0;
    for (const Token x : below)
      if (!among(x, seen, 3)) left.emplace_back(x, all += to_fixed(rows.proposal(x)));
    const RemainingBins remaining(rows, bins, first, seen, 3);
    EXPECT_NEAR(remaining.mass(), from_fixed(all), 1e-12 + std::abs(1 - sum));
    for (std::uint64_t i = 0; i < 50; ++i) {
      const std::uint64_t word = i * 0x9E3779B97F4A7C15;
      const auto place = static_cast<Fixed>(scale(word, static_cast<std::uint64_t>(all)));
      const auto token =
          std::find_if(left.begin(), left.end(), [place](const auto& one) { return place < one.second; });
      EXPECT_EQ(remaining.draw(word), token->first) << first;
    }
    const RemainingBins none(rows, bins, bins.size(), seen, 0);
    EXPECT_EQ(none.mass(), 0);
    EXPECT_EQ(none.draw(0), no_token);
  }
}

// One token has nearly all of q and the third draft nearly none: slopes of F reach 2^149, and times 2^155.
TEST(LadderWor, SelectedLawsSumToOneWhereDraftsAllButCannotBe) {
  const std::vector<double> p{0x1p-24, 0x1p-126, 0x1p-1074, 0.5, 0.5 - 0x1p-24},
      q{1 - 0x1p-24, 0x1p-24, 0x1p-1074, 0, 0x1p-149};
  const auto total = [](const auto& laws, int drafts) {
    const auto plan = verifiers::LadderWor{}.prepare(laws, drafts);
    double sum = 0;
    for (Token x = 0; x < laws.vocabulary(); ++x) sum += plan.core().selected(laws, x);
    return sum;
  };
  const Rows<double> rows(p, q);
  const FreshRows<double> fresh{std::span<const double>(p), std::span<const double>(q)};
  for (const int drafts : {1, 2, 3}) {  // with four the slope at the denormal, 2^1074, is no double
    EXPECT_NEAR(total(rows, drafts), 1, 1e-13) << drafts;
    EXPECT_NEAR(total(fresh, drafts), 1, 1e-13) << drafts;
  }
}

}  // namespace
}  // namespace draftproof
