// UniVer with a ladder: the ladder without replacement chooses one of the drawn children of a node. UniVer's rule tests
// the chosen child, with its distribution, and then the fixed children.
//
//   q'      q without the fixed tokens, normalised; the m drawn children are draws of q' without replacement
//   m       q'(x) slope[bin of x]      distribution of the child that the ladder of (p, q') chooses
//
// Cost: a ladder for each context and number of drawn children, O(V log V) for two children (race_bins.hpp of the
// ladder for more), kept until the model discards a context or the rows have 2^24 entries; after that the cost of
// UniVer.
// Source: derived here (docs/ladder.md); the rule of arXiv:2605.04543.
// Correctness: UniVer's rule is exact for any m that is the distribution of the tested child. At a node of weight w one
// of its children is accepted with probability w p(F) + sum of min(w p, m), where F are the fixed tokens. The ladder's
// m maximises this for every w: q' is 0 on F, as on any token that is never drafted, and scaling p changes neither the
// order of bins nor the levels.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include <draftproof/sim/distributions/plain_rows.hpp>
#include <draftproof/sim/info.hpp>
#include <draftproof/verifiers/ladder/path_node.hpp>
#include <draftproof/verifiers/paths/hybrid/hybrid_rule.hpp>

namespace draftproof {

/// The ladders of the contexts seen so far, for one thread: chooses among the drawn children of a node.
template <class L>
class LadderOfRest : public HybridTests {
 public:
  using Scalar = typename L::Scalar;

  explicit LadderOfRest(int fixed) : fixed_{fixed} {}

  int fixed() const { return fixed_; }
  /// Must be called between steps, because it deletes all ladders if the model has discarded a context.
  void begin(const ConditionalModel<L>& conditionals) {
    if (conditionals.forgotten() != forgotten_ || entries_ > most_entries) {
      ladders_.clear();
      entries_ = 0;
    }
    forgotten_ = conditionals.forgotten();
  }

  template <class R>
  int select(const DraftedTree<L>& at, int u, const FixedTokens& tokens, HybridChildren& children, R& random) {
    if (children.drawn_count == 1) return 1;
    const Rest& rest = of(at, u, tokens, children.drawn_count);
    DraftTree drawn;
    for (int k = 0; k < children.drawn_count; ++k)
      drawn.draw(DraftTree::root, at.tree().token(children.drawn[k]), ConditionalModel<L>::no_context);
    const int chosen = rest.ladder.choose_distinct(drawn, DraftTree::root, rest.rows, random).child - 1;
    std::swap(children.drawn[0], children.drawn[chosen]);
    return 1;
  }
  auto row(const DraftedTree<L>& at, int u, const FixedTokens& tokens, const HybridChildren& children) {
    return [&rest = of(at, u, tokens, children.drawn_count)](Token x) {
      return Scalar(rest.ladder.chosen(rest.rows, x));
    };
  }

 private:
  static constexpr std::size_t most_entries = std::size_t{1} << 24;  ///< of all rows

  /// p and q' of a context.
  struct Rest {
    explicit Rest(std::vector<Scalar> target, std::vector<Scalar> proposal)
        : rows{std::move(target), std::move(proposal)} {}

    Rows<Scalar> rows;
    LadderNode<Rows<Scalar>> ladder{};
  };

  Rest& of(const DraftedTree<L>& at, int u, const FixedTokens& tokens, int drawn) {
    const auto key = (static_cast<std::uint64_t>(at.tree().context(u)) << 8) | static_cast<std::uint64_t>(drawn);
    auto& rest = ladders_[key];
    if (rest) return *rest;
    const L& distributions = at.distributions(u);
    const Scalar mass = distributions.mass_without(0, tokens.tokens, tokens.count);
    std::vector<Scalar> target, proposal;
    for (Token x = 0; x < distributions.vocabulary(); ++x) {
      target.emplace_back(distributions.target(x));
      proposal.emplace_back(tokens.contains(x) ? distributions.zero() : Scalar(distributions.proposal(x) / mass));
    }
    entries_ += 2 * target.size();
    rest = std::make_unique<Rest>(std::move(target), std::move(proposal));
    rest->ladder.plan_distinct(rest->rows, drawn, [&rest](bool coarse) {
      return std::make_shared<const LadderBins<Rows<Scalar>>>(ladder_bins(rest->rows, coarse));
    });
    return *rest;
  }

  int fixed_, forgotten_ = 0;
  std::size_t entries_ = 0;
  std::unordered_map<std::uint64_t, std::unique_ptr<Rest>> ladders_;
};

/// The verifier with a rule that keeps ladders between steps: LadderOfRest, or a mutant of it.
template <template <class> class Rule>
struct HybridLadderVerifier {
  template <class L>
  Rule<L> prepare(const ConditionalModel<L>&, const TreeShape& shape) const {
    return Rule<L>(shape.fixed);
  }
  template <class L, class R>
  StepOutput verify(const DraftedTree<L>& at, Rule<L>& rule, R& random) const {
    rule.begin(at.conditionals());
    return HybridRun<L, R, Rule<L>>(at, rule.fixed(), rule, random).run();
  }
};

}  // namespace draftproof

namespace draftproof::verifiers::paths {

struct UniverLadder : HybridLadderVerifier<LadderOfRest> {
  static constexpr Info info{
      .name = "univer_ladder",
      .summary = "choose one drawn child of each node by a ladder, then UniVer's rule with its distribution",
      .source = "derived here, docs/ladder.md; rule of arXiv:2605.04543",
      .drafts = DraftSamplings{"hybrid_tree", "pruned_hybrid_tree"},
      .unsupported = {.device = "not written for kernels"},
      .ranks_tokens = true};
};

}  // namespace draftproof::verifiers::paths
