// The passes of an iteration at fresh rows over the vocabulary, as counts, on a path that is refused to its root and
// on trees, against the numbers in the headers.
#include <gtest/gtest.h>

#include <draftproof/sim/distributions/streamed_rows.hpp>
#include <draftproof/sim/drafters/trees/paths.hpp>
#include <draftproof/sim/random/philox.hpp>
#include <draftproof/tests/support/example_rows.hpp>
#include <draftproof/verifiers/paths/block.hpp>
#include <draftproof/verifiers/paths/greedy_block.hpp>
#include <draftproof/verifiers/paths/greedy_multipath_block.hpp>
#include <draftproof/verifiers/paths/layerwise_rejection.hpp>
#include <draftproof/verifiers/paths/token_path.hpp>
#include <draftproof/verifiers/paths/traversal.hpp>

namespace draftproof {
namespace {

constexpr std::uint64_t row_size = 5000, row_block = FreshRows<float>::block;

/// One pair of rows after every prefix, with one object per context.
class FreshContexts final : public ConditionalModel<FreshRows<float>> {
 public:
  explicit FreshContexts(int conditionals) : target_{row(1)}, proposal_{row(2)} {
    for (int c = 0; c < conditionals; ++c) laws_.emplace_back(target_, std::span<const float>(proposal_));
  }
  const FreshRows<float>& laws(int context) const override { return laws_[static_cast<std::size_t>(context)]; }
  int next(int context, Token x) const override { return (5 * context + x + 1) % static_cast<int>(laws_.size()); }

  std::uint64_t visited() const {
    std::uint64_t sum = 0;
    for (const auto& laws : laws_) sum += laws.visited();
    return sum;
  }
  /// The token of the least p / q.
  Token least() const {
    Token best = 0;
    const auto ratio = [this](Token x) { return laws(0).target(x) / laws(0).proposal(x); };
    for (Token x = 1; x < laws(0).vocabulary(); ++x)
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
  std::vector<FreshRows<float>> laws_;
};

/// Refuses every flip and draws with the words of a trial.
struct RefusingSource {
  Philox words;
  bool flip(double, double) const { return false; }
  Token pick(const auto& weights) { return words.pick(weights); }
  Verdict emit(const auto& weights) { return words.emit(weights); }
};

/// Number of tokens read in an iteration that refuses a path of the token of least p / q.
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
    // The end of the path has no test of this kind; the root has only the draw.
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
    const auto nodes = [&tree] { return static_cast<std::uint64_t>(tree.size()); };  // all but the root; a draw
    const auto drafts = [&shape] { return static_cast<std::uint64_t>(shape.drafts * shape.length + 1); };
    expect_at_most(verifiers::paths::Traversal{}, nodes);
    expect_at_most(verifiers::paths::LayerwiseRejection{}, drafts);
  }
}

}  // namespace
}  // namespace draftproof
