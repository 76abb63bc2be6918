// Tests of races of exponential clocks: their arrivals are in the order of a plain sort, on every representation of
// rows; and the drafter and the verifier of a trial read the same shared noise.
#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include <draftproof/sim/distributions/plain_rows.hpp>
#include <draftproof/sim/distributions/ratio_table.hpp>
#include <draftproof/sim/distributions/streamed_rows.hpp>
#include <draftproof/sim/drafters/shared_noise.hpp>
#include <draftproof/sim/random/philox.hpp>
#include <draftproof/sim/random/tape.hpp>
#include <draftproof/sim/sampling/minhash_rejection.hpp>
#include <draftproof/tests/support/example_rows.hpp>

namespace draftproof {
namespace {

std::uint64_t word(Philox random, std::uint32_t stream, Token x) {
  const auto half = [&](std::uint32_t of) {
    const NoiseBlock block = random.noise(of, static_cast<std::uint32_t>(x) / 4);
    return (x % 4 < 2 ? block.first : block.second) >> (x % 2 * 32) & 0xffffffffu;
  };
  return half(stream) << 32 | half(0x400000 + stream);
}

/// Returns all arrivals of one stream in order, by a sort that skips no token.
template <class Row>
std::vector<Token> sorted_arrivals(const Row& row, std::uint32_t stream, const Philox& random) {
  std::vector<std::pair<double, Token>> times;
  for (std::size_t x = 0; x < row.size(); ++x)
    if (row[x] > 0)
      times.emplace_back(exponential(word(random, stream, static_cast<Token>(x))) / static_cast<double>(row[x]),
                         static_cast<Token>(x));
  std::sort(times.begin(), times.end());
  std::vector<Token> tokens;
  for (const auto& time : times) tokens.push_back(time.second);
  return tokens;
}

TEST(Race, SkippingLosesNoArrival) {
  for (const auto& row : examples::awkward_rows())
    for (std::uint64_t trial = 0; trial < 40; ++trial) {
      Philox random(3, trial, Philox::Role::draft);
      const Rows<double> rows(row, row);
      const auto wanted = sorted_arrivals(row, 0, random);
      Token found[max_drafts];
      const int asked = 1 + static_cast<int>(trial) % max_drafts;
      const int count = drafters::GumbelTopK{}.draw(rows, asked, random, found);
      ASSERT_EQ(count, std::min<int>(asked, static_cast<int>(wanted.size())));
      ASSERT_TRUE(std::equal(found, found + count, wanted.begin()));
    }
}

TEST(Race, EveryModelOfTheDistributionsHasTheSameWinners) {
  // Entries are multiples of 2^-20, which floats, doubles and quantised rows represent exactly.
  std::vector<double> row(300);
  double left = 1;
  for (std::size_t x = 1; x < row.size(); ++x) {
    row[x] = std::floor(examples::uniform(9, x) * 4000) * 0x1p-20 * (x % 3 != 0);
    left -= row[x];
  }
  row[0] = left;
  ASSERT_GT(left, 0);
  const std::vector<float> narrow(row.begin(), row.end());
  for (std::uint64_t trial = 0; trial < 200; ++trial) {
    Philox random(4, trial, Philox::Role::draft);
    Token wanted[3], found[3];
    drafters::GumbelIid{}.draw(Rows<double>(row, row), 3, random, wanted);
    for (int k = 0; k < 3; ++k)
      EXPECT_EQ(wanted[k], sorted_arrivals(row, static_cast<std::uint32_t>(k), random).front());
    drafters::GumbelIid{}.draw(RatioTable(row, row), 3, random, found);
    EXPECT_TRUE(std::equal(found, found + 3, wanted));
    drafters::GumbelIid{}.draw(FreshRows<float>(narrow, std::span<const float>(narrow)), 3, random, found);
    EXPECT_TRUE(std::equal(found, found + 3, wanted));
  }
}

/// A source of prescribed noise: `upper` is the block of stream 0, and `lower` is the block of every other stream.
struct Scripted : UniformSource<Scripted> {
  NoiseBlock upper, lower;
  std::uint64_t next(Purpose) { return 0; }
  NoiseBlock noise(std::uint32_t stream, std::uint32_t) { return stream == 0 ? upper : lower; }
};

TEST(Race, LowerHalvesDecideBetweenEqualUpperOnes) {
  const Rows<double> rows({0.25, 0.25, 0.25, 0.25}, std::vector<double>{0.25, 0.25, 0.25, 0.25});
  Scripted noise;
  noise.upper = {0x0000700000007000, 0x0000700000007000};
  noise.lower = {0x0000000300000002, 0x0000000000000001};  // tokens 1, 0; tokens 3, 2
  Token found[4];
  ASSERT_EQ(drafters::GumbelTopK{}.draw(rows, 4, noise, found), 4);
  EXPECT_EQ(std::vector<Token>(found, found + 4), (std::vector<Token>{3, 2, 0, 1}));
}

TEST(Race, TiesGoToTheLowerId) {
  const Rows<double> rows({0, 0.25, 0.5, 0.25}, std::vector<double>{0, 0.25, 0.25, 0.5});
  Tape same(std::vector<std::uint64_t>(16, 0x0000303900003039));
  Token found[4];
  ASSERT_EQ(drafters::GumbelTopK{}.draw(rows, 4, same, found), 3) << "a token without weight never arrives";
  EXPECT_EQ(found[0], 3);
  EXPECT_EQ(found[1], 1);
  EXPECT_EQ(found[2], 2);
}

TEST(Race, WeightsTooSmallToDivideByArriveLast) {
  const Rows<double> rows({1, 0, 0, 0}, std::vector<double>{5e-324, 1, 1e-310, 0});
  Philox random(5, 0, Philox::Role::draft);
  Token found[4];
  ASSERT_EQ(drafters::GumbelTopK{}.draw(rows, 4, random, found), 3);
  EXPECT_EQ(found[0], 1);
  EXPECT_EQ(std::min(found[1], found[2]), 0);
  EXPECT_EQ(std::max(found[1], found[2]), 2);
}

TEST(SharedNoise, BelongsToTheTrialAndNotToARole) {
  Philox draft(7, 11, Philox::Role::draft), verify(7, 11, Philox::Role::verify);
  verify.next(Purpose::emit);
  for (std::uint32_t stream : {0u, 1u, 5u, dart_stream})
    for (std::uint32_t block = 0; block < 5; ++block) {
      EXPECT_EQ(draft.noise(stream, block).first, verify.noise(stream, block).first);
      EXPECT_EQ(draft.noise(stream, block).second, verify.noise(stream, block).second);
    }
}

TEST(SharedNoise, IsRecorded) {
  Recorder<Philox> recorder(Philox(7, 11, Philox::Role::draft));
  const NoiseBlock noise = recorder.noise(3, 4);
  ASSERT_EQ(recorder.draws().size(), 2u);
  EXPECT_EQ(recorder.draws()[0].purpose, Purpose::noise);
  EXPECT_EQ(recorder.draws()[0].word, noise.first);
  EXPECT_EQ(recorder.draws()[1].word, noise.second);
}

}  // namespace
}  // namespace draftproof
