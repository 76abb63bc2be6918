// Tests of random bits: the generator, bits generated in bulk, decisions from 64 bits, tapes and recorders.
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <set>
#include <stdexcept>

#include <gtest/gtest.h>

#include <draftproof/sim/distributions/plain_rows.hpp>
#include <draftproof/sim/distributions/streamed_rows.hpp>
#include <draftproof/sim/drafters/shared_noise.hpp>
#include <draftproof/sim/random/batched_philox.hpp>
#include <draftproof/sim/random/philox.hpp>
#include <draftproof/sim/random/tape.hpp>
#include <draftproof/sim/random/uniform_source.hpp>
#include <draftproof/tests/support/example_rows.hpp>
#include <draftproof/verifiers/recursive_rejection.hpp>

namespace draftproof {
namespace {

constexpr bool equal(const PhiloxBlock& a, const PhiloxBlock& b) {
  return a.word[0] == b.word[0] && a.word[1] == b.word[1] && a.word[2] == b.word[2] && a.word[3] == b.word[3];
}

// The known answers of the Random123 distribution (kat_vectors, philox4x32 10) are compared at compile time here.
constexpr std::uint32_t ones = 0xffffffffu;
constexpr PhiloxBlock zeros_in{{0, 0, 0, 0}}, zeros_out{{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}};
constexpr PhiloxBlock ones_in{{ones, ones, ones, ones}}, ones_out{{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}};
constexpr PhiloxBlock pi_in{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}};
constexpr PhiloxBlock pi_out{{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}};
static_assert(equal(philox4x32(zeros_in, 0, 0), zeros_out));
static_assert(equal(philox4x32(ones_in, ones, ones), ones_out));
static_assert(equal(philox4x32(pi_in, 0xa4093822, 0x299f31d0), pi_out));

TEST(Philox, GivesTheKnownAnswersAtRunTime) {
  // Inputs are volatile, so that the rounds run in the compiled program and are not evaluated by the compiler.
  const auto run = [](const PhiloxBlock& in, std::uint32_t key0, std::uint32_t key1) {
    volatile std::uint32_t word[4] = {in.word[0], in.word[1], in.word[2], in.word[3]};
    return philox4x32({{word[0], word[1], word[2], word[3]}}, key0, key1);
  };
  EXPECT_TRUE(equal(run(zeros_in, 0, 0), zeros_out));
  EXPECT_TRUE(equal(run(ones_in, ones, ones), ones_out));
  EXPECT_TRUE(equal(run(pi_in, 0xa4093822, 0x299f31d0), pi_out));
}

TEST(Philox, AddressesAPairBySeedTrialSlotAndPurpose) {
  const std::uint64_t seed = 0x299f31d0a4093822, trial = 0x85a308d3243f6a88;
  const PhiloxPair pair = philox_pair(seed, trial, 0x13198a2e, 0x03707344);
  EXPECT_EQ(pair.first, 0x94fdccebd16cfe09u);
  EXPECT_EQ(pair.second, 0x24126ea15001e420u);
}

TEST(Philox, NthDrawIsHalfOfBlockNOverTwo) {
  constexpr std::uint64_t seed = 7, trial = 11;
  Philox random(seed, trial, Philox::Role::verify);
  for (std::uint32_t n = 0; n < 9; ++n) {
    const auto address = (std::uint32_t{1} << 8) | static_cast<std::uint32_t>(Purpose::flip);
    const PhiloxPair pair = philox_pair(seed, trial, n / 2, address);
    EXPECT_EQ(random.next(Purpose::flip), n % 2 ? pair.second : pair.first) << "draw " << n;
  }
}

TEST(Philox, DrawsOfOnePurposeDoNotShiftAnother) {
  Philox alone(3, 5, Philox::Role::draft), mixed(3, 5, Philox::Role::draft);
  for (int n = 0; n < 20; ++n) {
    for (int other = 0; other < n % 4; ++other) mixed.next(Purpose::emit);
    EXPECT_EQ(alone.next(Purpose::pick), mixed.next(Purpose::pick)) << "draw " << n;
  }
}

// Draws are halves of distinct outputs of a bijection. Among n random draws, two are equal with probability n^2 2^-65,
// here 1e-10. The draws are the same in every run, so the test cannot fail by chance.
TEST(Philox, NoTwoDrawsOrNoiseBlocksShareAWord) {
  std::set<std::uint64_t> words;
  std::size_t drawn = 0;
  const auto add = [&](std::uint64_t word) {
    words.insert(word);
    ++drawn;
  };
  for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 32})
    for (const std::uint64_t trial :
         {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 32, ~std::uint64_t{0}}) {
      for (const auto role : {Philox::Role::draft, Philox::Role::verify}) {
        Philox random(seed, trial, role);
        for (const auto purpose : {Purpose::draft, Purpose::flip, Purpose::pick, Purpose::emit, Purpose::bonus,
                                   Purpose::count, Purpose::model})
          for (int n = 0; n < 40; ++n) add(random.next(purpose));
      }
      const Philox random(seed, trial, Philox::Role::draft);
      for (std::uint32_t stream = 0; stream < 32; ++stream)
        for (std::uint32_t block = 0; block < 40; ++block)
          for (const std::uint32_t kind : {0u, companion_stream, dart_stream}) {
            const NoiseBlock noise = random.noise(kind + stream, block);
            add(noise.first);
            add(noise.second);
          }
    }
  EXPECT_EQ(words.size(), drawn);
}

