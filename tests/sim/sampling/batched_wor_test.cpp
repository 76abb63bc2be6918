// Draws without replacement of a batch against those of single trials, on words at the edges of the removed tokens.
#include <gtest/gtest.h>

#include <draftproof/sim/sampling/batched_wor.hpp>
#include <draftproof/tests/support/example_rows.hpp>

namespace draftproof {
namespace {

/// Prescribed words of a batch: word n of trial t.
struct DealtBatch {
  std::vector<std::vector<std::uint64_t>> dealt;
  int count() const { return static_cast<int>(dealt[0].size()); }
  std::span<const std::uint64_t> words(Purpose, std::uint32_t n) const { return dealt[n]; }
};

/// The least word that scales to `at` of `left`.
std::uint64_t word_at(std::uint64_t at, std::uint64_t left) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>(((static_cast<Wide>(at) << 64) + left - 1) / left);
}

struct Drawn {
  std::vector<Token> tokens;
  bool complete = true;
};

Drawn prefix_consistent(const AliasTable& whole, const CumulativeTable& rest, const DealtBatch& batch,
                        std::size_t trial) {
  Drawn drawn;
  for (std::size_t k = 0; k < batch.dealt.size(); ++k) {
    const std::uint64_t word = batch.dealt[k][trial];
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
      DealtBatch batch{std::vector(drafts, std::vector<std::uint64_t>(trials))};
      for (std::size_t t = 0; t < trials; ++t)
        for (std::size_t k = 0; k < drafts; ++k) {
          batch.dealt[k][t] = philox_pair(seed, t, static_cast<std::uint32_t>(k), 1).first;
          if (k == 0 || t % 4 == 3) continue;
          // The place where an earlier token began, counted without the tokens before it: the draw must skip it.
          const auto before = prefix_consistent(
              whole, rest, {{batch.dealt.begin(), batch.dealt.begin() + static_cast<std::ptrdiff_t>(k)}}, t);
          if (!before.complete) continue;
          const std::uint64_t left = rest.mass_without(before.tokens.data(), static_cast<int>(k));
          if (left == 0) continue;
          const auto edge = rest.interval(before.tokens[t % k]);
          std::uint64_t at = edge.at;
          for (const Token x : before.tokens)
            if (rest.interval(x).at < edge.at) at -= rest.interval(x).mass;
          at += static_cast<std::uint64_t>(t % 4) - 1;  // beside it, too
          if (at < left) batch.dealt[k][t] = word_at(at, left);
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
