// Tests of quantised rows and their tables: alias tables, cumulative tables, and draws without replacement by both.
#include <numeric>
#include <set>

#include <gtest/gtest.h>

#include <draftproof/sim/sampling/alias_table.hpp>
#include <draftproof/sim/sampling/guide_table.hpp>
#include <draftproof/sim/sampling/weights.hpp>
#include <draftproof/sim/sampling/without_replacement.hpp>
#include <draftproof/tests/support/example_rows.hpp>

namespace draftproof {
namespace {

__extension__ using Wide = unsigned __int128;

// Tests that a quantised row sums to exactly 2^62, keeps zeros, and lies within the stated distance of the row.

std::uint64_t sum(const std::vector<std::uint64_t>& mass) {
  return std::accumulate(mass.begin(), mass.end(), std::uint64_t{0});
}

TEST(QuantisedRow, SumsExactlyWhenTheDoublesSumToMoreOrLessThanOne) {
  for (const double defect : {-1e-7, -1e-15, 1e-15, 1e-7}) {
    const std::vector<double> row{0.25, 0.5 + defect, 0.25};
    const auto mass = quantise(row);
    EXPECT_EQ(sum(mass), row_total);
    EXPECT_EQ(mass[0], row_total / 4) << "the most probable token takes the defect";
    EXPECT_EQ(mass[1], row_total / 2);
  }
}

TEST(QuantisedRow, RepresentableRowsAreUntouched) {
  EXPECT_EQ(quantise(std::vector<double>{1.0}), std::vector<std::uint64_t>{row_total});
  EXPECT_EQ(quantise(std::vector<double>{0.25, 0, 0.75}),
            (std::vector<std::uint64_t>{row_total / 4, 0, row_total / 4 * 3}));
}

// Tests the bound V 2^-62 + |1 - sum| of weights.hpp. An entry and its mass differ by less than one unit, and long
// double represents the difference exactly. The sums add a relative rounding error of at most V 2^-63.
TEST(QuantisedRow, SumsToItsTotalKeepsZerosAndIsWithinTheStatedBound) {
  for (const auto& row : examples::awkward_rows()) {
    const auto mass = quantise(row);
    EXPECT_EQ(sum(mass), row_total) << row.size();
    long double distance = 0, total = 0;
    for (std::size_t x = 0; x < row.size(); ++x) {
      EXPECT_TRUE(row[x] > 0 || mass[x] == 0) << x;
      distance += std::fabs(static_cast<long double>(row[x]) * 0x1p62L - static_cast<long double>(mass[x]));
      total += row[x];
    }
    const long double size = static_cast<long double>(row.size());
    const long double bound = size + std::fabs(1 - total) * 0x1p62L;
    EXPECT_LE(distance / 2, bound * (1 + size * 0x1p-63L)) << row.size();
  }
}

// Tests of the distribution of an alias table, by counting the 64-bit integers for which it draws each token.

/// A cell is an interval of 64-bit integers in which the drawn token changes at most once. Bisection finds the change.
struct AliasCell {
  Wide first, end, change;  ///< `own` is drawn for integers below `change`
  Token own;
  AliasCell(const AliasTable& table, std::size_t size, std::size_t cell)
      : first{((static_cast<Wide>(cell) << 64) + size - 1) / size},
        end{((static_cast<Wide>(cell + 1) << 64) + size - 1) / size},
        change{end},
        own{table.draw(static_cast<std::uint64_t>(first))} {
    Wide low = first;
    while (change - low > 1) {
      const Wide middle = low + (change - low) / 2;
      (table.draw(static_cast<std::uint64_t>(middle)) == own ? low : change) = middle;
    }
  }
};

/// Returns, for each token, the number of the 2^64 integers for which it is drawn.
std::vector<Wide> word_counts(const AliasTable& table, std::size_t size) {
  std::vector<Wide> counts(size, 0);
  for (std::size_t c = 0; c < size; ++c) {
    const AliasCell cell(table, size, c);
    counts[static_cast<std::size_t>(cell.own)] += cell.change - cell.first;
    if (cell.change < cell.end)
      counts[static_cast<std::size_t>(table.draw(static_cast<std::uint64_t>(cell.end - 1)))] +=
          cell.end - cell.change;
  }
  return counts;
}

// With 1, 2 or 4 tokens every cell boundary and every share is a whole number of integers, so nothing is rounded.
TEST(AliasTable, DistributionIsTheRowExactlyWhereWordsDivideEvenly) {
  for (const auto& row : {std::vector<double>{1.0},
                          {0.3, 0.7},
                          {0.0, 1.0},
                          {0.1, 0.2, 0.3, 0.4},
                          {0.25, 0.25, 0.25, 0.25},
                          {0.0, 0.9, 0.1, 0.0}}) {
    const auto mass = quantise(row);
    const auto counts = word_counts(AliasTable(mass), row.size());
    for (std::size_t x = 0; x < row.size(); ++x) EXPECT_EQ(counts[x], static_cast<Wide>(mass[x]) * 4) << x;
  }
}

// The size of a cell and the share of its token `own` are each rounded once, so at most one integer per cell gets
// another token.
TEST(AliasTable, DistributionIsTheRowToOneWordACellAndZerosStayZero) {
  for (const auto& row : examples::awkward_rows()) {
    const auto mass = quantise(row);
    const auto counts = word_counts(AliasTable(mass), row.size());
    Wide moved = 0, total = 0;
    for (std::size_t x = 0; x < row.size(); ++x) {
      const Wide wanted = static_cast<Wide>(mass[x]) * 4;
      moved += counts[x] > wanted ? counts[x] - wanted : wanted - counts[x];
      total += counts[x];
      EXPECT_TRUE(mass[x] > 0 || counts[x] == 0) << x;
    }
    EXPECT_TRUE(total == static_cast<Wide>(1) << 64);
    EXPECT_LE(static_cast<std::uint64_t>(moved), 2 * row.size()) << "total variation above V 2^-64";
  }
}

/// Returns integers around changes of the drawn token, at the beginning of a cell and at the end of the share of `own`,
/// and some others.
std::vector<std::uint64_t> boundary_words(const AliasTable& table, std::size_t size) {
  std::vector<std::uint64_t> words = examples::some_words(8, 500);
  for (std::size_t c = 0; c < std::min<std::size_t>(size, 64); ++c) {
    const AliasCell cell(table, size, c);
    for (const Wide word : {cell.first, cell.change - 2, cell.change - 1, cell.change, cell.change + 1, cell.end - 1})
      words.push_back(static_cast<std::uint64_t>(word));
  }
  return words;
}

// At the end of the share of `own` the upper halves of offset and share are equal, so that the lower halves decide.
TEST(AliasTable, ManyAtATimeAreThoseOneByOne) {
  for (const auto& row : examples::awkward_rows()) {
    const AliasTable table(quantise(row));
    const auto words = boundary_words(table, row.size());
    for (const simd::Width width : simd::widths_here()) {
      const simd::Using use(width);
      for (const int stride : {1, 3})
        for (const std::size_t left_out : {0u, 1u, 5u}) {
          const std::size_t count = words.size() - left_out;
          std::vector<Token> tokens(count * static_cast<std::size_t>(stride), -7);
          table.draw(std::span(words).first(count), tokens.data(), stride);
          for (std::size_t i = 0; i < tokens.size(); ++i) {
            const bool drawn = i % static_cast<std::size_t>(stride) == 0;
            const Token wanted = drawn ? table.draw(words[i / static_cast<std::size_t>(stride)]) : -7;
            ASSERT_EQ(tokens[i], wanted) << simd::name_of(width) << " of " << row.size() << " tokens";
          }
        }
    }
  }
}

// Tests that draws without some tokens agree with a linear scan of the other tokens, also at every boundary between
// tokens.

Token linear_draw(const std::vector<std::uint64_t>& mass, const std::vector<Token>& seen, std::uint64_t word) {
  const auto unseen = [&](Token x) { return !among(x, seen.data(), static_cast<int>(seen.size())); };
  std::uint64_t left = 0;
  for (Token x = 0; x < std::ssize(mass); ++x) left += unseen(x) ? mass[static_cast<std::size_t>(x)] : 0;
  if (left == 0) return no_token;
  std::uint64_t at = scale(word, left);
  for (Token x = 0;; ++x) {
    if (!unseen(x)) continue;
    if (at < mass[static_cast<std::size_t>(x)]) return x;
    at -= mass[static_cast<std::size_t>(x)];
  }
}

/// Returns random bits on both sides of every boundary of the remaining distribution, and some others.
std::vector<std::uint64_t> telling_words(const std::vector<std::uint64_t>& mass, const std::vector<Token>& seen) {
  auto words = examples::some_words(9, 40);
  std::uint64_t left = 0, before = 0;
  const auto unseen = [&](std::size_t x) {
    return !among(static_cast<Token>(x), seen.data(), static_cast<int>(seen.size()));
  };
  for (std::size_t x = 0; x < mass.size(); ++x) left += unseen(x) ? mass[x] : 0;
  if (left == 0) return words;
  for (std::size_t x = 0; x < mass.size(); ++x) {
    if (!unseen(x)) continue;
    const auto first = static_cast<std::uint64_t>(((static_cast<Wide>(before) << 64) + left - 1) / left);
    words.push_back(first);
    words.push_back(first - 1);
    before += mass[x];
  }
  return words;
}

std::vector<std::vector<Token>> seen_sets(std::size_t size) {
  std::vector<std::vector<Token>> sets{{}};
  for (std::uint64_t i = 0; i < 12; ++i) {
    std::set<Token> chosen;
    for (std::uint64_t j = 0; j <= i % 5; ++j)
      chosen.insert(static_cast<Token>(scale(philox_pair(i, j, 2, 2).first, size)));
    // Drafts may come in any order.
    sets.emplace_back(i % 2 ? std::vector<Token>(chosen.begin(), chosen.end())
                            : std::vector<Token>(chosen.rbegin(), chosen.rend()));
  }
  return sets;
}

TEST(CumulativeTable, DrawsWhatALinearScanDrawsAndHasItsMass) {
  for (const auto& row : examples::awkward_rows()) {
    const auto mass = quantise(row);
    const CumulativeTable table(mass);
    for (const auto& seen : seen_sets(row.size())) {
      const auto count = static_cast<int>(seen.size());
      std::uint64_t left = 0;
      for (Token x = 0; x < std::ssize(mass); ++x)
        if (!among(x, seen.data(), count)) left += mass[static_cast<std::size_t>(x)];
      EXPECT_EQ(table.mass_without(seen.data(), count), left);
      for (const std::uint64_t word : telling_words(mass, seen)) {
        const Token drawn = table.draw_without(seen.data(), count, word);
        ASSERT_EQ(drawn, linear_draw(mass, seen, word)) << "V " << row.size() << " word " << word;
        ASSERT_TRUE(drawn == no_token || mass[static_cast<std::size_t>(drawn)] > 0);
      }
    }
  }
}

TEST(CumulativeTable, ExhaustedSupportGivesNoToken) {
  const CumulativeTable table(quantise(std::vector<double>{0.0, 0.25, 0.0, 0.75}));
  const Token seen[] = {3, 1};
  EXPECT_EQ(table.mass_without(seen, 2), 0u);
  EXPECT_EQ(table.draw_without(seen, 2, 12345), no_token);
}

// Tests that draws without replacement in a batch equal draws in single trials, with random bits at the edges of
// removed tokens.

/// A batch with prescribed random bits: `prescribed[n][t]` is draw n of trial t.
struct PrescribedBatch {
  std::vector<std::vector<std::uint64_t>> prescribed;
  int count() const { return static_cast<int>(prescribed[0].size()); }
  std::span<const std::uint64_t> words(Purpose, std::uint32_t n) const { return prescribed[n]; }
};

/// Returns the least 64-bit integer that scale(.., left) maps to `at`.
std::uint64_t word_at(std::uint64_t at, std::uint64_t left) {
  return static_cast<std::uint64_t>(((static_cast<Wide>(at) << 64) + left - 1) / left);
}

struct Drawn {
  std::vector<Token> tokens;
  bool complete = true;
};

Drawn prefix_consistent(const AliasTable& whole, const CumulativeTable& rest, const PrescribedBatch& batch,
                        std::size_t trial) {
  Drawn drawn;
  for (std::size_t k = 0; k < batch.prescribed.size(); ++k) {
    const std::uint64_t word = batch.prescribed[k][trial];
    const Token x = k == 0 ? whole.draw(word) : rest.draw_without(drawn.tokens.data(), static_cast<int>(k), word);
    if (x == no_token) {
      drawn.complete = false;
      break;
    }
    drawn.tokens.push_back(x);
  }
  return drawn;
}

TEST(DrawsWithout, AreThoseOneByOneOnEveryEdge) {
  constexpr int drafts = 5, trials = PhiloxBatch::most;
  for (const auto& row : examples::awkward_rows()) {
    const auto mass = quantise(row);
    const AliasTable whole(mass);
    const CumulativeTable rest(mass);
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      PrescribedBatch batch{std::vector(drafts, std::vector<std::uint64_t>(trials))};
      for (std::size_t t = 0; t < trials; ++t)
        for (std::size_t k = 0; k < drafts; ++k) {
          batch.prescribed[k][t] = philox_pair(seed, t, static_cast<std::uint32_t>(k), 1).first;
          if (k == 0 || t % 4 == 3) continue;
          // Prescribes random bits at the point where a removed token would begin among the remaining tokens. The draw
          // must skip this token.
          const auto before = prefix_consistent(
              whole, rest, {{batch.prescribed.begin(), batch.prescribed.begin() + static_cast<std::ptrdiff_t>(k)}},
              t);
          if (!before.complete) continue;
          const std::uint64_t left = rest.mass_without(before.tokens.data(), static_cast<int>(k));
          if (left == 0) continue;
          const auto edge = rest.interval(before.tokens[t % k]);
          std::uint64_t at = edge.at;
          for (const Token x : before.tokens)
            if (rest.interval(x).at < edge.at) at -= rest.interval(x).mass;
          at += static_cast<std::uint64_t>(t % 4) - 1;  // also one unit below and above
          if (at < left) batch.prescribed[k][t] = word_at(at, left);
        }
      Token out[trials * drafts];
      bool complete[trials];
      std::size_t arrived = 0;
      DrawsWithout draws(whole, rest);
      draws.draw(drafts, batch, out, drafts, complete, [&arrived](Token) { ++arrived; });
      EXPECT_EQ(arrived, static_cast<std::size_t>(trials * drafts));
      for (std::size_t t = 0; t < trials; ++t) {
        const Drawn wanted = prefix_consistent(whole, rest, batch, t);
        ASSERT_EQ(complete[t], wanted.complete) << "trial " << t << " of " << row.size() << " tokens";
        for (std::size_t k = 0; k < wanted.tokens.size(); ++k)
          ASSERT_EQ(out[t * drafts + k], wanted.tokens[k]) << "draft " << k << " of " << row.size() << " tokens";
      }
    }
  }
}

}  // namespace
}  // namespace draftproof
