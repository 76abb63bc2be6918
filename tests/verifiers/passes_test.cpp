// Counts how often decisions on fresh rows read the whole vocabulary.
#include <cmath>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include <draftproof/captures/families/generated.hpp>
#include <draftproof/properties/scripted/scripted_trials.hpp>
#include <draftproof/sim/distributions/ratio_table.hpp>
#include <draftproof/sim/distributions/streamed_rows.hpp>
#include <draftproof/sim/drafters/fixed.hpp>
#include <draftproof/sim/drafters/sampled.hpp>
#include <draftproof/sim/drafters/shared_noise.hpp>
#include <draftproof/sim/drafters/trees/paths.hpp>
#include <draftproof/sim/random/philox.hpp>
#include <draftproof/tests/support/example_rows.hpp>
#include <draftproof/verifiers/gls.hpp>
#include <draftproof/verifiers/greedy_drafts.hpp>
#include <draftproof/verifiers/gumbel_coupling.hpp>
#include <draftproof/verifiers/gumbel_top_k_coupling.hpp>
#include <draftproof/verifiers/k_seq.hpp>
#include <draftproof/verifiers/ladder.hpp>
#include <draftproof/verifiers/ladder_independent.hpp>
#include <draftproof/verifiers/naive_tree.hpp>
#include <draftproof/verifiers/paths/block.hpp>
#include <draftproof/verifiers/paths/greedy_block.hpp>
#include <draftproof/verifiers/paths/greedy_multipath_block.hpp>
#include <draftproof/verifiers/paths/layerwise_rejection.hpp>
#include <draftproof/verifiers/paths/token_path.hpp>
#include <draftproof/verifiers/paths/traversal.hpp>
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

/// Fresh rows that also count reads of single entries outside passes, such as by a plan's loops over the vocabulary.
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
  mutable std::uint64_t reads_ = 0;  ///< number of entries read; p and q of a token count as two
  mutable bool in_pass_ = false;
};

/// A source that counts its refused flips and its draws.
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

/// V is a multiple of a block, so that the part of a pass that a draw reads again (one block) is distinguishable from
/// complete passes.
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

/// Returns the expected passes of a decision, given its refused flips, its final draws and K. A negative result means
/// that nothing is checked.
using Expected = std::function<int(int refused, int drawn, int drafts)>;

/// Returns a bound of the extra passes of a scan for the first `most` tokens of an order, with `reads` entries per
/// token. The scan reads a strip token by token if the strip has a token that enters the first `most`. On average over
/// orders this happens most (1 + ln(V / most)) times; the bound is twice as large.
double scan_slack(int most, int reads) {
  return 2 * most * (1 + std::log(fresh_vocabulary / most)) * static_cast<double>(simd::strip) * reads /
         fresh_vocabulary;
}

template <class V, class D>
void expect_passes(int drafts, int proposals, const Expected& expected, double slack) {
  const FreshCase distributions(20 + static_cast<std::uint64_t>(drafts), proposals);
  int refusals = 0;
  for (std::uint64_t trial = 0; trial < 24; ++trial) {
    const ReadRows drafting = distributions.rows();
    Philox drafter(3, trial, Philox::Role::draft);
    Token tokens[max_drafts];
    const int count = D{}.draw(drafting, drafts, drafter, tokens);
    const ReadRows rows = distributions.rows();
    Counted random(3, trial, Philox::Role::verify);
    const V verifier{};
    const auto plan = prepare(verifier, rows, drafts);
    const Verdict verdict = verify(verifier, DraftedPosition<ReadRows>(rows, tokens, count), plan, random);
    EXPECT_GE(verdict.token, 0);
    refusals += random.refused;
    // A draw reads one block again. Look-ups and scans read far fewer tokens than a block has.
    const int whole = expected(random.refused, random.drawn, drafts);
    const double most = whole + (random.drawn + 1) * 1024.0 / fresh_vocabulary + slack;
    if (whole < 0) continue;
    EXPECT_GE(rows.passes(), whole) << V::info.name << " " << drafts << " trial " << trial;
    EXPECT_LE(rows.passes(), most) << V::info.name << " " << drafts << " trial " << trial;
  }
  const bool tests_drafts = !V::info.shared_noise && V::info.name != verifiers::SampleAndMatch::info.name;
  EXPECT_EQ(refusals > 0, tests_drafts) << V::info.name;  // otherwise the test covers only acceptances
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
  // Each proposal is read for the mean, for the masses of buckets and for the distribution; p is read for the mean. The
  // draw is one pass. The check whether a residual is left ends at the first token above p_I.
  const Expected ladder = [](int, int drawn, int drafts) { return 1 + 3 * drafts + drawn; };
  expect_passes<verifiers::LadderIndependent, drafters::Independent>(ladder, {1, 2, 4}, true, 0.1);
  // The plan of TruncatedAlphabet takes one pass more, strip by strip, to find its tokens.
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

// Tests of the passes of ladders and of K-SEQ. K-SEQ finds its factor in few passes; the factor is valid, and its
// acceptance is as high as with the exact root.

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

// If p = q, the ladder reads every token to find that the residual is empty.
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
      // The plan on a table computes the root to its last bit, by bisection on the same pair of rows.
      const RatioTable table(std::vector<double>(pair.target.begin(), pair.target.end()),
                             std::vector<double>(pair.proposal.begin(), pair.proposal.end()));
      const double root = verifiers::KSeq{}.prepare(table, drafts).factor;
      EXPECT_NEAR(plan.factor, root, 1e-6 * root) << "V " << vocabulary << " K " << drafts;
    }
}

