// Draws without some tokens agree with a linear scan of the rest, also at every boundary between tokens.
#include <set>

#include <gtest/gtest.h>

#include <draftproof/sim/sampling/cumulative_table.hpp>
#include <draftproof/sim/sampling/function_weights.hpp>
#include <draftproof/tests/support/example_rows.hpp>

namespace draftproof {
namespace {

__extension__ using Wide = unsigned __int128;

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

/// The words on both sides of every boundary of the remaining law, and some others.
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
    // Drafts come in any order.
    sets.emplace_back(i % 2 ? std::vector<Token>(chosen.begin(), chosen.end())
                            : std::vector<Token>(chosen.rbegin(), chosen.rend()));
  }
  return sets;
}

TEST(CumulativeTable, DrawsWhatALinearWalkDraws) {
  for (const auto& row : examples::awkward_rows()) {
    const auto mass = quantise(row);
    const CumulativeTable table(mass);
    for (const auto& seen : seen_sets(row.size()))
      for (const std::uint64_t word : telling_words(mass, seen)) {
        const Token drawn = table.draw_without(seen.data(), static_cast<int>(seen.size()), word);
        ASSERT_EQ(drawn, linear_draw(mass, seen, word)) << "V " << row.size() << " word " << word;
        ASSERT_TRUE(drawn == no_token || mass[static_cast<std::size_t>(drawn)] > 0);
      }
  }
}

TEST(CumulativeTable, MassWithoutIsExact) {
  for (const auto& row : examples::awkward_rows()) {
    const auto mass = quantise(row);
    const CumulativeTable table(mass);
    for (const auto& seen : seen_sets(row.size())) {
      std::uint64_t left = 0;
      for (Token x = 0; x < std::ssize(mass); ++x)
        if (!among(x, seen.data(), static_cast<int>(seen.size()))) left += mass[static_cast<std::size_t>(x)];
      EXPECT_EQ(table.mass_without(seen.data(), static_cast<int>(seen.size())), left);
    }
  }
}

TEST(CumulativeTable, ExhaustedSupportGivesNoToken) {
  const CumulativeTable table(quantise(std::vector<double>{0.0, 0.25, 0.0, 0.75}));
  const Token seen[] = {3, 1};
  EXPECT_EQ(table.mass_without(seen, 2), 0u);
  EXPECT_EQ(table.draw_without(seen, 2, 12345), no_token);
}

}  // namespace
}  // namespace draftproof
