// Passages of ladder_block where a team comes back to nodes whose plans are gone: long paths of many drafts that stay
// together, tests that are refused at several nodes, laws that outgrow what is kept of them. Fibers are the team's
// threads; the host keeps every plan.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <random>
#include <span>
#include <vector>

#include <draftproof/gpu/tree_batch.hpp>
#include <draftproof/sim/tree_drafters/delayed_paths.hpp>
#include <draftproof/sim/tree_drafters/iid_paths.hpp>
#include <draftproof/tests/gpu/register_lockstep_passages.hpp>
#include <draftproof/verifiers/paths/ladder_block.hpp>

namespace draftproof::passage_parity {
namespace {

using verifiers::paths::LadderBlock;

constexpr std::uint64_t seed = 17;

/// What rows are like: `peak` is the spread of their logits, `noise` that of what is added to q's.
struct Kind {
  int vocabulary;
  double peak, noise;
  bool zeros = false;
};

/// Rows of p and q after each of a few contexts, p behind q as a batch has them.
class Model final : public Contexts<HostLaws> {
 public:
  static constexpr int size = 5;

  explicit Model(const Kind& kind) : vocabulary_{kind.vocabulary} {
    std::mt19937 words(static_cast<unsigned>(kind.vocabulary));
    std::normal_distribution<double> normal;
    for (int c = 0; c < size; ++c) {
      std::vector<double> p, q;
      for (int x = 0; x < vocabulary_; ++x) {
        const double logit = kind.peak * normal(words);
        p.push_back(std::exp(logit));
        q.push_back(std::exp(logit + (c == 2 ? 0 : kind.noise) * normal(words)));  // equal laws among others
        if (kind.zeros && x > 0 && words() % 6 == 0) (words() % 2 == 0 ? p : q).back() = 0;
      }
      for (const auto* row : {&p, &q}) {
        double sum = 0;
        for (const double weight : *row) sum += weight;
        for (const double weight : *row) entries_.push_back(static_cast<float>(weight / sum));
      }
    }
    for (int c = 0; c < size; ++c) laws_.emplace_back(row(2 * c), row(2 * c + 1));
  }
  const HostLaws& laws(int context) const override { return laws_[static_cast<std::size_t>(context)]; }
  int next(int context, Token x) const override { return (2 * context + x + 1) % size; }
  void show(gpu::PassageBatch<float>& batch) const {
    batch.target = entries_.data();
    batch.proposal = entries_.data() + vocabulary_;
    batch.target_stride = batch.proposal_stride = 2 * vocabulary_;
  }

 private:
  std::span<const float> row(int i) const {
    return std::span(entries_).subspan(static_cast<std::size_t>(i * vocabulary_),
                                       static_cast<std::size_t>(vocabulary_));
  }
  int vocabulary_;
  std::vector<float> entries_;
  std::vector<HostLaws> laws_;
};

struct Tally {
  int passages = 0, wrong = 0;
  int again = 0;      ///< plans that a team makes again at the least
  int from_afar = 0;  ///< of these with a law that is not kept
  int corrected = 0;  ///< passages whose correction is that of a ladder
};

/// What the host chooses and where it stops tell which plans are wanted again.
void count_again(const HostAt& at, const Passage& passage, int request, Tally& tally) {
  LadderPaths<HostLaws> plans;
  ChosenSteps<HostLaws, LadderPaths<HostLaws>> steps(at, plans);
  Philox random(seed, static_cast<std::uint64_t>(request), Philox::Role::verify);
  LadderBlock{}.choose(at, plans, steps, random);
  bool last = true;
  for (int i = steps.length() - 1; i >= at.tree().depth(passage.node); --i) {
    if (LadderPaths<HostLaws>::plain(steps.place(i))) continue;
    if (!last) {
      ++tally.again;
      const int paths = static_cast<int>(steps.place(i)->node.active().size());
      tally.from_afar += i * paths > most_kept_of_laws;
    }
    last = false;
    tally.corrected += i == at.tree().depth(passage.node);
  }
}

template <class Drafter>
void compare(const Kind& kind, const TreeShape& shape, int requests, Tally& tally) {
  const Model model(kind);
  gpu::TreeBatch trees(kind.vocabulary);
  std::vector<DraftTree> drafted;
  for (int i = 0; i < requests; ++i) {
    DraftTree tree(i % Model::size);
    Philox random(seed, static_cast<std::uint64_t>(i), Philox::Role::draft);
    Drafter{}.draw(model, shape, random, tree);
    trees.add(tree, 0);
    drafted.push_back(tree);
  }
  gpu::PassageBatch<float> batch;
  trees.show(batch);
  model.show(batch);
  batch.seed = seed;
  std::vector<Passage> passages(static_cast<std::size_t>(requests));
  batch.passages = passages.data();
  lockstep_passages<LadderBlock>(batch, trees.rows());
  for (int i = 0; i < requests; ++i) {
    const HostAt at(model, drafted[static_cast<std::size_t>(i)]);
    HostCarry none;
    const Philox random(seed, static_cast<std::uint64_t>(i), Philox::Role::verify);
    const Passage wanted = host_passage(LadderBlock{}, at, none, random);
    const Passage& found = passages[static_cast<std::size_t>(i)];
    ++tally.passages;
    count_again(at, wanted, i, tally);
    if (found.node == wanted.node && found.extra.token == wanted.extra.token) continue;
    ++tally.wrong;
    std::printf("V = %d, K = %d, L = %d, request %d: node %d, token %d; wanted node %d, token %d\n", kind.vocabulary,
                shape.drafts, shape.length, i, found.node, found.extra.token, wanted.node, wanted.extra.token);
  }
}

}  // namespace
}  // namespace draftproof::passage_parity

int main() try {
  using namespace draftproof;
  using namespace draftproof::passage_parity;
  Tally tally;
  // All nodes are planned where there are few tokens; 32 paths have 512 entries of laws at 16 nodes.
  compare<tree_drafters::IidPaths>({3, 2, 1.2}, {.drafts = 32, .length = 24}, 10, tally);
  compare<tree_drafters::IidPaths>({2, 1, 0.7}, {.drafts = 20, .length = 40}, 8, tally);
  compare<tree_drafters::IidPaths>({2, 6, 1}, {.drafts = 2, .length = 64}, 6, tally);
  // A path of low temperature stays together on long rows as well.
  for (const int vocabulary : {70, 700})
    for (const int drafts : {2, 5, 8}) {
      compare<tree_drafters::IidPaths>({vocabulary, 6, 2, drafts == 5}, {.drafts = drafts, .length = 6}, 16, tally);
      compare<tree_drafters::DelayedPaths>({vocabulary, 6, 1, drafts == 2},
                                           {.drafts = drafts, .length = 6, .branching = {}, .stem = 2}, 10, tally);
    }
  std::printf("ladder passages: %d compared, %d differ; %d plans made again, %d of them from afar, %d corrections\n",
              tally.passages, tally.wrong, tally.again, tally.from_afar, tally.corrected);
  // A comparison that never comes back to a node would prove little.
  return tally.wrong == 0 && tally.again > 100 && tally.from_afar > 20 && tally.corrected > 40 ? 0 : 1;
} catch (const std::exception& error) {
  std::printf("error: %s\n", error.what());
  return 1;
}