// Tests rows of many kinds: with one token that has most of the mass, flat rows, and proposals near the target and far
// from it. Losslessness requires gamma <= rho (plan.served <= plan.factor) in the numbers that a decision uses.
// Acceptance may be below the acceptance at the root, 1 - F(rho*), by the search's tolerance; truncation, below V 2^-60
// per sum, is negligible.
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

// Tests how many passes a step takes, on a path on which every draft is refused, and on trees.

constexpr std::uint64_t row_size = 5000, row_block = FreshRows<float>::block;

/// A model with the same pair of rows after every prefix, and a FreshRows object for each context.
class FreshContexts final : public ConditionalModel<FreshRows<float>> {
 public:
  explicit FreshContexts(int conditionals) : target_{row(1)}, proposal_{row(2)} {
    for (int c = 0; c < conditionals; ++c) distributions_.emplace_back(target_, std::span<const float>(proposal_));
  }
  const FreshRows<float>& distributions(int context) const override {
    return distributions_[static_cast<std::size_t>(context)];
  }
  int next(int context, Token x) const override {
    return (5 * context + x + 1) % static_cast<int>(distributions_.size());
  }

  std::uint64_t visited() const {
    std::uint64_t sum = 0;
    for (const auto& distributions : distributions_) sum += distributions.visited();
    return sum;
  }
  /// Returns the token with the least p / q.
  Token least() const {
    Token best = 0;
    const auto ratio = [this](Token x) { return distributions(0).target(x) / distributions(0).proposal(x); };
    for (Token x = 1; x < distributions(0).vocabulary(); ++x)
      if (ratio(x) < ratio(best)) best = x;
    return best;
  }

 private:
  static std::vector<float> row(std::uint64_t seed) {
    std::vector<float> made(row_size);
    for (std::size_t x = 0; x < made.size(); ++x)
      made[x] = static_cast<float>((examples::uniform(seed, x) + 0.01) / (0.51 * static_cast<double>(row_size)));
    return made;
  }

  std::vector<float> target_, proposal_;
  std::vector<FreshRows<float>> distributions_;
};

/// A source that refuses every flip, and draws with the random numbers of a trial.
struct RefusingSource {
  Philox words;
  bool flip(double, double) const { return false; }
  Token pick(const auto& weights) { return words.pick(weights); }
  Verdict emit(const auto& weights) { return words.emit(weights); }
};

/// Returns the number of tokens that one iteration reads when it refuses all drafts of a path that repeats the token
/// with the least p / q.
template <class V>
std::uint64_t visited_by_refusal(int length) {
  const FreshContexts conditionals(40);
  DraftTree path(0);
  for (int depth = 0, u = DraftTree::root; depth < length; ++depth) u = path.draw(u, conditionals.least(), depth + 1);
  RefusingSource random{Philox(1, 1, Philox::Role::verify)};
  const DraftedTree<FreshRows<float>> at(conditionals, path);
  StepOutput step;
  if constexpr (requires { V{}.verify(at, VerifierState<double>{}, random); })
    step = V{}.verify(at, VerifierState<double>{}, random);
  else
    step = V{}.verify(at, random);
  EXPECT_EQ(step.node, DraftTree::root) << V::info.name;
  EXPECT_GE(step.extra.token, 0) << V::info.name;
  return conditionals.visited();
}

TEST(StepPasses, ARefusedPathCostsOneAPositionAndOneBlock) {
  using namespace verifiers::paths;
  for (const int length : {1, 2, 8, 20}) {
    // The row at the end of the path is not read, and the root's row only by the draw.
    const std::uint64_t passes = row_size * static_cast<std::uint64_t>(length);
    for (const std::uint64_t visited :
         {visited_by_refusal<Block>(length), visited_by_refusal<GreedyBlock>(length),
          visited_by_refusal<GreedyMultipathBlock>(length), visited_by_refusal<Traversal>(length),
          visited_by_refusal<LayerwiseRejection>(length)}) {
      EXPECT_GT(visited, passes) << length;
      EXPECT_LE(visited, passes + row_block) << length;
    }
    EXPECT_LE(visited_by_refusal<TokenPath>(length), row_size + row_block);
  }
}

TEST(StepPasses, ATreeCostsAtMostOneADraftAndADraw) {
  for (std::uint64_t trial = 0; trial < 40; ++trial) {
    const TreeShape shape{.drafts = 3, .length = 4};
    DraftTree tree(0);
    const auto expect_at_most = [&](const auto& verifier, auto passes) {
      const FreshContexts conditionals(400);
      tree.clear(0);
      Philox drafter(2, trial, Philox::Role::draft), random(2, trial, Philox::Role::verify);
      tree_drafters::IidPaths{}.draw(conditionals, shape, drafter, tree);
      const std::uint64_t before = conditionals.visited();
      verifier.verify(DraftedTree<FreshRows<float>>(conditionals, tree), random);
      EXPECT_LE(conditionals.visited() - before, row_size * passes() + row_block)
          << verifier.info.name << " trial " << trial;
    };
    // Each draft costs one pass, and the final draw costs one pass.
    const auto nodes = [&tree] { return static_cast<std::uint64_t>(tree.size()); };
    const auto drafts = [&shape] { return static_cast<std::uint64_t>(shape.drafts * shape.length + 1); };
    expect_at_most(verifiers::paths::Traversal{}, nodes);
    expect_at_most(verifiers::paths::LayerwiseRejection{}, drafts);
  }
}

}  // namespace
}  // namespace draftproof
