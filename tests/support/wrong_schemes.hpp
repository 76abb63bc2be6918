// Verifiers of paths and tree drafters that are wrong on purpose, each with a bug that one property detects.
#pragma once

#include <draftproof/sim/drafters/trees/paths.hpp>
#include <draftproof/sim/trees/fixed_tokens.hpp>
#include <draftproof/sim/trees/node_by_node.hpp>
#include <draftproof/verifiers/paths/greedy_block.hpp>
#include <draftproof/verifiers/paths/token_path.hpp>
#include <draftproof/verifiers/sample_and_match.hpp>

namespace draftproof::wrong {

constexpr Info named(std::string_view name, Claims claims = {}, DraftSamplings drafts = DraftSamplings{"iid_paths"}) {
  return {.name = name, .summary = "wrong on purpose", .source = "this test", .drafts = drafts, .claims = claims};
}

/// Returns the Info of a scheme that takes one path.
constexpr Info of_one_path(std::string_view name, Claims claims = {},
                           DraftSamplings drafts = DraftSamplings{"iid_paths"}) {
  Info one = named(name, claims, drafts);
  one.most_drafts = 1;
  return one;
}

/// Accepts the first path without a test.
struct AcceptAlways {
  static constexpr Info info = named("accept_always");
  template <class L, class R>
  StepOutput verify(const DraftedTree<L>& at, R& random) const {
    int end = DraftTree::root;
    while (!at.tree().leaf(end)) end = *at.tree().children(end).begin();
    return {end, random.emit(at.distributions(end).residual(at.distributions(end).zero()))};
  }
};

/// Accepts the node after the last one.
struct AcceptsNodeOutside {
  static constexpr Info info = named("accepts_node_outside");
  template <class L, class R>
  StepOutput verify(const DraftedTree<L>& at, R& random) const {
    const auto& root = at.distributions(DraftTree::root);
    return {at.tree().size(), random.emit(root.residual(root.zero()))};
  }
};

/// Token verification whose last token is raised by 1 if it is a token and not a placeholder.
struct ChangesLastToken {
  static constexpr Info info = of_one_path("changes_last_token");
  template <class L, class R>
  StepOutput verify(const DraftedTree<L>& at, R& random) const {
    StepOutput step = verifiers::paths::TokenPath{}.verify(at, random);
    const int vocabulary = at.distributions(step.node).vocabulary();
    if (step.extra.token >= 0) step.extra.token = (step.extra.token + 1) % vocabulary;
    return step;
  }
};

/// Token verification with the bonus token drawn from q: correct on the first L tokens.
struct BonusFromDraft {
  static constexpr Info info = of_one_path("bonus_from_draft");
  template <class L, class R>
  StepOutput verify(const DraftedTree<L>& at, R& random) const {
    const StepOutput step = verifiers::paths::TokenPath{}.verify(at, random);
    if (!at.tree().leaf(step.node)) return step;
    return {step.node, random.emit(at.distributions(step.node).row(0))};
  }
};

/// Token verification that also carries a state to the next iteration, but never reads this state.
struct CarriesForNothing : verifiers::paths::TokenPath {
  static constexpr Info info = of_one_path("carries_for_nothing");
  template <class L, class R>
  StepOutput verify(const DraftedTree<L>& at, const VerifierState<typename L::Scalar>&, R& random) const {
    return verifiers::paths::TokenPath::verify(at, random);
  }
  template <class L>
  VerifierState<typename L::Scalar> after(const DraftedTree<L>& at, const VerifierState<typename L::Scalar>&,
                                          const StepOutput& step) const {
    return {{.remaining = at.tree().depth(step.node), .ratio = at.distributions(0).one()}};
  }
};

/// Like CarriesForNothing, but accepts every draft once it has a carried state: correct in the first iteration only.
struct ForgetsItself : CarriesForNothing {
  static constexpr Info info = of_one_path("forgets_itself");
  template <class L, class R>
  StepOutput verify(const DraftedTree<L>& at, const VerifierState<typename L::Scalar>& carry, R& random) const {
    if (carry.empty()) return CarriesForNothing::verify(at, carry, random);
    return AcceptAlways{}.verify(at, random);
  }
};

/// Greedy block verification that carries only the state of its last block: correct until three iterations overlap.
struct CarriesTheNewest : verifiers::paths::GreedyBlock {
  static constexpr Info info = of_one_path("carries_the_newest");
  template <class L>
  VerifierState<typename L::Scalar> after(const DraftedTree<L>& at, const VerifierState<typename L::Scalar>& carry,
                                          const StepOutput& step) const {
    const auto left = verifiers::paths::GreedyBlock::after(at, carry, step);
    if (left.empty()) return {};
    return {left.back()};
  }
};

/// Token verification that is declared for any draft sampling, although it is exact for sampled drafts only.
struct SoldForAny : verifiers::paths::TokenPath {
  static constexpr Info info = of_one_path("sold_for_any", {}, any_draft_sampling);
};

/// Two types that each claim a wrong property of sample and match. Sample and match neither accepts every draft if p =
/// q, nor is it token verification on one path.
struct ClaimsEqualDistributions : NodeByNode<verifiers::SampleAndMatch> {
  static constexpr Info info = named("claims_equal_distributions", {.accepts_equal_distributions = true});
};
struct ClaimsTokenPath : NodeByNode<verifiers::SampleAndMatch> {
  static constexpr Info info = named("claims_token_path", {.one_path_is_token_path = true});
};
/// Claims drafter invariance, although the tokens of token verification depend on the proposal.
struct ClaimsInvariance : verifiers::paths::TokenPath {
  static constexpr Info info = of_one_path("claims_invariance", {.drafter_invariant = true});
};
/// Claims to be block verification on one path, but is token verification.
struct ClaimsBlock : verifiers::paths::TokenPath {
  static constexpr Info info = of_one_path("claims_block", {.one_path_is_block = true});
};

/// Accepts only paths that begin with token 0.
struct LikesTokenZero {
  static constexpr Info info = named("likes_token_zero");
  template <class L, class R>
  StepOutput verify(const DraftedTree<L>& at, R& random) const {
    if (at.tree().find(DraftTree::root, 0) >= 0) return AcceptAlways{}.verify(at, random);
    return {DraftTree::root, random.emit(at.distributions(DraftTree::root).residual(at.distributions(0).zero()))};
  }
};

/// Draws from p - q, which has no mass if p = q.
struct ReachesNothing {
  static constexpr Info info = named("reaches_nothing");
  template <class L, class R>
  StepOutput verify(const DraftedTree<L>& at, R& random) const {
    return {DraftTree::root, random.emit(at.distributions(DraftTree::root).residual(at.distributions(0).one()))};
  }
};

struct DrawsFromTarget {
  static constexpr TreeDrafterInfo info{.name = "draws_from_target", .summary = "wrong on purpose"};
  template <class L, class R>
  void draw(const ConditionalModel<L>& conditionals, const TreeShape&, R& random, DraftTree& out) const {
    const L& distributions = conditionals.distributions(out.context(0));
    const Token x = random.pick(distributions.residual(distributions.zero()));
    out.draw(DraftTree::root, x, conditionals.next(out.context(0), x));
  }
};
struct ClaimsDistinct : tree_drafters::IidPaths {
  static constexpr TreeDrafterInfo info{
      .name = "claims_distinct", .summary = "wrong on purpose", .distinct_siblings = true};
};
/// Declares one suffix below all first tokens, but draws a suffix for each.
struct SuffixForEach {
  static constexpr TreeDrafterInfo info{
      .name = "suffix_for_each", .summary = "wrong on purpose", .shared_suffix = true};
  template <class L, class R>
  void draw(const ConditionalModel<L>& conditionals, const TreeShape& shape, R& random, DraftTree& out) const {
    const int context = out.context(DraftTree::root);
    const FixedTokens first(conditionals.distributions(context), shape.drafts);
    for (int k = 0; k < first.count; ++k)
      draw_path(conditionals, out.draw(DraftTree::root, first.tokens[k], conditionals.next(context, first.tokens[k])),
                shape.length - 1, random, out);
  }
};
/// Declares K first tokens, but drafts the most probable one alone.
struct OneFirstToken : tree_drafters::SharedSuffix {
  static constexpr TreeDrafterInfo info{
      .name = "one_first_token", .summary = "wrong on purpose", .shared_suffix = true};
  template <class L, class R>
  void draw(const ConditionalModel<L>& conditionals, TreeShape shape, R& random, DraftTree& out) const {
    shape.drafts = 1;
    tree_drafters::SharedSuffix::draw(conditionals, shape, random, out);
  }
};
/// Declares F fixed children of every node, but drafts at most one, at the root.
struct OmitsFixed {
  static constexpr TreeDrafterInfo info{.name = "omits_fixed",
                                        .summary = "wrong on purpose",
                                        .distinct_siblings = true,
                                        .ranks_tokens = true,
                                        .branches = true,
                                        .has_fixed_children = true};
  template <class L, class R>
  void draw(const ConditionalModel<L>& conditionals, const TreeShape& shape, R&, DraftTree& out) const {
    const int context = out.context(DraftTree::root);
    const FixedTokens fixed(conditionals.distributions(context), std::min(shape.fixed, shape.children_at(0)));
    if (fixed.count > 0) out.draw(DraftTree::root, fixed.tokens[0], conditionals.next(context, fixed.tokens[0]));
  }
};
struct ClaimsFixed : tree_drafters::IidPaths {
  static constexpr TreeDrafterInfo info{.name = "claims_fixed", .summary = "wrong on purpose", .fixed = true};
};

}  // namespace draftproof::wrong
