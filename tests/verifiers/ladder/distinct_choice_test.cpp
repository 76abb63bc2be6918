// The choice among drafts without replacement of a group G with H above and Z below (ladder/distinct_choice.hpp) has law
// q(x) / q(G) (F(H + G) - F(H)), for any three sets: on RapidCheck's instances, by an enumeration of every branch in
// fractions. Choices that look right have another law.
#include <array>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <draftproof/mutants/ladder_choice.hpp>
#include <draftproof/properties/prover/arbitrary.hpp>
#include <draftproof/sim/distributions/plain_rows.hpp>
#include <draftproof/sim/drafters/sampled.hpp>
#include <draftproof/sim/random/explorer.hpp>
#include <draftproof/verifiers/ladder/distinct_choice.hpp>
#include <draftproof/verifiers/ladder/levels.hpp>

namespace draftproof {
namespace {

/// Rows whose tokens are in three bins, whatever their ratios.
struct InThreeBins : Rows<Rational> {
  struct Bins {
    static constexpr bool single_tokens = false;
    std::array<Rational, 4> below{};
    int size() const { return 3; }
    const Rational& proposal_below(int i) const { return below[static_cast<std::size_t>(i)]; }
  };
  std::vector<int> bin_of;

  Bins bins() const {
    Bins bins;
    for (Token x = 0; x < vocabulary(); ++x)
      for (int i = bin_of[static_cast<std::size_t>(x)]; i < 3; ++i)
        bins.below[static_cast<std::size_t>(i) + 1] += proposal(x);
    return bins;
  }
  int bin(const Bins&, Token x) const { return bin_of[static_cast<std::size_t>(x)]; }
};

/// What a choice reads of a ladder: every break is up in every trial.
struct ThreeGroups {
  InThreeBins::Bins bins;
  LadderLevels<Rational> levels{std::vector<Rational>{0, 1, 1}};
  int bin(const InThreeBins& laws, Token x) const { return laws.bin(bins, x); }
};

/// The law of the chosen draft, and of the best bin that is drafted.
struct Chosen {
  std::vector<Rational> token;
  std::array<Rational, 3> best{};
};

template <class Choice>
Chosen chosen_by(const InThreeBins& laws, int drafts) {
  const ThreeGroups core{laws.bins()};
  Chosen law{std::vector<Rational>(static_cast<std::size_t>(laws.vocabulary())), {}};
  Explorer<Rational> explorer;
  Token tuple[max_drafts];
  EXPECT_TRUE(explorer.explore(
      [&](Explorer<Rational>& random) {
        const int count = drafters::WithoutReplacement{}.draw(laws, drafts, random, tuple);
        const int chosen = choose_distinct(DraftedPosition<InThreeBins>(laws, tuple, count), core, random, Choice{});
        return accepted(tuple[chosen], chosen);
      },
      [&](const Leaf<Rational>& leaf) {
        law.token[static_cast<std::size_t>(leaf.verdict.token)] += leaf.probability;
        law.best[static_cast<std::size_t>(core.bin(laws, leaf.verdict.token))] += leaf.probability;
      }));
  return law;
}

/// Whether the choice has the law of the theorem in each of the three groups. The chosen draft lies in the best bin that is
/// drafted, so Pr(best = i) is F(first i + 1 bins) - F(first i).
template <class Choice>
bool has_the_law(const InThreeBins& laws, int drafts) {
  const auto bins = laws.bins();
  const Chosen law = chosen_by<Choice>(laws, drafts);
  for (Token x = 0; x < laws.vocabulary(); ++x) {
    const int i = laws.bin(bins, x);
    const Rational width = bins.proposal_below(i + 1) - bins.proposal_below(i);
    if (width == 0) continue;
    if (law.token[static_cast<std::size_t>(x)] * width != laws.proposal(x) * law.best[static_cast<std::size_t>(i)])
      return false;
  }
  return true;
}

InThreeBins split(const Instance& instance, std::vector<int> bins) { return {instance.rows(), std::move(bins)}; }

RC_GTEST_PROP(DistinctChoice, HasTheLawOfTheProposalOnItsGroup, (const Instance& instance)) {
  const auto bins = *rc::gen::container<std::vector<int>>(instance.target.size(), rc::gen::inRange(0, 3));
  RC_CLASSIFY(has_the_law<mutants::detail::FirstOfGroup>(split(instance, bins), instance.drafts), "the first draft would do");
  RC_ASSERT(has_the_law<DistinctChoice>(split(instance, bins), instance.drafts));
}

// The smallest instance: V = 3, K = 2, one token above the group.
TEST(DistinctChoice, FirstAndLastDraftDoNotHaveIt) {
  const Instance instance = Instance::parse("p=(1 1 1) q=(3 2 1) K=2");
  const InThreeBins laws = split(instance, {0, 1, 1});
  EXPECT_TRUE(has_the_law<DistinctChoice>(laws, 2));
  EXPECT_FALSE(has_the_law<mutants::detail::FirstOfGroup>(laws, 2));
  EXPECT_FALSE(has_the_law<mutants::detail::LastOfGroup>(laws, 2));
  const Chosen first = chosen_by<mutants::detail::FirstOfGroup>(laws, 2), last = chosen_by<mutants::detail::LastOfGroup>(laws, 2);
  EXPECT_EQ(first.token[1], Rational("1/12"));
  EXPECT_EQ(first.token[2], Rational("1/15"));
  EXPECT_EQ(last.token[1], Rational("1/15"));
  EXPECT_EQ(last.token[2], Rational("1/12"));
}

}  // namespace
}  // namespace draftproof