// Tests that random bits generated in bulk equal bits generated one draw at a time, at every SIMD width.

/// Returns trial numbers with non-zero upper halves, with lower halves that wrap around, and with two numbers swapped.
std::vector<std::uint64_t> awkward_trials() {
  std::vector<std::uint64_t> trials;
  for (const std::uint64_t first :
       {std::uint64_t{0}, (std::uint64_t{1} << 32) - 9, ~std::uint64_t{0} - 8, std::uint64_t{5} << 40})
    for (std::uint64_t t = 0; t < 21; ++t) trials.push_back(first + t);
  std::swap(trials[3], trials[40]);
  return trials;
}

TEST(PhiloxFill, EveryWidthGivesThePairs) {
  const auto trials = awkward_trials();
  for (const simd::Width width : simd::widths_here())
    for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{0x299f31d0a4093822}, ~std::uint64_t{0}})
      for (const std::size_t count : {0u, 1u, 7u, 8u, 9u, 31u, 32u, 33u, 64u, 77u})
        for (const auto& [slot, purpose] : {std::pair{0u, 0x102u}, {~0u, ~0u}, {0x13198a2eu, 0x03707344u}}) {
          std::vector<std::uint64_t> first(count + 1, 1), second(count + 1, 2);
          simd::philox_fill(width, seed, trials.data(), static_cast<int>(count), slot, purpose, first.data(),
                            second.data());
          for (std::size_t t = 0; t < count; ++t) {
            const PhiloxPair pair = philox_pair(seed, trials[t], slot, purpose);
            ASSERT_EQ(first[t], pair.first) << simd::name_of(width) << " of " << count << ", trial " << trials[t];
            ASSERT_EQ(second[t], pair.second) << simd::name_of(width) << " of " << count << ", trial " << trials[t];
          }
          EXPECT_EQ(first[count], 1u) << "written past the end";
          EXPECT_EQ(second[count], 2u) << "written past the end";
        }
}

/// Returns more draws than a batch generates ahead, in an order that differs from trial to trial.
template <class Source>
std::vector<std::uint64_t> some_draws(Source& random, std::uint64_t trial) {
  std::vector<std::uint64_t> words;
  for (std::uint64_t i = 0; i < 120; ++i)
    words.push_back(random.next(static_cast<Purpose>(1 + (trial * 31 + i * i) % 8)));
  const NoiseBlock noise = random.noise(static_cast<std::uint32_t>(trial % 5), 3);
  words.push_back(noise.first);
  words.push_back(noise.second);
  return words;
}

