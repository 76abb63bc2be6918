// More paths can hurt: ladder_block is not monotone in K and can fall below block verification of one path. Smallest
// known instances, in fractions, and a search that shows both effects to be rare and small.
#include <iostream>

#include <gtest/gtest.h>

#include <draftproof/tests/support/chosen_law.hpp>
#include <draftproof/tests/support/weighted_models.hpp>

namespace draftproof {
namespace {

Rational mean(const weighted::Model& model, int paths) {
  return planned_mean_accepted(model.conditionals<Rational>(), paths, model.length);
}

const std::vector<int> certain{1, 0, 0}, sure{1, 0};

/// Two tokens with the same rank under p and q, and a third that cannot be drafted; p and q differ only after token
/// 1.
weighted::Model below_one_path(std::vector<int> p, std::vector<int> q, std::vector<int> q_after) {
  weighted::Model model{3, 2, std::vector<std::vector<int>>(13, certain), std::vector<std::vector<int>>(13, certain)};
  model.target[0] = std::move(p);
  model.proposal[0] = std::move(q);
  model.proposal[2] = std::move(q_after);
  return model;
}

TEST(LadderBlockOrder, TwoPathsCanBeWorseThanOne) {
  const auto tied = below_one_path({1, 1, 1}, {1, 1, 0}, {1, 1, 0});
  EXPECT_EQ(mean(tied, 1), Rational(5, 4));
  EXPECT_EQ(mean(tied, 2), Rational(59, 48));
  const auto distinct = below_one_path({3, 4, 3}, {2, 3, 0}, {1, 1, 0});
  EXPECT_LT(mean(distinct, 2), mean(distinct, 1));  // no ratios are equal here
}

TEST(LadderBlockOrder, ThreePathsCanBeWorseThanTwo) {
  weighted::Model model{2, 2, std::vector<std::vector<int>>(7, sure), std::vector<std::vector<int>>(7, sure)};
  model.target[0] = {3, 1};
  model.proposal[0] = {1, 1};
  model.proposal[2] = {3, 1};
  EXPECT_EQ(mean(model, 2), Rational(127, 64));
  EXPECT_EQ(mean(model, 3), Rational(1015, 512));
}

TEST(LadderBlockOrder, BothAreRareAndSmallOnRandomModels) {
  struct Size {
    int vocabulary, length, models;
  };
  int below = 0, falls = 0, models = 0;
  double deepest = 0;
  for (const Size& size : {Size{2, 2, 1500}, Size{3, 2, 1500}, Size{2, 3, 600}, Size{3, 3, 60}})
    for (int seed = 0; seed < size.models; ++seed, ++models) {
      const auto model = weighted::random_model(size.vocabulary, size.length, 9, static_cast<std::uint32_t>(seed));
      const auto conditionals = model.conditionals<double>();
      double one = 0, before = 0;
      bool falls_below = false, falls_back = false;
      for (int paths = 1; paths <= 4; ++paths) {
        const double now = planned_mean_accepted(conditionals, paths, size.length);
        if (paths == 1) one = before = now;
        falls_below |= now < one - 1e-9;  // sums of at most 39 products in double: far below
        falls_back |= now < before - 1e-9;
        deepest = std::max(deepest, one - now);
        before = now;
      }
      // V = 2, L = 2: never seen, on 820,265 models with weights up to 5 and K = 2, 3 either.
      EXPECT_FALSE(falls_below && size.vocabulary == 2 && size.length == 2) << model.text();
      below += falls_below;
      falls += falls_back;
    }
  std::cout << models << " models: below one path " << below << ", not monotone " << falls << ", at worst by "
            << deepest << " tokens\n";
  EXPECT_GT(falls, 0);
  EXPECT_LT(below, models / 50);
  EXPECT_LT(deepest, 0.1);
}

}  // namespace
}  // namespace draftproof
