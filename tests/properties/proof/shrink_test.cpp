// Tests of the loop that every search for a smaller counterexample uses: it ends at a model that shows the fault while
// no smaller model does, tests no model twice, and reports if it was cut short.
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <draftproof/properties/instances/instance.hpp>
#include <draftproof/properties/proof/shrink.hpp>

namespace draftproof {
namespace {

const Instance unshrunk = Instance::parse("p=(9 7 8 6)/30 q=(7 9 6 8)/30 K=3");

/// The fault in this test: whether p(0) > q(0).
bool has_more_of_p(const Instance& one) {
  const Rows<Rational> rows = one.rows();
  return rows.target(0) > rows.proposal(0, 0);
}

TEST(Shrink, EndsWhereNoSmallerModelShowsTheFault) {
  for (const auto next : {ShrinkOptions::Next::most_drastic, ShrinkOptions::Next::same_step}) {
    std::map<std::string, int> asked;
    const Shrunk<Instance> found = shrink(unshrunk, {.next = next}, [&](const Instance& one) {
      ++asked[one.text()];
      return has_more_of_p(one);
    });
    EXPECT_FALSE(found.cut);
    EXPECT_EQ(found.note(), "");
    EXPECT_TRUE(has_more_of_p(found.smallest)) << found.smallest.text();
    EXPECT_EQ(found.smallest.drafts, 1);
    EXPECT_EQ(found.smallest.vocabulary(), 2);
    for (const Instance& smaller : shrinks(found.smallest)) EXPECT_FALSE(has_more_of_p(smaller)) << smaller.text();
    EXPECT_EQ(found.asked, asked.size());
    for (const auto& [text, times] : asked) EXPECT_EQ(times, 1) << text;
  }
}

TEST(Shrink, TheStepThatSucceededIsNextOnlyWhereThatIsAsked) {
  const auto first_two = [](ShrinkOptions::Next next) {
    std::vector<Instance> asked;
    shrink(unshrunk, {.next = next, .most = 3}, [&](const Instance& one) {
      asked.push_back(one);
      return one.vocabulary() < 4 || one.drafts < 3 ? one.drafts == 3 : true;
    });
    return asked;
  };
  // The first candidate, with one draft less, does not show the fault; the second, with one token less, does. The third
  // has one draft less (most_drastic) or another token less (same_step).
  const auto drastic = first_two(ShrinkOptions::Next::most_drastic), same = first_two(ShrinkOptions::Next::same_step);
  ASSERT_EQ(drastic.size(), 3u);
  ASSERT_EQ(same.size(), 3u);
  EXPECT_EQ(drastic[1], same[1]);
  EXPECT_EQ(drastic[2].drafts, 2);
  EXPECT_EQ(same[2].drafts, 3);
  EXPECT_EQ(same[2].vocabulary(), 2);
}

TEST(Shrink, SaysThatItWasCut) {
  const Shrunk<Instance> few = shrink(unshrunk, {.most = 4}, has_more_of_p);
  EXPECT_TRUE(few.cut);
  EXPECT_EQ(few.asked, 4u);
  EXPECT_TRUE(has_more_of_p(few.smallest)) << "what was found so far stands";
  EXPECT_EQ(few.note(), "; shrinking was cut after 4 smaller models");
  int left = 2;
  const Shrunk<Instance> stopped = shrink(unshrunk, {.stopped = [&] { return left-- == 0; }}, has_more_of_p);
  EXPECT_TRUE(stopped.cut);
  EXPECT_EQ(stopped.asked, 2u);
}

TEST(Shrink, SmallWeightsAreTriedLast) {
  const auto heavy = [](const Instance& one) {  // holds for no instance with one weight lowered
    return one == unshrunk || (one.vocabulary() == 4 && one.drafts == 3 && one.target == std::vector{1, 0, 0, 1});
  };
  EXPECT_EQ(shrink(unshrunk, {}, heavy).smallest, unshrunk);
  const Shrunk<Instance> light = shrink(unshrunk, {.small_weights = true}, heavy);
  EXPECT_EQ(light.smallest.target, (std::vector{1, 0, 0, 1}));
  EXPECT_EQ(light.smallest.proposals.front(), (std::vector{1, 0, 0, 0}));
}

}  // namespace
}  // namespace draftproof
