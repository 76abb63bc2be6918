// Recursions over clipped products equal an enumeration of every branch, on random chains.
#include <gtest/gtest.h>

#include <draftproof/studies/chain_recursions.hpp>
#include <draftproof/tests/support/small_models.hpp>

namespace draftproof {
namespace {

ChainModel random_chain(int seed, int vocabulary) {
  InstanceRng dice(11, static_cast<std::uint64_t>(seed));
  const auto row = [&] {
    std::vector<int> weights(static_cast<std::size_t>(vocabulary));
    int total = 0;
    while (total == 0)
      for (int& weight : weights) total += weight = dice.between(0, 4);
    return normalised(weights);
  };
  ChainModel chain;
  for (int state = 0; state < (seed % 2 == 0 ? 1 : vocabulary); ++state) {
    chain.target.push_back(row());
    chain.proposal.push_back(row());
  }
  return chain;
}

/// The same model prefix by prefix.
small::Model unrolled(const ChainModel& chain, int length) {
  std::vector<Rows<Rational>> rows;
  std::vector<std::size_t> level{0};
  for (int depth = 0; depth <= length; ++depth) {
    std::vector<std::size_t> below;
    for (const std::size_t state : level) {
      rows.emplace_back(chain.target[state], chain.proposal[state]);
      for (std::size_t y = 0; y < chain.target[state].size(); ++y) below.push_back(chain.next(y));
    }
    level = std::move(below);
  }
  return small::Model(std::move(rows));
}

TEST(ChainRecursions, AreWhatAllBranchesGive) {
  for (int seed = 0; seed < 12; ++seed) {
    const ChainModel chain = random_chain(seed, 2 + seed % 3);
    const AcceptedByLength accepted = accepted_by_length(chain, 3);
    for (int length = 1; length <= 3; ++length) {
      const auto model = unrolled(chain, length);
      const TreeShape shape{.drafts = 1, .length = length};
      const auto i = static_cast<std::size_t>(length - 1);
      EXPECT_EQ(small::law("token_path", "iid_paths", model, shape).mean_accepted(), accepted.token[i]) << seed;
      EXPECT_EQ(small::law("block", "iid_paths", model, shape).mean_accepted(), accepted.block[i]) << seed;
    }
  }
}

// The published two-token example: 10/9 and 11/9.
TEST(ChainRecursions, ThePublishedExample) {
  const ChainModel toy{{{{1, 3}, {2, 3}}}, {{{2, 3}, {1, 3}}}};
  const AcceptedByLength accepted = accepted_by_length(toy, 2);
  EXPECT_EQ(accepted.token.back(), Rational(10, 9));
  EXPECT_EQ(accepted.block.back(), Rational(11, 9));
}

}  // namespace
}  // namespace draftproof
