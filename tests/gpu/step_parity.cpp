#include <draftproof/tests/support/gpu/step_parity.hpp>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <string>
#include <utility>

#include <draftproof/gpu/tree_batch.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/tests/support/gpu/parity_rows.hpp>

namespace draftproof::step_parity {
namespace {

constexpr std::uint64_t seed = 20261122;

std::vector<Scheme>& schemes() {
  static std::vector<Scheme> all;
  return all;
}
std::vector<TreeSampling>& distributions() {
  static std::vector<TreeSampling> all;
  return all;
}

/// A model of few contexts, so that nodes share rows and a path visits all shapes of rows.
class Model final : public ConditionalModel<HostDistributions> {
 public:
  static constexpr int size = 13;

  Model(int vocabulary, std::uint64_t trial) : rows_{vocabulary, 1, size, trial} {
    for (int c = 0; c < size; ++c) distributions_.push_back(rows_.host(c));
  }
  const HostDistributions& distributions(int context) const override {
    return distributions_[static_cast<std::size_t>(context)];
  }
  int next(int context, Token x) const override { return (5 * context + 3 * x + 1) % size; }

 private:
  parity::ParityRows rows_;
  std::vector<HostDistributions> distributions_;
};

/// The requests of one batch and the host's results. State is carried from one iteration to the next.
class Requests {
 public:
  Requests(const Scheme& scheme, const TreeSampling& distribution, int vocabulary, int count, std::uint64_t trial)
      : scheme_{scheme},
        distribution_{distribution},
        model_{vocabulary, trial},
        vocabulary_{vocabulary},
        conditionals_(static_cast<std::size_t>(count), 0),
        host_carries_(static_cast<std::size_t>(count)),
        carries_(static_cast<std::size_t>(count)) {
    for (std::size_t i = 0; i < conditionals_.size(); ++i) conditionals_[i] = static_cast<int>(i) % Model::size;
  }

  /// Runs one iteration of all requests and returns the number of mismatches.
  int iterate(std::uint64_t trial) {
    gpu::TreeBatch trees(vocabulary_);
    rows_.clear();
    for (int c = 0; c < Model::size; ++c) add_row(c, true);
    std::vector<DraftTree> drafted;
    for (std::size_t i = 0; i < conditionals_.size(); ++i) {
      drafted.push_back(draw(i, trial));
      // In half of the requests rows are indexed by context; in the other half there is one row per drafted token, as
      // in an engine.
      if (i % 2 == 0)
        trees.add(drafted.back(), 0);
      else
        add_entries(drafted.back(), trees);
    }
    gpu::StepBatch<float> batch;
    trees.show(batch);
    batch.target = rows_.data();
    batch.proposal = rows_.data() + stride();
    batch.target_stride = batch.proposal_stride = 2 * stride();
    batch.seed = seed;
    batch.first_trial = trial;
    std::vector<StepOutput> steps(conditionals_.size());
    batch.steps = steps.data();
    batch.carries = carries_.data();
    scheme_.machine(batch, trees.rows());
    int mismatches = 0;
    for (std::size_t i = 0; i < conditionals_.size(); ++i) mismatches += differs(i, drafted[i], steps[i], trial + i);
    return mismatches;
  }

 private:
  std::int64_t stride() const { return vocabulary_ + 5; }

  DraftTree draw(std::size_t i, std::uint64_t trial) const {
    // Schemes that rank tokens raise masses to the power of the number of paths; they are tested with up to 8 paths
    // instead of 6.
    const int wanted = scheme_.info.ranks_tokens ? 8 : 6;
    const int most = scheme_.info.most_drafts > 0 ? std::min(scheme_.info.most_drafts, wanted) : wanted;
    TreeShape shape{.drafts = 1 + static_cast<int>(i) % most, .length = static_cast<int>((i + trial) % 7)};
    if (distribution_.info.has_stem && shape.length > 2) shape.stem = static_cast<int>(i % 3);
    // Levels below the root have few children, because 6^5 nodes would take long and test nothing more.
    if (distribution_.info.branches)
      for (int depth = 0; depth < shape.length; ++depth)
        shape.branching.push_back(depth == 0 ? shape.drafts : 1 + depth % 2);
    DraftTree tree(conditionals_[i]);
    distribution_.draw(model_, shape, Philox(seed, trial + i, Philox::Role::draft), tree);
    return tree;
  }

