// Schemes with a plan for several proposals, and those that test drafts in turn, on rows at the ends of double: zeros,
// powers of 2 down to the least, one large token among least ones, rows that do not sum to 1 exactly, q = p. Coins are
// the ends of the unit interval or anything.
#include <cmath>
#include <cstdint>
#include <random>

#include <gtest/gtest.h>

#include <draftproof/sim/distributions/plain_rows.hpp>
#include <draftproof/sim/random/tape.hpp>
#include <draftproof/verifiers/k_seq.hpp>
#include <draftproof/verifiers/ladder_independent.hpp>
#include <draftproof/verifiers/naive_tree.hpp>
#include <draftproof/verifiers/recursive_rejection.hpp>
#include <draftproof/verifiers/recursive_rejection_independent.hpp>
#include <draftproof/verifiers/recursive_rejection_random_order.hpp>
#include <draftproof/verifiers/single_draft.hpp>
#include <draftproof/verifiers/tournament.hpp>
#include <draftproof/verifiers/truncated_alphabet.hpp>
#include <draftproof/verifiers/truncated_lp.hpp>

namespace draftproof {
namespace {

using Dice = std::mt19937_64;

std::vector<double> extreme_row(Dice& dice, int vocabulary) {
  constexpr double least = 0x1p-1074;
  std::vector<double> row;
  const auto kind = dice() % 4;
  double sum = 0;
  for (int x = 0; x < vocabulary; ++x) {
    row.push_back(kind == 0   ? static_cast<double>(dice() % 4)
                  : kind == 1 ? std::exp2(-static_cast<double>(dice() % 1074))
                  : kind == 2 ? (dice() % 8 == 0 ? 1.0 : least)
                              : static_cast<double>(dice() >> 11));
    sum += row.back();
  }
  row[dice() % row.size()] += 1;  // a law has a token that is not small
  sum += 1;
  for (double& entry : row)
    if (entry > least) entry /= sum;
  return row;
}

/// Words of which a third is at an end of the unit interval.
struct ExtremeWords {
  Dice* dice;
  std::uint64_t next(Purpose) {
    const auto side = (*dice)() % 6;
    return side == 0 ? 0 : side == 1 ? ~std::uint64_t{0} : (*dice)();
  }
  static NoiseBlock noise(std::uint32_t, std::uint32_t) { return {}; }
};

template <class V>
class OnExtremeRows : public testing::Test {};
using Schemes = testing::Types<verifiers::LadderIndependent, verifiers::Tournament, verifiers::TruncatedAlphabet,
                               verifiers::TruncatedLp, verifiers::SingleDraft, verifiers::NaiveTree, verifiers::KSeq,
                               verifiers::RecursiveRejection, verifiers::RecursiveRejectionIndependent,
                               verifiers::RecursiveRejectionRandomOrder>;
TYPED_TEST_SUITE(OnExtremeRows, Schemes);

TYPED_TEST(OnExtremeRows, EveryTokenHasTargetProbability) {
  Dice dice(5);
  const TypeParam verifier;
  const bool several = TypeParam::info.drafts.lists("independent");
  int decided = 0;
  for (int n = 0; n < 300; ++n) {
    const int most = TypeParam::info.most_drafts > 0 ? TypeParam::info.most_drafts : 6;
    const int drafts = 1 + static_cast<int>(dice() % static_cast<std::uint64_t>(most)),
              vocabulary = 1 + static_cast<int>(dice() % 40);
    const auto p = extreme_row(dice, vocabulary);
    std::vector<std::vector<double>> q;
    for (int k = 0; k < (several ? drafts : 1); ++k) q.push_back(dice() % 6 == 0 ? p : extreme_row(dice, vocabulary));
    const Rows<double> laws(p, q);
    const auto plan = prepare(verifier, laws, drafts);
    for (int trial = 0; trial < 10; ++trial) {
      Token tuple[max_drafts];
      for (int k = 0; k < drafts; ++k) do
          tuple[k] = static_cast<Token>(dice() % static_cast<std::uint64_t>(vocabulary));
        while (!(laws.proposal(tuple[k], several ? k : 0) > 0));
      Recorder<ExtremeWords> random{ExtremeWords{&dice}};
      const Verdict verdict = verify(verifier, DraftedPosition<Rows<double>>(laws, tuple, drafts), plan, random);
      ASSERT_TRUE(verdict.token >= 0 && verdict.token < vocabulary) << verdict.token;
      ASSERT_GT(laws.target(verdict.token), 0) << "instance " << n << ", trial " << trial;
      if (verdict.accepted >= 0) {
        ASSERT_EQ(tuple[verdict.accepted], verdict.token);
      }
      ++decided;
    }
  }
  EXPECT_EQ(decided, 3000);
}

}  // namespace
}  // namespace draftproof
