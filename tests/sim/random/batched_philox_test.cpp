// Words generated in bulk equal words generated one by one, at every width of the processor.
#include <numeric>

#include <gtest/gtest.h>

#include <draftproof/sim/random/batched_philox.hpp>

namespace draftproof {
namespace {

std::vector<simd::Width> widths_here() {
  std::vector<simd::Width> all;
  for (const simd::Width width : simd::widths)
    if (width <= simd::widest()) all.push_back(width);
  return all;
}

/// Trials with non-zero upper halves, with lower halves that wrap around, and in no order.
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
  for (const simd::Width width : widths_here())
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

// The known answer of philox_test.cpp, in every lane.
TEST(PhiloxFill, EveryWidthGivesTheKnownAnswer) {
  const std::vector<std::uint64_t> trials(40, 0x85a308d3243f6a88);
  for (const simd::Width width : widths_here()) {
    std::vector<std::uint64_t> first(40), second(40);
    simd::philox_fill(width, 0x299f31d0a4093822, trials.data(), 40, 0x13198a2e, 0x03707344, first.data(),
                      second.data());
    EXPECT_EQ(first, std::vector<std::uint64_t>(40, 0x94fdccebd16cfe09)) << simd::name_of(width);
    EXPECT_EQ(second, std::vector<std::uint64_t>(40, 0x24126ea15001e420)) << simd::name_of(width);
  }
}

/// Draws in an order that differs from trial to trial, past the slots that a batch keeps.
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
  for (const simd::Width width : widths_here()) {
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

}  // namespace
}  // namespace draftproof