  void add_row(int context, bool with_proposal) {
    const std::size_t start = rows_.size();
    rows_.resize(start + 2 * static_cast<std::size_t>(stride()), std::numeric_limits<float>::quiet_NaN());
    const HostDistributions& distributions = model_.distributions(context);
    std::ranges::copy(distributions.target_row(), rows_.begin() + static_cast<std::ptrdiff_t>(start));
    if (with_proposal)
      std::ranges::copy(distributions.proposal_row(), rows_.begin() + static_cast<std::ptrdiff_t>(start) + stride());
  }

  void add_entries(const DraftTree& tree, gpu::TreeBatch& trees) {
    const auto first_row = static_cast<std::int64_t>(rows_.size()) / (2 * stride());
    std::vector<Token> tokens;
    std::vector<std::int32_t> parents, entry_of(static_cast<std::size_t>(tree.size()), -1);
    std::vector<std::uint32_t> streams;
    // A leaf needs no proposal row unless the scheme carries state.
    const bool carried = scheme_.carries;
    const auto row = [&](int u) { add_row(tree.context(u), carried || !tree.leaf(u)); };
    row(DraftTree::root);
    for (const TreeDraw& draw : tree.all_draws()) {
      const auto child = static_cast<std::size_t>(draw.child);
      if (entry_of[child] < 0) entry_of[child] = static_cast<std::int32_t>(tokens.size());
      tokens.push_back(tree.token(draw.child));
      parents.push_back(entry_of[static_cast<std::size_t>(tree.parent(draw.child))]);
      streams.push_back(draw.stream);
      row(draw.child);
    }
    trees.add(tokens, parents, first_row, streams);
  }

  int differs(std::size_t i, const DraftTree& tree, const StepOutput& found, std::uint64_t trial) {
    HostCarry& carry = host_carries_[i];
    const StepOutput wanted = scheme_.host(HostAt(model_, tree), carry, Philox(seed, trial, Philox::Role::verify));
    bool same = found.node == wanted.node && found.extra.token == wanted.extra.token &&
                carries_[i].size() == static_cast<int>(carry.size());
    if (same) same = std::equal(carry.begin(), carry.end(), carries_[i].begin());
    conditionals_[i] = wanted.extra.token < 0 ? 0 : model_.next(tree.context(wanted.node), wanted.extra.token);
    if (same) return 0;
    std::printf(
        "mismatch: %s on %s, V = %d, %d nodes, seed %llu, trial %llu: node %d, token %d; wanted node %d, token %d\n",
        std::string{scheme_.info.name}.c_str(), std::string{distribution_.info.name}.c_str(), vocabulary_,
        tree.size(), static_cast<unsigned long long>(seed), static_cast<unsigned long long>(trial), found.node,
        found.extra.token, wanted.node, wanted.extra.token);
    return 1;
  }

  const Scheme& scheme_;
  const TreeSampling& distribution_;
  Model model_;
  int vocabulary_;
  std::vector<int> conditionals_;
  std::vector<HostCarry> host_carries_;
  std::vector<gpu::DeviceCarry> carries_;
  std::vector<float> rows_;
};

}  // namespace

void add(Scheme scheme) { schemes().push_back(std::move(scheme)); }
void add(TreeSampling distribution) { distributions().push_back(std::move(distribution)); }

int run(const Sizes& sizes) {
  long long steps = 0, mismatches = 0, idle = 0;
  std::uint64_t trial = 0;
  for (const Scheme& scheme : schemes()) {
    long long own = 0;
    for (const TreeSampling& distribution : distributions()) {
      if (!takes_trees(scheme.info, distribution.info)) continue;
      for (const int vocabulary : sizes.vocabularies) {
        Requests requests(scheme, distribution, vocabulary, sizes.requests, trial);
        for (int iteration = 0; iteration < (scheme.carries ? sizes.iterations : 1); ++iteration) {
          mismatches += requests.iterate(trial += 1000);
          own += sizes.requests;
        }
      }
    }
    if (own == 0) ++idle;
    steps += own;
    if (sizes.tells)
      std::printf("%s: %lld steps, %lld mismatches so far\n", scheme.info.name.data(), own, mismatches);
    if (sizes.tells) std::fflush(stdout);
  }
  std::printf(
      "steps: %zu schemes (%lld without a tree sampling of theirs), %zu tree samplings, %lld steps, %lld "
      "mismatches\n",
      schemes().size(), idle, distributions().size(), steps, mismatches);
  return static_cast<int>(std::min<long long>(mismatches + (steps == 0), 1'000'000));
}

}  // namespace draftproof::step_parity
