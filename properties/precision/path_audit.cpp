#include <draftproof/properties/precision/audit.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include <draftproof/properties/paths/step_distribution.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/sim/numeric/sums.hpp>

namespace draftproof {

namespace {

/// A model whose rows after a prefix depend on its length alone, so that it has one pair of rows per level at any V.
template <class L>
class RowsByLength final : public ConditionalModel<L> {
 public:
  explicit RowsByLength(std::vector<L> distributions) : distributions_{std::move(distributions)} {}

  const L& distributions(int context) const override { return distributions_[static_cast<std::size_t>(context)]; }
  int next(int context, Token) const override {
    return std::min(context + 1, static_cast<int>(distributions_.size()) - 1);
  }

 private:
  std::vector<L> distributions_;
};

/// For each prefix, the probability that the prefix is emitted and x follows, for each token x.
using NextTokens = std::map<Tokens, std::vector<NeumaierSum>, ShorterFirst>;

double distance(NextTokens& next, std::span<const RowPair> rows) {
  const auto sum_of = [](const std::vector<NeumaierSum>& tokens) {
    NeumaierSum sum;
    for (const NeumaierSum& token : tokens) sum.add(token.value());
    return sum.value();
  };
  // A step that goes beyond a prefix also emits the prefix's last token after its parent, so its probability is added
  // to the parent's, from the longest prefix to the shortest.
  for (auto own = next.rbegin(); own != next.rend() && !own->first.empty(); ++own) {
    const Tokens& prefix = own->first;
    auto& parent = next[Tokens(prefix.begin(), prefix.end() - 1)];
    parent.resize(own->second.size());
    parent[static_cast<std::size_t>(prefix.back())].add(sum_of(own->second));
  }
  NeumaierSum twice;
  std::vector<std::vector<double>> targets;
  for (const RowPair& pair : rows) targets.push_back(exact_target(pair.target));
  for (const auto& [prefix, tokens] : next) {
    const auto& target = targets[std::min(prefix.size(), targets.size() - 1)];
    const double sum = sum_of(tokens), beyond = prefix.empty() ? 1 : sum;
    for (std::size_t x = 0; x < tokens.size(); ++x) twice.add(std::abs(tokens[x].value() - beyond * target[x]));
    twice.add(beyond - sum);
  }
  return twice.value() / 2;
}

template <class L>
std::optional<AuditedPaths> enumerate(const AnyPathVerifier& verifier, const AnyTreeDrafter& drafter,
                                      std::vector<L> distributions, std::span<const RowPair> rows,
                                      const TreeShape& shape, std::uint64_t leaves) {
  const RowsByLength<L> conditionals(std::move(distributions));
  const auto decider = verifier.explore_on(conditionals, shape);
  if (!decider) return {};
  const std::size_t vocabulary = rows.front().target.size();
  NextTokens next;
  next[{}].resize(vocabulary);
  Explorer<double> explorer({.leaves = leaves, .vocabulary = static_cast<int>(vocabulary)});
  explorer.with_rounding();
  DraftTree tree;
  int node = DraftTree::root;
  AuditedPaths audited;
  audited.complete = explorer.explore(
      [&](Explorer<double>& random) {
        tree.clear(0);
        drafter.draw(conditionals, shape, random, tree);
        const StepOutput step = decider->decide(tree, {}, random);
        node = step.node;
        return step.extra;
      },
      [&](const Leaf<double>& leaf) {
        auto& tokens = next[path_to(tree, node)];
        tokens.resize(vocabulary);
        add_leaf(leaf, tokens);
      });
  audited.leaves = explorer.leaves();
  if (audited.complete) audited.distance = distance(next, rows);
  return audited;
}

}  // namespace

std::optional<AuditedPaths> audit(const AnyPathVerifier& verifier, const AnyTreeDrafter& drafter, Form form,
                                  std::span<const RowPair> rows, const TreeShape& shape, std::uint64_t leaves) {
  if (verifier.stateful()) return {};
  const auto of_form = [&]<class L>(std::vector<L> distributions) {
    for (const RowPair& pair : rows) distributions.emplace_back(pair.target, pair.proposals.front());
    return enumerate(verifier, drafter, std::move(distributions), rows, shape, leaves);
  };
  if (form == Form::rows) return of_form(std::vector<Rows<double>>());
  if (form == Form::tables) return of_form(std::vector<RatioTable>());
  return of_form(std::vector<FreshRows<double>>());
}

const AnyTreeDrafter* audited_trees(const AnyPathVerifier& verifier) {
  const auto drafters = path_registry().drafters_of(verifier.info());
  const auto random = std::find_if(drafters.begin(), drafters.end(),
                                   [](const AnyTreeDrafter* drafter) { return !drafter->info().fixed; });
  return random != drafters.end() ? *random : drafters.empty() ? nullptr : drafters.front();
}

}  // namespace draftproof
