// The law of an alias table, by counting the words that lead to each token.
#include <gtest/gtest.h>

#include <draftproof/sim/sampling/alias_table.hpp>
#include <draftproof/tests/support/example_rows.hpp>

namespace draftproof {
namespace {

__extension__ using Wide = unsigned __int128;

/// Counts the words of the 2^64 that draw each token. A cell is an interval of words in which the token changes at
/// most once, so bisection finds every change.
std::vector<Wide> word_counts(const AliasTable& table, std::size_t size) {
  std::vector<Wide> counts(size, 0);
  const auto start = [size](std::size_t cell) { return ((static_cast<Wide>(cell) << 64) + size - 1) / size; };
  for (std::size_t cell = 0; cell < size; ++cell) {
    const Wide first = start(cell), end = start(cell + 1);
    const Token own = table.draw(static_cast<std::uint64_t>(first));
    Wide low = first, high = end;  // draw is `own` before low + 1; `high` is past the change
    while (high - low > 1) {
      const Wide middle = low + (high - low) / 2;
      (table.draw(static_cast<std::uint64_t>(middle)) == own ? low : high) = middle;
    }
    counts[static_cast<std::size_t>(own)] += high - first;
    if (high < end) counts[static_cast<std::size_t>(table.draw(static_cast<std::uint64_t>(end - 1)))] += end - high;
  }
  return counts;
}

// With 1, 2 or 4 tokens every cell boundary and every share is a whole number of words: no grid error is left.
TEST(AliasTable, LawIsTheRowExactlyWhereWordsDivideEvenly) {
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

// The words of a cell and of its own token are each rounded to whole words once: at most one word a cell moves.
TEST(AliasTable, LawIsTheRowToOneWordACell) {
  for (const auto& row : examples::awkward_rows()) {
    const auto mass = quantise(row);
    const auto counts = word_counts(AliasTable(mass), row.size());
    Wide moved = 0, total = 0;
    for (std::size_t x = 0; x < row.size(); ++x) {
      const Wide wanted = static_cast<Wide>(mass[x]) * 4;
      moved += counts[x] > wanted ? counts[x] - wanted : wanted - counts[x];
      total += counts[x];
    }
    EXPECT_TRUE(total == static_cast<Wide>(1) << 64);
    EXPECT_LE(static_cast<std::uint64_t>(moved), 2 * row.size()) << "total variation above V 2^-64";
  }
}

TEST(AliasTable, NeverDrawsAZeroToken) {
  for (const auto& row : examples::awkward_rows()) {
    const auto mass = quantise(row);
    const auto counts = word_counts(AliasTable(mass), row.size());
    for (std::size_t x = 0; x < row.size(); ++x) EXPECT_TRUE(mass[x] > 0 || counts[x] == 0) << x;
  }
}

/// Words at which the token changes: beginnings of cells and ends of a cell's own mass, and their neighbours.
std::vector<std::uint64_t> boundary_words(const AliasTable& table, std::size_t size) {
  std::vector<std::uint64_t> words = examples::some_words(8, 500);
  for (std::size_t cell = 0; cell < std::min<std::size_t>(size, 64); ++cell) {
    const Wide first = ((static_cast<Wide>(cell) << 64) + size - 1) / size,
               end = ((static_cast<Wide>(cell + 1) << 64) + size - 1) / size;
    const Token own = table.draw(static_cast<std::uint64_t>(first));
    Wide low = first, high = end;
    while (high - low > 1) {
      const Wide middle = low + (high - low) / 2;
      (table.draw(static_cast<std::uint64_t>(middle)) == own ? low : high) = middle;
    }
    for (const Wide word : {first, low - 1, low, high, high + 1, end - 1})
      words.push_back(static_cast<std::uint64_t>(word));
  }
  return words;
}

// At the end of an own share the upper halves of place and share are equal: the tie that only the whole share
// decides.
TEST(AliasTable, ManyAtATimeAreThoseOneByOne) {
  for (const auto& row : examples::awkward_rows()) {
    const AliasTable table(quantise(row));
    const auto words = boundary_words(table, row.size());
    for (const simd::Width width : simd::widths) {
      if (width > simd::widest()) continue;
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

}  // namespace
}  // namespace draftproof
