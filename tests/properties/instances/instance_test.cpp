// Tests that instances print and parse without loss, that errors of a text are reported, and that instances shrink to
// strictly smaller instances.
#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <tuple>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <draftproof/properties/prover/arbitrary.hpp>

namespace draftproof {
namespace {

RC_GTEST_PROP(Instance, TextReadsBack, (const Instance& instance)) {
  RC_ASSERT(Instance::parse(instance.text()) == instance);
}

TEST(Instance, TextReadsBackAtTheLargestWeights) {
  const Instance heavy{{1'000'000, 1'000'000, 1}, {{0, 1'000'000, 999'999}, {7, 0, 0}}, 2};
  EXPECT_EQ(Instance::parse(heavy.text()), heavy);
}

TEST(Instance, ReadsTheFormOfItsHeader) {
  const Instance expected{{1, 2, 1}, {{3, 1, 1}}, 2};
  EXPECT_EQ(Instance::parse("p=(1 2 1)/4 q=(3 1 1)/5 K=2"), expected);
  EXPECT_EQ(Instance::parse("  p=( 1 2 1 ) q=(3 1  1)  K=2 "), expected) << "denominators and spaces are optional";
  EXPECT_EQ(expected.text(), "p=(1 2 1)/4 q=(3 1 1)/5 K=2");
}

TEST(Instance, SaysWhatItFoundAndWanted) {
  // The last text has far more weights than the parser allows; their sum would overflow an int.
  std::string endless = "p=(";
  for (int i = 0; i < 5000; ++i) endless += "1000000 ";
  const std::vector<std::pair<std::string, std::string>> rows{
      {"", "\"p=\""},
      {"p=1 q=(1) K=1", "\"(\""},
      {"p=(1 2)/4 q=(1 1) K=1", "sum to 3"},
      {"p=(1 x) q=(1 1) K=1", "\"x) q="},
      {"p=(1 -1) q=(1 1) K=1", "between 0 and"},
      {"p=(1 100000001) q=(1 1) K=1", "1000000"},
      {"p=(1 99999999999999999999) q=(1 1) K=1", "between 0 and"},
      {"p=(1 1) K=1", "\"q=\""},
      {"p=(1 1) q=(1 1)", "\"K=\""},
      {"p=(1 1) q=(1 1) K=0", "K=0"},
      {"p=(1 1) q=(1 1) K=33", "K=33"},
      {"p=(1 1) q=(1 1) K=1 and more", "the end"},
      {"p=(1 1) q=(1 1 1) K=1", "one length"},
      {"p=(0 0) q=(1 1) K=1", "positive"},
      {"p=() q=() K=1", "positive"},
      {"p=(1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1) q=(1) K=1", "21 tokens"},
      {endless + ") q=(1) K=1", "expected"}};
  for (const auto& [text, part] : rows) {
    std::string complaint = "accepted";
    try {
      Instance::parse(text);
    } catch (const std::invalid_argument& error) {
      complaint = error.what();
    }
    EXPECT_NE(complaint.find(part), std::string::npos) << text << ": " << complaint;
  }
}

/// Returns drafts, tokens and total weight. Every step of shrinking lowers this tuple in lexicographic order, so
/// shrinking ends.
std::tuple<int, std::size_t, long> size_of(const Instance& instance) {
  long weight = std::accumulate(instance.target.begin(), instance.target.end(), 0L);
  for (const auto& row : instance.proposals) weight = std::accumulate(row.begin(), row.end(), weight);
  return {instance.drafts, instance.target.size(), weight};
}

RC_GTEST_PROP(Simpler, IsValidAndStrictlySmaller, (const Instance& instance)) {
  for (const Instance& candidate : shrinks(instance)) {
    RC_ASSERT(candidate.valid());
    RC_ASSERT(size_of(candidate) < size_of(instance));
  }
}

TEST(Simpler, ReachesTheSimplestInstanceFromAnywhere) {
  Instance instance = Instance::parse("p=(37 0 22 5) q=(9 9 1 0) q=(1 2 3 4) q=(4 3 2 1) K=3");
  while (true) {
    const auto candidates = shrinks(instance);
    if (candidates.empty()) break;
    instance = candidates.front();
  }
  EXPECT_EQ(instance.text(), "p=(1)/1 q=(1)/1 K=1");
}

TEST(Simpler, FindsTheLeastLargeWeightInFewSteps) {
  constexpr int least = 9'999;
  const auto fails = [](const Instance& one) { return std::ranges::max(one.proposals.front()) >= least; };
  Instance instance = Instance::parse("p=(0 1) q=(1 15535) K=1");
  int asked = 0;
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (const Instance& candidate : shrinks(instance))
      if (++asked; fails(candidate)) {
        instance = candidate;
        smaller = true;
        break;
      }
  }
  EXPECT_EQ(instance.text(), "p=(1)/1 q=(9999)/9999 K=1");
  EXPECT_LT(asked, 400) << "by steps of 1 there would be some ten thousand";
}

TEST(Simpler, OffersTheMostDrasticStepsFirst) {
  const auto candidates = shrinks(Instance::parse("p=(3 1) q=(1 3) K=2"));
  ASSERT_GE(candidates.size(), 3u);
  EXPECT_EQ(candidates[0].text(), "p=(3 1)/4 q=(1 3)/4 K=1");
  EXPECT_EQ(candidates[1].text(), "p=(1)/1 q=(3)/3 K=2");
  EXPECT_EQ(candidates[2].text(), "p=(3)/3 q=(1)/1 K=2");
}

}  // namespace
}  // namespace draftproof
