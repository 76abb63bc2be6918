// The generator gives the published answers, and no two draws of a run read the same word.
#include <cstdint>
#include <set>

#include <gtest/gtest.h>

#include <draftproof/sim/random/philox.hpp>

namespace draftproof {
namespace {

constexpr bool equal(const PhiloxBlock& a, const PhiloxBlock& b) {
  return a.word[0] == b.word[0] && a.word[1] == b.word[1] && a.word[2] == b.word[2] && a.word[3] == b.word[3];
}

// Known answers of the Random123 distribution (kat_vectors, philox4x32 10), here at compile time.
constexpr std::uint32_t ones = 0xffffffffu;
constexpr PhiloxBlock zeros_in{{0, 0, 0, 0}}, zeros_out{{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}};
constexpr PhiloxBlock ones_in{{ones, ones, ones, ones}}, ones_out{{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}};
constexpr PhiloxBlock pi_in{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}};
constexpr PhiloxBlock pi_out{{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}};
static_assert(equal(philox4x32(zeros_in, 0, 0), zeros_out));
static_assert(equal(philox4x32(ones_in, ones, ones), ones_out));
static_assert(equal(philox4x32(pi_in, 0xa4093822, 0x299f31d0), pi_out));

TEST(Philox, GivesTheKnownAnswersAtRunTime) {
  // Through volatile, so that the compiled rounds run and not the constant evaluator.
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

// Words are halves of distinct blocks of a bijection; an accidental collision among n words has probability
// n^2 2^-65, which is 1e-11 here, and the words are the same in every run.
TEST(Philox, NoTwoAddressesShareAWord) {
  std::set<std::uint64_t> words;
  std::size_t drawn = 0;
  for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 32})
    for (const std::uint64_t trial : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 32, ~std::uint64_t{0}})
      for (const auto role : {Philox::Role::draft, Philox::Role::verify}) {
        Philox random(seed, trial, role);
        for (const auto purpose : {Purpose::draft, Purpose::flip, Purpose::pick, Purpose::emit, Purpose::bonus,
                                   Purpose::count, Purpose::model})
          for (int n = 0; n < 33; ++n, ++drawn) words.insert(random.next(purpose));
      }
  EXPECT_EQ(words.size(), drawn);
}

}  // namespace
}  // namespace draftproof
