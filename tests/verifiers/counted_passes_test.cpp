// The reads of a decision on fresh rows, as counts: passes over the vocabulary and blocks read again. K-SEQ's factor,
// found in few passes, is valid and as good as the root.
#include <gtest/gtest.h>

#include <draftproof/captures/families/generated.hpp>
#include <draftproof/properties/scripted/reject_all.hpp>
#include <draftproof/sim/distributions/ratio_table.hpp>
#include <draftproof/sim/distributions/streamed_rows.hpp>
#include <draftproof/tests/support/example_rows.hpp>
#include <draftproof/verifiers/k_seq.hpp>
#include <draftproof/verifiers/ladder.hpp>
#include <draftproof/verifiers/recursive_rejection.hpp>
#include <draftproof/verifiers/single_draft.hpp>

namespace draftproof {
namespace {

struct FloatPair {
  std::vector<float> target, proposal;
  explicit FloatPair(const RowPair& rows)
      : target(rows.target.begin(), rows.target.end()),
        proposal(rows.proposals.front().begin(), rows.proposals.front().end()) {}
  FreshRows<float> rows() const { return {target, std::span<const float>(proposal)}; }
};

FloatPair logits(double vocabulary, double noise, std::uint64_t seed = 7) {
  return FloatPair(families::GaussianLogits{.vocabulary = vocabulary, .noise = noise}.pair(seed, 0));
}

constexpr std::uint64_t block = FreshRows<float>::block;

TEST(CountedPasses, KRefusalsAreKPassesAndOneBlock) {
  const FloatPair pair = logits(5000, 1);
  const Token drafts[] = {1, 2, 3, 4};
  for (const std::uint64_t word : examples::some_words(1, 20)) {
    RefusesAll random{word};
    const auto one = pair.rows();
    verifiers::SingleDraft{}.verify(DraftedPosition(one, drafts, 1), random);
    EXPECT_GT(one.visited(), 5000u);
    EXPECT_LE(one.visited(), 5000 + block);
    const auto four = pair.rows();
    verifiers::RecursiveRejection{}.verify(DraftedPosition(four, drafts, 4), random);
    EXPECT_GT(four.visited(), 4 * 5000u);
    EXPECT_LE(four.visited(), 4 * 5000 + block);
  }
}

// Where p = q every token is read to find that nothing is left.
TEST(CountedPasses, ALadderIsOneAndARefusalOneMoreAndOneBlock) {
  const FloatPair pair = logits(5000, 1), equal = logits(5000, 0);
  const Token drafts[] = {1, 2, 3, 4};
  for (const std::uint64_t word : examples::some_words(1, 20)) {
    RefusesAll random{word};
    const auto rows = pair.rows();
    const auto plan = verifiers::Ladder{}.prepare(rows, 4);
    EXPECT_EQ(rows.visited(), 5000u);
    EXPECT_GE(verifiers::Ladder{}.verify(DraftedPosition(rows, drafts, 4), plan, random).token, 0);
    EXPECT_GT(rows.visited(), 2 * 5000u);
    EXPECT_LE(rows.visited(), 2 * 5000 + block);
  }
  const auto rows = equal.rows();
  EXPECT_TRUE(verifiers::Ladder{}.prepare(rows, 4).nothing_left);
  EXPECT_EQ(rows.visited(), 2 * 5000u);
}

TEST(CountedPasses, KSeqFindsItsFactorInSixAndDrawsInOne) {
  for (const double vocabulary : {4096., 32000., 128256.})
    for (const int drafts : {2, 4, 8, 16}) {
      const FloatPair pair = logits(vocabulary, 1);
      const auto rows = pair.rows();
      const auto size = static_cast<std::uint64_t>(vocabulary);
      const auto plan = verifiers::KSeq{}.prepare(rows, drafts);
      EXPECT_EQ(rows.visited() % size, 0u);
      EXPECT_LE(rows.visited() / size, 6u) << "V " << vocabulary << " K " << drafts;
      const std::uint64_t before = rows.visited();
      RefusesAll random{before};
      const Token none[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
      verifiers::KSeq{}.verify(DraftedPosition(rows, none, drafts), plan, random);
      EXPECT_LE(rows.visited() - before, size + block);
      // The last bit of the root, by bisection on the same pair.
      const RatioTable table(std::vector<double>(pair.target.begin(), pair.target.end()),
                             std::vector<double>(pair.proposal.begin(), pair.proposal.end()));
      const double root = verifiers::KSeq{}.prepare(table, drafts).factor;
      EXPECT_NEAR(plan.factor, root, 1e-6 * root) << "V " << vocabulary << " K " << drafts;
    }
}

// Rows of many kinds: one token that holds most of a row, flat ones, proposals near the target and far from it.
// Losslessness needs gamma <= rho at the numbers that are used. Acceptance may fall short of that of the root, the
// inverse of F(rho*), by the search's tolerance; truncation, below V 2^-60 per sum, is negligible.
TEST(CommonFactor, IsValidAndAcceptsAsMuchAsItsRoot) {
  std::uint64_t most = 0, all = 0, cases = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed)
    for (const double sharpness : {1., 6., 40.})
      for (const double closeness : {0., 0.9, 0.999})
        for (const int drafts : {1, 2, 4, 8, 16}) {
          const std::size_t size = 1025 + 300 * (seed % 4);
          const auto p = examples::random_row(seed, size, sharpness, 0.1);
          auto q = examples::random_row(seed + 50, size, sharpness, 0.1);
          for (std::size_t x = 0; x < size; ++x) q[x] = closeness * p[x] + (1 - closeness) * q[x];
          q = examples::normalised(q);
          const FreshRows<double> rows(p, std::span<const double>(q));
          const auto plan = verifiers::KSeq{}.prepare(rows, drafts);
          most = std::max(most, rows.visited() / size);
          all += rows.visited() / size;
          ++cases;
          EXPECT_EQ(plan.served, served_by(1.0, plan.factor, rows.residual_mass(plan.factor), drafts));
          EXPECT_LE(plan.served, plan.factor);
          EXPECT_TRUE(1 <= plan.factor && plan.factor <= drafts);
          const double root = verifiers::KSeq{}.prepare(RatioTable(p, q), drafts).factor;
          const double accepted = plan.served * (1 - rows.residual_mass(plan.factor)) / plan.factor;
          EXPECT_NEAR(accepted, 1 - rows.residual_mass(root), CommonFactorSearch::tolerance)
              << "seed " << seed << " sharpness " << sharpness << " closeness " << closeness << " K " << drafts;
        }
  EXPECT_LE(most, 40u);
  EXPECT_LE(2 * all, 9 * cases) << "the models say where to look: 3.9 passes on average";
}

TEST(CommonFactor, KnowsTheEnds) {
  const std::vector<float> flat(2000, 1 / 2000.f);
  std::vector<float> left(2000), right(2000);
  for (std::size_t x = 0; x < 1000; ++x) left[x] = right[1999 - x] = 1e-3f;
  const FreshRows<float> equal(flat, std::span<const float>(flat));
  EXPECT_EQ(verifiers::KSeq{}.prepare(equal, 4).factor, 1);
  EXPECT_EQ(equal.visited(), 2000u);
  const FreshRows<float> disjoint(left, std::span<const float>(right));
  const auto plan = verifiers::KSeq{}.prepare(disjoint, 4);
  EXPECT_EQ(plan.factor, 4) << "nothing is accepted, whatever the factor";
  EXPECT_LE(disjoint.visited() / 2000, 12u);
}

}  // namespace
}  // namespace draftproof
