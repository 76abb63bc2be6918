// Mutants: rules for trees of fixed and drawn children (hybrid trees), and for fixed first tokens with a shared suffix.
#pragma once

#include <draftproof/sim/info.hpp>
#include <draftproof/verifiers/paths/root_marginalised_block.hpp>
#include <draftproof/verifiers/paths/univer.hpp>
#include <draftproof/verifiers/paths/univer_ladder.hpp>

namespace draftproof::mutants::paths {

namespace detail {

struct CascadeRule : DrawnInOrder<1> {
  static constexpr bool cascade = true;
};
struct DrawnLastRule : DrawnInOrder<1> {
  static constexpr bool drawn_first = false;
};
struct OnChildrenRule : DrawnInOrder<1> {
  static constexpr bool off_children = false;
};
struct WholeRowRule : DrawnInOrder<1> {
  template <class L>
  auto row(const DraftedTree<L>& at, int u, const FixedTokens&, const HybridChildren&) const {
    return [&distributions = at.distributions(u)](Token x) ->
           typename L::Scalar { return distributions.proposal(x); };
  }
};

template <class L>
struct PlainRowRule : LadderOfRest<L> {
  using LadderOfRest<L>::LadderOfRest;
  auto row(const DraftedTree<L>& at, int u, const FixedTokens& tokens, const HybridChildren& children) const {
    return DrawnInOrder<1>{}.row(at, u, tokens, children);
  }
};

}  // namespace detail

// Mutant: a fixed child has weight w p, whatever was refused before it.
//
// Source: cascades of engines that test fixed children like drafts with q = 1. Error: after a refused drawn child the
// target is no longer p, and after a refused fixed child the target has no mass on the refused token. Hidden: where
// nodes have one fixed child and no drawn child, and on trees without fixed children.
struct UniverCascade : HybridVerifier<detail::CascadeRule> {
  static constexpr Info info{.name = "univer_cascade",
                             .summary = "univer that tests a fixed child as if no other child had been refused",
                             .source = "derived here; rule of arXiv:2605.04543",
                             .drafts = DraftSamplings{"hybrid_tree"},
                             .unsupported = {.device = "not written for kernels"},
                             .ranks_tokens = true,
                             .derived_from = "univer"};
};

// Mutant: the drawn child is tested after the fixed children, but with the probability of a test before the fixed
// children.
//
// Source: tree builders that order the children of a node by probability.
// Error: min(1, w p / m) is the right probability only if the drawn child is tested first.
// Hidden: where no node has both fixed and drawn children.
struct UniverDrawnLast : HybridVerifier<detail::DrawnLastRule> {
  static constexpr Info info{.name = "univer_drawn_last",
                             .summary = "univer that tests the fixed children before the drawn one",
                             .source = "derived here; rule of arXiv:2605.04543",
                             .drafts = DraftSamplings{"hybrid_tree"},
                             .unsupported = {.device = "not written for kernels"},
                             .ranks_tokens = true,
                             .derived_from = "univer"};
};

// Mutant: the token after a node is drawn from (w p - m)+ on all tokens.
//
// Source: engines whose correction is written for drawn children only.
// Error: (w p - m)+ on the fixed children is counted a second time, as mass of the correction, so a refused fixed child
// can be emitted as the correction.
// Hidden: on trees without fixed children.
struct UniverCorrectionOnChildren : HybridVerifier<detail::OnChildrenRule> {
  static constexpr Info info{.name = "univer_correction_on_children",
                             .summary = "univer whose correction can be a fixed child that was refused",
                             .source = "derived here; rule of arXiv:2605.04543",
                             .drafts = DraftSamplings{"hybrid_tree"},
                             .unsupported = {.device = "not written for kernels"},
                             .ranks_tokens = true,
                             .derived_from = "univer"};
};

// Mutant: the drawn child is tested against q, though it was drawn from q without the fixed tokens.
//
// Source: engines that pass on the whole row of q with a drawn token.
// Error: q of the drawn token is less than the probability that it was drawn with.
// Hidden: where no node has both fixed and drawn children.
struct UniverWholeRow : HybridVerifier<detail::WholeRowRule> {
  static constexpr Info info{.name = "univer_whole_row",
                             .summary = "univer that tests the drawn child against q with the fixed tokens",
                             .source = "derived here; rule of arXiv:2605.04543",
                             .drafts = DraftSamplings{"hybrid_tree"},
                             .unsupported = {.device = "not written for kernels"},
                             .ranks_tokens = true,
                             .derived_from = "univer"};
};

// Mutant: the ladder chooses a drawn child, and the test treats it like the drawn child that was drawn first.
//
// Source: engines that test the best of several drafts.
// Error: the distribution of the chosen child is not q without the fixed tokens.
// Hidden: where at most one child of a node is drawn.
struct UniverLadderPlainRow : HybridLadderVerifier<detail::PlainRowRule> {
  static constexpr Info info{
      .name = "univer_ladder_plain_row",
      .summary = "univer with a ladder that tests the chosen child against the row of one draw",
      .source = "derived here",
      .drafts = DraftSamplings{"hybrid_tree"},
      .unsupported = {.device = "not written for kernels"},
      .ranks_tokens = true,
      .derived_from = "univer_ladder"};
};

// Mutant: the first token of an accepted suffix is drawn with the weights that first tokens have before the correction.
//
// Source: derived here; rule of an unreviewed note on root-marginalised block verification.
// Error: the correction or bonus token also depends on the first token, so given this token the first tokens have other
// weights.
// Hidden: where all first tokens have the same target rows.
struct FirstTokenWithoutCorrection : RootMarginalised<false> {
  static constexpr Info info{.name = "first_token_without_correction",
                             .summary = "root_marginalised_block whose first token does not depend on the last draw",
                             .source = "derived here; rule of an unreviewed note",
                             .drafts = DraftSamplings{"shared_suffix"},
                             .unsupported = {.device = "not written for kernels"},
                             .ranks_tokens = true,
                             .derived_from = "root_marginalised_block"};
};

}  // namespace draftproof::mutants::paths
