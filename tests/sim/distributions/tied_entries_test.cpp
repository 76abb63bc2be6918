// Tests that every representation of a row keeps equal entries equal and unequal ones in order, although rounded
// entries do not sum to exactly 1.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <draftproof/sim/distributions/plain_rows.hpp>
#include <draftproof/sim/distributions/ratio_table.hpp>
#include <draftproof/sim/numeric/short_float.hpp>
#include <draftproof/sim/random/philox4x32.hpp>

namespace draftproof::tied_entries_test {
namespace {

/// Returns a row proportional to random integers from 1 to `most`, so that many entries are equal.
std::vector<double> tied_row(std::uint64_t seed, std::size_t size, std::uint64_t most) {
  std::vector<double> row(size);
  double sum = 0;
  for (std::size_t x = 0; x < size; ++x)
    sum += row[x] = static_cast<double>(1 + philox_pair(seed, x, 0, 1).first % most);
  for (double& entry : row) entry /= sum;
  return row;
}

/// Expects that read(x) orders the tokens as row[x] does, and is equal where row[x] is equal.
template <class Read>
void expect_order(const std::vector<double>& row, const Read& read, const std::string& where) {
  std::vector<std::size_t> order(row.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&row](std::size_t x, std::size_t y) { return row[x] < row[y]; });
  for (std::size_t i = 1; i < order.size(); ++i) {
    const std::size_t below = order[i - 1], x = order[i];
    const double lower = read(static_cast<Token>(below)), upper = read(static_cast<Token>(x));
    if (row[below] == row[x])
      ASSERT_EQ(lower, upper) << where << ", V = " << row.size() << ", tokens " << below << " and " << x;
    else
      ASSERT_LE(lower, upper) << where << ", V = " << row.size() << ", tokens " << below << " and " << x;
  }
}

template <class L>
void expect_ties(const std::vector<double>& p, const std::vector<double>& q, const L& distributions,
                 const std::string& where) {
  expect_order(
      p, [&distributions](Token x) { return static_cast<double>(distributions.target(x)); }, where + ", p");
  expect_order(
      q, [&distributions](Token x) { return static_cast<double>(distributions.proposal(x)); }, where + ", q");
}

template <class Entry>
std::vector<Entry> stored(const std::vector<double>& row) {
  std::vector<Entry> entries;
  for (const double entry : row) entries.push_back(static_cast<Entry>(static_cast<float>(entry)));
  return entries;
}

/// Expects ties to be kept in rows of type Entry: as stored, normalised, and read as logits.
template <class Entry>
void expect_ties_of_format(const std::vector<double>& p, const std::vector<double>& q, const std::string& name) {
  const auto size = static_cast<int>(p.size());
  const auto target = stored<Entry>(p), proposal = stored<Entry>(q);
  const std::span<const Entry> ps(target), qs(proposal);
  expect_ties(p, q, FreshRows<Entry>(ps, qs), "fresh rows of " + name);
  NormalisedRows normalised(size);
  expect_ties(p, q, normalised.of(ps, qs), "normalised rows of " + name);
  // Powers of e are relative to the greatest logit of a block, so equal logits of two blocks may differ by rounding.
  if (size > softmax_block_size) return;
  LogitRows logits(size);
  expect_ties(p, q, logits.of(ps, qs), "logits in " + name);
}

TEST(TiedEntries, AreEqualInEveryFormOfARow) {
  for (const std::size_t size : {2u, 3u, 5u, 6u, 7u, 10u, 33u, 100u, 1030u, 5000u})
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
      // p is uniform, or has at most three or at most 1000 different entries.
      const auto p = tied_row(seed, size,
                              seed % 3 == 0   ? 1
                              : seed % 3 == 1 ? 3
                                              : 1000),
                 q = tied_row(seed + 50, size, 2);
      const RatioTable table(p, q);
      expect_ties(p, q, Rows<double>(p, q), "plain rows");
      expect_ties(p, q, table, "table");
      expect_ties(p, q, table.view(), "view of a table");
      expect_ties(p, q, FreshRows<double>(p, q), "fresh rows");
      expect_ties_of_format<float>(p, q, "float");
      expect_ties_of_format<Bfloat16>(p, q, "bf16");
      if (size < 1000) expect_ties_of_format<Half>(p, q, "fp16");
    }
}

// The masses sum to 2^62 although the entries do not sum to 1: the n tokens with the largest entry share the
// difference equally, and the first of them gets the remainder of the division by n.
TEST(TiedEntries, ShareWhatTheSumOfARowLacksOrExceeds) {
  for (const double defect : {-1e-7, -1e-15, 0.0, 1e-15, 1e-7})
    for (const std::size_t size : {1u, 2u, 3u, 6u, 7u, 1030u}) {
      std::vector<double> row(size + 2, (0.75 + defect) / static_cast<double>(size));
      row.back() = 0.25 * row[0];
      row[size] = 0.25 - row.back();
      if (row[size] > row[0]) row[size] = row[0];
      const RowRest rest = rest_of(row);
      const auto mass = quantise(row, rest);
      EXPECT_EQ(std::accumulate(mass.begin(), mass.end(), std::uint64_t{0}), row_total);
      const auto sharers = static_cast<std::uint64_t>(std::count(row.begin(), row.end(), row[0]));
      EXPECT_LT(rest.rest, sharers);
      EXPECT_EQ(rest.first, 0);
      for (std::size_t x = 0; x < row.size(); ++x) {
        EXPECT_EQ(mass[x] - (x == 0 ? rest.rest : 0), rest.read(truncated_mass(row[x]))) << x;
        if (row[x] == row[0]) {
          EXPECT_EQ(rest.read(truncated_mass(row[x])), rest.common) << x;
        } else {
          EXPECT_EQ(mass[x], truncated_mass(row[x])) << x;
        }
      }
    }
}

}  // namespace
}  // namespace draftproof::tied_entries_test
