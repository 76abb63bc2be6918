// The maximum of every range against a linear scan, with the table of rows and without.
#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <draftproof/verifiers/ladder/range_max.hpp>

namespace draftproof {
namespace {

TEST(RangeMaximum, IsTheLargestOfEveryRun) {
  std::mt19937 words(5);
  for (const std::size_t size : {1u, 2u, 3u, 4u, 7u, 8u, 9u, 31u, 64u, 65u, 100u}) {
    std::vector<std::uint32_t> values(size);
    for (auto& value : values) value = static_cast<std::uint32_t>(words() % 1000);
    const RangeMaximum tabulated(values, true), plain(values, false);
    for (int first = 0; first < static_cast<int>(size); ++first)
      for (int last = first + 1; last <= static_cast<int>(size); ++last) {
        const std::uint32_t largest = *std::max_element(values.begin() + first, values.begin() + last);
        ASSERT_EQ(tabulated.of(first, last), largest) << size << ": " << first << " .. " << last;
        ASSERT_EQ(plain.of(first, last), largest) << size << ": " << first << " .. " << last;
      }
  }
}

// Rows lie one behind the other without a gap: a device's copy is as long as they are.
TEST(RangeMaximum, HasNoMoreRowsThanRunsCanBeLong) {
  for (const std::size_t size : {1u, 5u, 8u, 9u}) {
    const RangeMaximum tabulated(std::vector<std::uint32_t>(size, 1), true);
    std::size_t rows = 0, entries = 0;
    for (std::size_t width = 1; width <= size; width *= 2, ++rows) entries += size + 1 - width;
    EXPECT_EQ(tabulated.rows().size(), entries);
    EXPECT_EQ(RangeSearch::places(rows, size), entries);
  }
}

}  // namespace
}  // namespace draftproof
