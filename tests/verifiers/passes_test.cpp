// The passes of a decision at fresh rows over the vocabulary, as counts, against the numbers that the scheme's header
// states for its refusals and draws.
#include <cmath>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include <draftproof/sim/distributions/streamed_rows.hpp>
#include <draftproof/sim/drafters/fixed.hpp>
#include <draftproof/sim/drafters/sampled.hpp>
#include <draftproof/sim/drafters/shared_noise.hpp>
#include <draftproof/sim/random/philox.hpp>
#include <draftproof/tests/support/example_rows.hpp>
#include <draftproof/verifiers/gls.hpp>
#include <draftproof/verifiers/greedy_drafts.hpp>
#include <draftproof/verifiers/gumbel_coupling.hpp>
#include <draftproof/verifiers/gumbel_top_k_coupling.hpp>
#include <draftproof/verifiers/ladder_independent.hpp>
#include <draftproof/verifiers/naive_tree.hpp>
#include <draftproof/verifiers/recursive_rejection.hpp>
#include <draftproof/verifiers/recursive_rejection_distinct.hpp>
#include <draftproof/verifiers/recursive_rejection_independent.hpp>
#include <draftproof/verifiers/recursive_rejection_random_order.hpp>
#include <draftproof/verifiers/recursive_rejection_wor.hpp>
#include <draftproof/verifiers/sample_and_match.hpp>
#include <draftproof/verifiers/single_draft.hpp>
#include <draftproof/verifiers/spec_hub.hpp>
#include <draftproof/verifiers/tail_draw.hpp>
#include <draftproof/verifiers/truncated_alphabet.hpp>
#include <draftproof/verifiers/truncated_lp.hpp>

namespace draftproof {
namespace {

/// Fresh rows that also count reads outside passes, token by token: loops over the vocabulary in a plan.
class ReadRows : public FreshRows<float> {
 public:
  using FreshRows<float>::FreshRows;

  double target(Token x) const {
    reads_ += !in_pass_;
    return FreshRows<float>::target(x);
  }
  double proposal(Token x, int k = 0) const {
    reads_ += !in_pass_;
    return FreshRows<float>::proposal(x, k);
  }
  template <class F>
  auto sum(F f) const {
    in_pass_ = true;
    const auto total = FreshRows<float>::sum(f);
    in_pass_ = false;
    return total;
  }
  template <class F>
  struct Drawn {
    const ReadRows& rows;
    decltype(std::declval<const FreshRows<float>&>().weights(std::declval<F>())) weights;
    Token draw(std::uint64_t word) const {
      rows.in_pass_ = true;
      const Token x = weights.draw(word);
      rows.in_pass_ = false;
      return x;
    }
    template <class Visit>
    void for_each(Visit visit) const {
      weights.for_each(visit);
    }
  };
  template <class F>
  auto weights(F f) const {
    return Drawn<F>{*this, FreshRows<float>::weights(f)};
  }
  template <class F>
  auto alias_weights(F f) const {
    return weights(f);
  }

  double passes() const { return static_cast<double>(visited() + reads_) / vocabulary(); }

 private:
  mutable std::uint64_t reads_ = 0;  ///< entries; reading p and q of every token counts twice
  mutable bool in_pass_ = false;
};

/// A source that counts the outcomes of its flips and draws.
class Counted : public Philox {
 public:
  using Philox::Philox;
  int refused = 0, drawn = 0;

  template <class Scalar>
  bool flip(Scalar num, Scalar den) {
    const bool accepted = Philox::flip(num, den);
    refused += !accepted;
    return accepted;
  }
  template <class W>
  Verdict emit(const W& weights) {
    ++drawn;
    return Philox::emit(weights);
  }
};

/// V is a multiple of a block, so that blocks read again by a draw are distinguishable from complete passes.
constexpr int fresh_vocabulary = 32 * 1024;

struct FreshCase {
  std::vector<float> target;
  std::vector<std::vector<float>> proposals;

  explicit FreshCase(std::uint64_t seed, int count) : target{row(seed)} {
    for (int k = 0; k < count; ++k) proposals.push_back(row(seed + 1 + static_cast<std::uint64_t>(k)));
  }
  ReadRows rows() const {
    std::vector<std::span<const float>> views(proposals.begin(), proposals.end());
    return ReadRows(target, std::move(views));
  }