TEST(PhiloxBatch, EveryTrialReadsItsOwnWords) {
  for (const simd::Width width : simd::widths_here()) {
    const simd::Using use(width);
    for (const auto role : {Philox::Role::draft, Philox::Role::verify})
      for (const std::uint64_t start : {std::uint64_t{0}, (std::uint64_t{1} << 32) - 3, ~std::uint64_t{0} - 6})
        for (const int count : {1, 3, 4, 9, 32}) {
          std::vector<std::uint64_t> trials(static_cast<std::size_t>(count));
          std::iota(trials.begin(), trials.end(), start);
          PhiloxBatch batch(7, start, count, role);
          std::reverse(trials.begin() + count / 2, trials.end());
          PhiloxBatch listed(7, trials.data(), count, role);
          for (int t = count - 1; t >= 0; --t) {
            const std::uint64_t trial = start + static_cast<std::uint64_t>(t);
            Philox alone(7, trial, role), other(7, trials[static_cast<std::size_t>(t)], role);
            PhiloxBatch::Source source(batch, t), from_list(listed, t);
            ASSERT_EQ(some_draws(source, trial), some_draws(alone, trial));
            ASSERT_EQ(some_draws(from_list, trial), some_draws(other, trial));
          }
          for (std::uint32_t n = 0; n < 2 * PhiloxBatch::slots; ++n)
            for (int t = 0; t < count; ++t) {
              Philox alone(7, start + static_cast<std::uint64_t>(t), role);
              std::uint64_t word = 0;
              for (std::uint32_t i = 0; i <= n; ++i) word = alone.next(Purpose::pick);
              ASSERT_EQ(batch.words(Purpose::pick, n)[static_cast<std::size_t>(t)], word) << "word " << n;
            }
        }
  }
}

// Tests of blocks generated in bulk, and that races and darts read the same noise from them as block by block.

TEST(PhiloxWords, EveryWidthGivesTheBlockFunction) {
  // Slots wrap around at 2^32, and the counts have every remainder modulo the number of lanes of a register.
  const PhiloxRun run{0x9E3779B97F4A7C15, 0xFEDCBA9876543210, 0xFFFFFFF5u, 0x5A000007};
  for (const simd::Width width : simd::widths_here())
    for (std::size_t count = 0; count <= 40; ++count) {
      std::vector<std::uint32_t> words(4 * count + 1, 0xABCDEF01u);
      philox_words(run, count, words.data(), width);
      for (std::size_t i = 0; i < count; ++i) {
        const PhiloxPair pair =
            philox_pair(run.seed, run.trial, run.slot + static_cast<std::uint32_t>(i), run.purpose);
        ASSERT_EQ(std::uint64_t{words[4 * i + 1]} << 32 | words[4 * i], pair.first) << count << " " << i;
        ASSERT_EQ(std::uint64_t{words[4 * i + 3]} << 32 | words[4 * i + 2], pair.second) << count << " " << i;
      }
      EXPECT_EQ(words.back(), 0xABCDEF01u);  // words past the end must stay unchanged
    }
}

/// A source without noise_quarters(), so that its noise is read one block at a time.
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

// Tests of decisions from 64 random bits: the unit interval, comparisons at its ends, and integers below a bound.

__extension__ using Wide = unsigned __int128;
constexpr std::uint64_t largest_word = ~std::uint64_t{0};

static_assert(unit_interval(0) == 0);
static_assert(unit_interval(largest_word) == 1 - 0x1p-53);
static_assert(unit_interval(2047) == 0 && unit_interval(2048) == 0x1p-53, "the low 11 bits are not used");

