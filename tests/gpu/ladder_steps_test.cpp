// Compares the path that ladder_block chooses on a team of fibers with the host's path, bit for bit: every
// distribution, excess and correction along the path. The team returns to nodes whose plans it has discarded; the host
// keeps all plans. The paths are long, many drafted paths agree for several tokens, and the distributions of all nodes
// exceed the cache.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <random>
#include <span>
#include <stdexcept>
#include <vector>

#include <draftproof/gpu/tree_batch.hpp>
#include <draftproof/sim/drafters/trees/paths.hpp>
#include <draftproof/tests/support/gpu/outcome.hpp>
#include <draftproof/tests/support/gpu/register_lockstep_steps.hpp>
#include <draftproof/verifiers/paths/ladder_block.hpp>

namespace draftproof::step_parity {
namespace {

using verifiers::paths::LadderBlock;

constexpr std::uint64_t seed = 17;

/// The kind of rows: `peak` is the spread of their logits, `noise` is the spread of the noise in the logits of q.
struct Kind {
  int vocabulary;
  double peak, noise;
  bool zeros = false;
};

/// Rows of p and q for a few contexts; each p is followed by its q as in a batch.
class Model final : public ConditionalModel<HostDistributions> {
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
        q.push_back(std::exp(logit + (c == 2 ? 0 : kind.noise) * normal(words)));  // context 2 has p = q
        if (kind.zeros && x > 0 && words() % 6 == 0) (words() % 2 == 0 ? p : q).back() = 0;
      }
      for (const auto* row : {&p, &q}) {
        double sum = 0;
        for (const double weight : *row) sum += weight;
        for (const double weight : *row) entries_.push_back(static_cast<float>(weight / sum));
      }
    }
    for (int c = 0; c < size; ++c) distributions_.emplace_back(row(2 * c), row(2 * c + 1));
  }
  const HostDistributions& distributions(int context) const override {
    return distributions_[static_cast<std::size_t>(context)];
  }
  int next(int context, Token x) const override { return (2 * context + x + 1) % size; }
  void show(gpu::StepBatch<float>& batch) const {
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
  std::vector<HostDistributions> distributions_;
};

struct Tally {
  int steps = 0, wrong = 0;
  int again = 0;      ///< nodes with a plan that are visited again, without the last node
  int from_afar = 0;  ///< number of `again` that have no cached distribution
  int corrected = 0;  ///< steps with a correction by a ladder
};

/// Returns every number that block verification may read along the chosen path, from its last node up and then from
/// the root down, and the step's output.
template <class L>
std::vector<double> outcome(const DraftedTree<L>& at, int request) {
  LadderBlock::Plans<L> plans;
  ChosenSteps<L, LadderBlock::Plans<L>> steps(at, plans);
  Philox random(seed, static_cast<std::uint64_t>(request), Philox::Role::verify);
  LadderBlock{}.choose(at, plans, steps, random);
  std::vector<double> numbers;
  const auto look = [&](int i, double c) {
    numbers.push_back(steps.excess(i, c));
    numbers.push_back(steps.correction(i, c).draw(0x9E3779B97F4A7C15 * static_cast<std::uint64_t>(request + 1)));
  };
  for (int i = steps.length(); i-- > 0;) {
    numbers.push_back(steps.proposal(i));
    look(i, 1);
  }
  for (int i = 0; i < steps.length(); i += 2) {
    numbers.push_back(steps.correction(i, 0.5).draw(0));  // untested
    look(i, 0.75);
  }
  const StepOutput step = verify_block(steps, random);
  numbers.push_back(step.node);
  numbers.push_back(step.extra.token);
  return numbers;
}

