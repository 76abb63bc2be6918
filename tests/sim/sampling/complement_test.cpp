// The uniform law outside a set, and the pair that remains outside the support of q.
#include <gtest/gtest.h>

#include <draftproof/exact/rational.hpp>
#include <draftproof/sim/distributions/plain_rows.hpp>
#include <draftproof/sim/position.hpp>
#include <draftproof/sim/sampling/complement.hpp>
#include <draftproof/tests/support/example_rows.hpp>

namespace draftproof {
namespace {

__extension__ using Wide = unsigned __int128;

TEST(UniformOnComplement, GivesEveryUnseenTokenItsShareInOrder) {
  constexpr int vocabulary = 6;
  for (unsigned set = 0; set < 1u << vocabulary; ++set) {
    std::vector<Token> seen, unseen;
    for (Token x = 0; x < vocabulary; ++x) (set >> x & 1 ? seen : unseen).push_back(x);
    for (const bool reversed : {false, true}) {
      if (reversed) std::reverse(seen.begin(), seen.end());  // drafts come in any order
      const UniformOnComplement weights(vocabulary, seen.data(), static_cast<int>(seen.size()));
      std::vector<Token> walked;
      weights.for_each([&](Token x, int weight) {
        EXPECT_EQ(weight, 1);
        walked.push_back(x);
      });
      EXPECT_EQ(walked, unseen);
      // The words of the i-th unseen token start at ceil(i 2^64 / n).
      for (std::size_t i = 0; i < unseen.size(); ++i) {
        const auto first =
            static_cast<std::uint64_t>(((static_cast<Wide>(i) << 64) + unseen.size() - 1) / unseen.size());
        EXPECT_EQ(weights.draw(first), unseen[i]);
        EXPECT_TRUE(i == 0 || weights.draw(first - 1) == unseen[i - 1]);
      }
    }
  }
}

TEST(UniformOnComplement, NothingOutsideGivesNoToken) {
  const Token seen[] = {1, 0};
  EXPECT_EQ(UniformOnComplement(2, seen, 2).draw(9), no_token);
}

TEST(OffSupportPosition, IsTheRestrictedPairOfLaws) {
  // q lives on tokens 1 and 3; p keeps 2/10, 3/10 and 1/10 outside.
  const Rows<Rational> laws({{2, 10}, {1, 10}, {3, 10}, {3, 10}, {1, 10}, 0},
                            std::vector<Rational>{0, {1, 4}, 0, {3, 4}, 0, 0});
  const Token drafts[] = {3, 1, 5, 2};
  const DraftedPosition at(laws, drafts, 4);
  const OffSupportPosition rest(at, 2);
  const std::vector<Rational> p{{1, 3}, 0, {1, 2}, 0, {1, 6}, 0}, q{{1, 4}, 0, {1, 4}, 0, {1, 4}, {1, 4}};
  for (Token x = 0; x < 6; ++x) {
    EXPECT_EQ(rest.target(x), p[static_cast<std::size_t>(x)]) << x;
    EXPECT_EQ(rest.proposal(x), q[static_cast<std::size_t>(x)]) << x;
  }
  EXPECT_EQ(rest.drafts(), 2);
  EXPECT_EQ(rest.draft(0), 5);
  EXPECT_EQ(rest.draft(1), 2);
  EXPECT_EQ(rest.residual_mass(0), 1);
  EXPECT_EQ(rest.residual_mass(1), Rational(1, 3) - Rational(1, 4) + Rational(1, 2) - Rational(1, 4));
  EXPECT_EQ(rest.mass_without(0, rest.draft_data(), 1), Rational(3, 4));
  Rational residual = 0;
  rest.residual(1).for_each([&](Token x, const Rational& weight) {
    EXPECT_EQ(weight, p[static_cast<std::size_t>(x)] - q[static_cast<std::size_t>(x)]);
    residual += weight;
  });
  EXPECT_EQ(residual, rest.residual_mass(1));
}

}  // namespace
}  // namespace draftproof
