// The radix sort gives the order of a comparison sort, including ties and keys that are equal as floats.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include <draftproof/sim/numeric/radix_sort.hpp>

namespace draftproof {
namespace {

void expect_sorted(std::vector<KeyedToken> keyed) {
  auto wanted = keyed;
  std::stable_sort(wanted.begin(), wanted.end(), [](const auto& a, const auto& b) { return a.key > b.key; });
  sort_by_key(keyed);
  ASSERT_EQ(keyed.size(), wanted.size());
  for (std::size_t i = 0; i < keyed.size(); ++i) {
    ASSERT_EQ(keyed[i].token, wanted[i].token) << i;
    ASSERT_EQ(keyed[i].key, wanted[i].key) << i;
  }
}

std::vector<KeyedToken> keys(int count, std::mt19937_64& random, auto key) {
  std::vector<KeyedToken> keyed;
  for (Token x = 0; x < count; ++x) keyed.push_back({key(static_cast<double>(random() >> 11) * 0x1p-53), x});
  return keyed;
}

TEST(KeyedToken, AreSortedLikeByComparison) {
  std::mt19937_64 random(1);
  for (const int count : {0, 1, 2, 7, 1000, 20'000}) {
    expect_sorted(keys(count, random, [](double u) { return u; }));
    expect_sorted(keys(count, random, [](double u) { return std::exp2(200 * u - 100); }));
    expect_sorted(keys(count, random, [](double u) { return std::floor(u * 5); }));
    expect_sorted(keys(count, random, [](double u) { return 1 + 0x1p-40 * u; }));  // one float, many doubles
    expect_sorted(keys(count, random, [](double u) {
      return u < 0.2 ? 0 : u < 0.4 ? std::numeric_limits<double>::infinity() : u < 0.6 ? 1e300 * u : 1e-300 * u;
    }));  // beyond the range of floats on both sides
  }
}

}  // namespace
}  // namespace draftproof