TEST(UniformSource, LargestUniformTimesDenominatorStaysBelowIt) {
  // The denominators lie just above and just below powers of two, where the distance between doubles changes, down to
  // the smallest normal numbers.
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

// scale() returns i for 64-bit integers from ceil(i 2^64 / bound) on, so the counts of any two values differ by at most
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

// Tests that tapes return their bits in order and report their end, and that a recorder's log replays to one verdict.

const Rows<double> distributions({0.1, 0.2, 0.3, 0.4}, std::vector<double>{0.4, 0.3, 0.2, 0.1});
constexpr Token drafts[] = {0, 1, 0};

TEST(Tape, WordHasTheUnitIntervalValueItIsNamedBy) {
  for (const double u : {0.0, 0.25, 0.5, 0.75 + 0x1p-53, 1 - 0x1p-53}) EXPECT_EQ(unit_interval(Tape::word(u)), u);
  const double between = 0x1p-53 * 1.5;  // lies between two multiples of 2^-53, and is rounded down
  EXPECT_EQ(unit_interval(Tape::word(between)), 0x1p-53);
}

TEST(Tape, RunsOutWithAMessage) {
  Tape tape({0});
  EXPECT_TRUE(tape.flip(1.0, 2.0));
  EXPECT_THROW(tape.flip(1.0, 2.0), std::out_of_range);
}

TEST(Recorder, LogsEveryDrawWithItsPurposeAndOutcome) {
  const std::uint64_t half = Tape::word(0.5), late = Tape::word(0.999);
  Recorder random(Tape({half, late, half, half}));
  // At the first draft p = .1 and q = .4, so u = 1/2 rejects it. The residual is (.2 - .3)+ = 0 at the second draft and
  // 0 at the third, so both are rejected.
  const Verdict verdict = verifiers::RecursiveRejection{}.verify(DraftedPosition(distributions, drafts, 3), random);
  const auto& draws = random.draws();
  ASSERT_EQ(draws.size(), 4u);
  for (int n = 0; n < 3; ++n) {
    EXPECT_EQ(draws[static_cast<std::size_t>(n)].purpose, Purpose::flip);
    EXPECT_EQ(draws[static_cast<std::size_t>(n)].value, 0) << "refused";
  }
  EXPECT_EQ(draws[0].word, half);
  EXPECT_EQ(draws[0].num, 0.1);
  EXPECT_EQ(draws[0].den, 0.4);
  EXPECT_EQ(draws[1].word, late);
  EXPECT_EQ(draws[3].purpose, Purpose::emit);
  EXPECT_EQ(draws[3].value, verdict.token);
  EXPECT_EQ(verdict.accepted, none_accepted);
}

TEST(Recorder, ReplaysOnATape) {
  for (std::uint64_t trial = 0; trial < 200; ++trial) {
    Recorder recorder(Philox(4, trial, Philox::Role::verify));
    const Verdict first = verifiers::RecursiveRejection{}.verify(DraftedPosition(distributions, drafts, 3), recorder);
    std::vector<std::uint64_t> words;
    for (const Draw& draw : recorder.draws()) words.push_back(draw.word);
    Tape tape(words);
    const Verdict again = verifiers::RecursiveRejection{}.verify(DraftedPosition(distributions, drafts, 3), tape);
    EXPECT_EQ(again.token, first.token);
    EXPECT_EQ(again.accepted, first.accepted);
    EXPECT_EQ(tape.played(), words.size()) << "the recorder missed a draw";
  }
}

TEST(Recorder, DoesNotChangeWhatItRecords) {
  for (std::uint64_t trial = 0; trial < 200; ++trial) {
    Philox bare(4, trial, Philox::Role::verify);
    Recorder recorded(Philox(4, trial, Philox::Role::verify));
    EXPECT_EQ(bare.flip(0.3, 1.0), recorded.flip(0.3, 1.0));
    EXPECT_EQ(bare.pick(distributions.row(0)), recorded.pick(distributions.row(0)));
    EXPECT_EQ(bare.emit(distributions.row(0)).token, recorded.emit(distributions.row(0)).token);
  }
}

}  // namespace
}  // namespace draftproof
