// Blocks in bulk: the words of the block function at every width of the processor, and races and darts with the same
// results.
#include <gtest/gtest.h>

#include <draftproof/sim/distributions/streamed_rows.hpp>
#include <draftproof/sim/drafters/shared_noise.hpp>
#include <draftproof/sim/random/immediate_emit.hpp>
#include <draftproof/sim/random/node_noise_source.hpp>
#include <draftproof/sim/random/philox.hpp>
#include <draftproof/tests/support/example_rows.hpp>

namespace draftproof {
namespace {

TEST(PhiloxWords, EveryWidthGivesTheBlockFunction) {
  // Slots that wrap around at 2^32, and counts that leave every remainder of a register.
  const PhiloxRun run{0x9E3779B97F4A7C15, 0xFEDCBA9876543210, 0xFFFFFFF5u, 0x5A000007};
  for (const simd::Width width : simd::widths)
    for (std::size_t count = 0; count <= 40 && width <= simd::widest(); ++count) {
      std::vector<std::uint32_t> words(4 * count + 1, 0xABCDEF01u);
      philox_words(run, count, words.data(), width);
      for (std::size_t i = 0; i < count; ++i) {
        const PhiloxPair pair =
            philox_pair(run.seed, run.trial, run.slot + static_cast<std::uint32_t>(i), run.purpose);
        ASSERT_EQ(std::uint64_t{words[4 * i + 1]} << 32 | words[4 * i], pair.first) << count << " " << i;
        ASSERT_EQ(std::uint64_t{words[4 * i + 3]} << 32 | words[4 * i + 2], pair.second) << count << " " << i;
      }
      EXPECT_EQ(words.back(), 0xABCDEF01u);  // nothing behind the end
    }
}

/// The noise of a source, one block at a time.
struct BlockByBlock {
  Philox source;
  template <class Scalar>
  bool flip(Scalar num, Scalar den) {
    return source.flip(num, den);
  }
  Token pick(const auto& weights) { return source.pick(weights); }
  Verdict emit(const auto& weights) { return source.emit(weights); }
  NoiseBlock noise(std::uint32_t stream, std::uint32_t block) const { return source.noise(stream, block); }
};
static_assert(NoiseSource<BlockByBlock> && !BulkNoiseSource<BlockByBlock>);
static_assert(BulkNoiseSource<Philox> && BulkNoiseSource<NodeNoise<ImmediateEmit<Philox>>>);
static_assert(!BulkNoiseSource<NodeNoise<BlockByBlock>> && NoiseSource<NodeNoise<BlockByBlock>>);

class BulkNoise : public testing::TestWithParam<simd::Width> {};

TEST_P(BulkNoise, RacesAndDartsAreThoseBlockByBlock) {
  if (GetParam() > simd::widest()) GTEST_SKIP() << "this processor has no registers of that width";
  const simd::Using width(GetParam());
  for (const std::size_t vocabulary : {std::size_t{255}, std::size_t{256}, std::size_t{259}, std::size_t{1500}}) {
    std::vector<float> row(vocabulary);
    float total = 0;
    for (std::size_t x = 0; x < vocabulary; ++x)
      total += row[x] = static_cast<float>(examples::uniform(vocabulary, x)) * (x % 3 != 1);
    for (float& weight : row) weight /= total;
    const FreshRows<float> rows(row, std::span<const float>(row));
    for (std::uint64_t trial = 0; trial < 60; ++trial) {
      const std::uint32_t streams[] = {9, 4, 70000};
      Philox source(5, trial, Philox::Role::draft);
      NodeNoise bulk(source, streams);
      BlockByBlock plain{source};
      NodeNoise single(plain, streams);
      Token found[max_drafts], wanted[max_drafts];
      const auto same = [&](const auto& drafter, int drafts) {
        const int count = drafter.draw(rows, drafts, single, wanted);
        ASSERT_EQ(drafter.draw(rows, drafts, bulk, found), count);
        EXPECT_TRUE(std::equal(found, found + count, wanted)) << drafter.info.name << " " << vocabulary;
      };
      same(drafters::GumbelIid{}, 3);
      same(drafters::Minhash{}, 3);
      same(drafters::GumbelTopK{}, 20);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Widths, BulkNoise, testing::ValuesIn(simd::widths),
                         [](const auto& tried) { return std::string(simd::name_of(tried.param)); });

}  // namespace
}  // namespace draftproof