 private:
  static std::vector<float> row(std::uint64_t seed) {
    std::vector<float> made(fresh_vocabulary);
    double total = 0;
    for (std::size_t x = 0; x < made.size(); ++x) {
      const double u = examples::uniform(seed, x);
      total += made[x] = static_cast<float>(u * u * u);
    }
    for (float& weight : made) weight /= static_cast<float>(total);
    return made;
  }
};

/// The passes of a decision with so many refused flips and final draws, on K drafts; negative: not stated.
using Expected = std::function<int(int refused, int drawn, int drafts)>;

/// Passes in addition for a scan for the first `most` tokens of an order, with `reads` entries per token: a strip is
/// read token by token if it holds a new one, most (1 + ln(V / most)) times on average over orders; twice that is the
/// bound here.
double scan_slack(int most, int reads) {
  return 2 * most * (1 + std::log(fresh_vocabulary / most)) * static_cast<double>(simd::strip) * reads /
         fresh_vocabulary;
}

template <class V, class D>
void expect_passes(int drafts, int proposals, const Expected& expected, double slack) {
  const FreshCase laws(20 + static_cast<std::uint64_t>(drafts), proposals);
  int refusals = 0;
  for (std::uint64_t trial = 0; trial < 24; ++trial) {
    const ReadRows drafting = laws.rows();
    Philox drafter(3, trial, Philox::Role::draft);
    Token tokens[max_drafts];
    const int count = D{}.draw(drafting, drafts, drafter, tokens);
    const ReadRows rows = laws.rows();
    Counted random(3, trial, Philox::Role::verify);
    const V verifier{};
    const auto plan = prepare(verifier, rows, drafts);
    const Verdict verdict = verify(verifier, DraftedPosition<ReadRows>(rows, tokens, count), plan, random);
    EXPECT_GE(verdict.token, 0);
    refusals += random.refused;
    // A draw reads one block again. Single tokens of look-ups and scans are far fewer than a block.
    const int whole = expected(random.refused, random.drawn, drafts);
    const double most = whole + (random.drawn + 1) * 1024.0 / fresh_vocabulary + slack;
    if (whole < 0) continue;
    EXPECT_GE(rows.passes(), whole) << V::info.name << " " << drafts << " trial " << trial;
    EXPECT_LE(rows.passes(), most) << V::info.name << " " << drafts << " trial " << trial;
  }
  const bool tests_drafts = !V::info.shared_noise && V::info.name != verifiers::SampleAndMatch::info.name;
  EXPECT_EQ(refusals > 0, tests_drafts) << V::info.name;  // otherwise the test covers acceptances only
}

template <class V, class D>
void expect_passes(const Expected& expected, std::initializer_list<int> counts = {1, 2, 4}, bool several = false,
                   double slack = 0) {
  for (const int drafts : counts) expect_passes<V, D>(drafts, several ? drafts : 1, expected, slack);
}

int a_draw(int, int drawn, int) { return drawn; }
int a_refusal(int refused, int, int) { return refused; }
int a_refusal_and_a_draw(int refused, int drawn, int) { return refused + drawn; }

TEST(Passes, AnAcceptedDraftCostsNoneAndADrawOne) {
  expect_passes<verifiers::SingleDraft, drafters::Iid>(a_draw, {1});
  expect_passes<verifiers::NaiveTree, drafters::Iid>(a_draw);
  expect_passes<verifiers::SampleAndMatch, drafters::Iid>(a_draw);
}

TEST(Passes, ARefusalCostsOneAndTheDrawAfterTheLastNone) {
  expect_passes<verifiers::RecursiveRejection, drafters::Iid>(a_refusal);
  expect_passes<verifiers::RecursiveRejectionDistinct, drafters::Iid>(a_refusal);
  expect_passes<verifiers::RecursiveRejectionWor, drafters::WithoutReplacement>(a_refusal);
}

TEST(Passes, OfDifferentProposalsTheDrawCostsOneToo) {
  expect_passes<verifiers::RecursiveRejectionIndependent, drafters::Independent>(a_refusal_and_a_draw, {1, 2, 4, 6},
                                                                                 true);
  expect_passes<verifiers::RecursiveRejectionRandomOrder, drafters::Independent>(a_refusal_and_a_draw, {1, 2, 4, 6},
                                                                                 true);
}

TEST(Passes, OneForTheFixedTokensHoweverMany) {
  expect_passes<verifiers::GreedyDrafts, drafters::Greedy>(
      [](int, int drawn, int drafts) { return (drafts > 1) + drawn; }, {1, 2, 4, 8});
  expect_passes<verifiers::TailDraw, drafters::TailDraw>([](int, int drawn, int) { return 1 + drawn; }, {2, 4});
  expect_passes<verifiers::SpecHub, drafters::Hub>([](int, int drawn, int) { return 4 + drawn; }, {2});
}

TEST(Passes, SelectionsByGroupsReadEveryProposalThreeTimes) {
  // For the mean, the masses of buckets and the law; p for the mean. Then the draw, which is one, and whether a residual
  // is left, which is known after the first token above p_I.
  const Expected ladder = [](int, int drawn, int drafts) { return 1 + 3 * drafts + drawn; };
  expect_passes<verifiers::LadderIndependent, drafters::Independent>(ladder, {1, 2, 4}, true, 0.1);
  // One more for the alphabet, strip by strip.
  const Expected alphabet = [](int, int drawn, int drafts) { return 1 + 3 * drafts + 1 + drawn; };
  expect_passes<verifiers::TruncatedAlphabet, drafters::Independent>(alphabet, {1, 2, 4}, true, scan_slack(40, 2));
  const Expected pairs = [](int, int drawn, int) { return 1 + 3 + 1 + drawn; };
  expect_passes<verifiers::TruncatedLp, drafters::Iid>(pairs, {2, 4}, false, scan_slack(10, 2));
}

TEST(Passes, RacesReadTheTargetOnceAStream) {
  expect_passes<verifiers::GumbelCoupling, drafters::GumbelIid>([](int, int, int) { return 1; }, {1});
  expect_passes<verifiers::GumbelTopKCoupling, drafters::GumbelTopK>([](int, int, int) { return 1; }, {1, 4});
  expect_passes<verifiers::Gls, drafters::GumbelIid>([](int, int, int drafts) { return drafts; }, {1, 4}, false,
                                                     4 * scan_slack(1, 2));
}

}  // namespace
}  // namespace draftproof