std::vector<double> outcome_of_team(const gpu::StepBatch<float>& batch, int request) {
  using Rows = gpu::TreeRows<float, parity::HostThread>;
  parity::HostTeam team(team_shapes[static_cast<std::size_t>(request) % team_shapes.size()]);
  team.give_memory(gpu::plan_bytes<LadderBlock>);
  std::vector<std::vector<double>> found(static_cast<std::size_t>(team.shape().threads()));
  team.run([&](const parity::HostThread& thread) {
    const Rows rows(batch, request, thread);
    using L = gpu::NodeDistributions<float, parity::HostThread>;
    found[static_cast<std::size_t>(thread.index())] = outcome<L>(DraftedTree<L>(rows, batch.tree(request)), request);
  });
  for (const auto& numbers : found)
    if (numbers != found.front()) throw std::logic_error("ladder steps: the threads of a team disagree");
  return found.front();
}

/// Counts the host's plans along the path, up to the node where the path stops.
void count(const HostAt& at, const std::vector<double>& wanted, int request, Tally& tally) {
  LadderPaths<HostDistributions> plans;
  ChosenSteps<HostDistributions, LadderPaths<HostDistributions>> steps(at, plans);
  Philox random(seed, static_cast<std::uint64_t>(request), Philox::Role::verify);
  LadderBlock{}.choose(at, plans, steps, random);
  const int stops = at.tree().depth(static_cast<int>(wanted[wanted.size() - 2]));
  bool last = true;
  for (int i = steps.length(); i-- > 0;) {
    if (LadderPaths<HostDistributions>::plain(steps.place(i))) continue;
    tally.again += !last;
    tally.from_afar +=
        !last && i * static_cast<int>(steps.place(i)->node.active().size()) > most_kept_of_distributions;
    tally.corrected += i == stops;
    last = false;
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
  gpu::StepBatch<float> batch;
  trees.show(batch);
  model.show(batch);
  for (int i = 0; i < requests; ++i) {
    const HostAt at(model, drafted[static_cast<std::size_t>(i)]);
    const std::vector<double> wanted = outcome(at, i), found = outcome_of_team(batch, i);
    ++tally.steps;
    count(at, wanted, i, tally);
    if (found == wanted) continue;
    ++tally.wrong;
    const auto first = std::ranges::mismatch(found, wanted).in1 - found.begin();
    std::printf("V = %d, K = %d, L = %d, request %d: number %d of %d differs\n", kind.vocabulary, shape.drafts,
                shape.length, i, static_cast<int>(first), static_cast<int>(wanted.size()));
  }
}

}  // namespace
}  // namespace draftproof::step_parity

int main() {
  return draftproof::parity::outcome([] {
    using namespace draftproof;
    using namespace draftproof::step_parity;
    Tally tally;
    // With few tokens all nodes are planned. 32 paths have 512 entries of distributions at 16 nodes.
    compare<tree_drafters::IidPaths>({3, 2, 1.2}, {.drafts = 32, .length = 24}, 5, tally);
    compare<tree_drafters::IidPaths>({2, 1, 0.7}, {.drafts = 20, .length = 40}, 4, tally);
    compare<tree_drafters::IidPaths>({2, 6, 1}, {.drafts = 2, .length = 64}, 3, tally);
    // With peaked rows the paths agree for several tokens even in large vocabularies.
    for (const int vocabulary : {70, 700})
      for (const int drafts : {2, 5, 8}) {
        compare<tree_drafters::IidPaths>({vocabulary, 6, 2, drafts == 5}, {.drafts = drafts, .length = 6}, 5, tally);
        compare<tree_drafters::DelayedPaths>({vocabulary, 6, 1, drafts == 2},
                                             {.drafts = drafts, .length = 6, .branching = {}, .stem = 2}, 4, tally);
      }
    std::printf("ladder steps: %d compared, %d differ; %d nodes come back to, %d of them from afar, %d corrections\n",
                tally.steps, tally.wrong, tally.again, tally.from_afar, tally.corrected);
    // The test fails if steps returned to too few nodes.
    return tally.wrong == 0 && tally.again > 100 && tally.from_afar > 20 && tally.corrected > 15 ? 0 : 1;
  });
}
