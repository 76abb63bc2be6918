// Drafters of paths.
#pragma once

#include <algorithm>

#include <draftproof/sim/drafters/shared_noise.hpp>
#include <draftproof/sim/trees/fixed_tokens.hpp>
#include <draftproof/sim/trees/tree_drafter.hpp>

namespace draftproof::tree_drafters {

// Delayed expansion: one common stem, then K independent paths from its end; stem and path have L tokens together.
// With a stem of L tokens the tree is a chain; with an empty stem the tree is K paths.
//
// Source: arXiv:2602.16994.
struct DelayedPaths {
  static constexpr TreeDrafterInfo info{.name = "delayed_paths",
                                        .summary = "a stem, then K independent paths from its end",
                                        .siblings = DraftSamplings{"iid"},
                                        // Distinct values of i.i.d. draws in order of first appearance are draws
                                        // without replacement, but their number depends on their values.
                                        .siblings_sequential = DraftSamplings{"without_replacement"},
                                        .has_stem = true};

  /// Adds the stem and the paths to `out`.
  template <class L, class R>
  void draw(const ConditionalModel<L>& conditionals, const TreeShape& shape, R& random, DraftTree& out) const {
    const int stem = std::min(shape.stem, shape.length);
    const int end = draw_path(conditionals, DraftTree::root, stem, random, out);
    if (stem == shape.length) return;
    for (int k = 0; k < shape.drafts; ++k) draw_path(conditionals, end, shape.length - stem, random, out);
  }
};

// K independent paths of L tokens, each token drawn from the proposal after the tokens before it. K = 1 is a chain.
struct IidPaths {
  static constexpr TreeDrafterInfo info{.name = "iid_paths",
                                        .summary = "K independent paths of L tokens",
                                        .siblings = DraftSamplings{"iid"},
                                        // Distinct values of i.i.d. draws in order of first appearance are draws
                                        // without replacement, but their number depends on their values.
                                        .siblings_sequential = DraftSamplings{"without_replacement"},
                                        .independent_paths = true};

  /// Adds K paths of L tokens to `out`.
  template <class L, class R>
  void draw(const ConditionalModel<L>& conditionals, const TreeShape& shape, R& random, DraftTree& out) const {
    for (int k = 0; k < shape.drafts; ++k) draw_path(conditionals, DraftTree::root, shape.length, random, out);
  }
};

// K independent paths by shared noise: every token wins a race of q in a separate stream.
//
// Cost: K L passes over the vocabulary.
// Correctness: the paths have the distribution of iid_paths, because streams are independent and each is read for one
// token (tree_drafter.hpp). Whatever tokens precede a node, the draws there are races of q.
// Source: Rowan, Phan and Khisti, arXiv:2506.05632; one path: Daliri et al., arXiv:2408.07978.
struct GumbelPaths {
  using Marginal = IidPaths;
  static constexpr TreeDrafterInfo info{
      .name = "gumbel_paths",
      .summary = "K paths, every token the winner of an exponential race on noise shared with the verifier",
      .siblings = DraftSamplings{"gumbel_iid"},
      .marginal_sampling_of = "iid_paths"};

  /// Adds K paths of L tokens to `out`, with the stream of every draw.
  template <class L, NoiseSource R>
  void draw(const ConditionalModel<L>& conditionals, const TreeShape& shape, R& random, DraftTree& out) const {
    draw_noise_paths(drafters::GumbelIid{}, conditionals, shape, random, out);
  }
};

// K independent paths by shared noise: every token is the token of the first dart below q in a separate stream.
//
// Cost: V darts for each token on average.
// Correctness: the paths have the distribution of iid_paths, because streams are independent and each is read for one
// token (tree_drafter.hpp).
// Source: weighted MinHash as a coupling: Daliri et al., arXiv:2408.07978; its use on paths is derived here.
struct MinhashPaths {
  using Marginal = IidPaths;
  static constexpr TreeDrafterInfo info{
      .name = "minhash_paths",
      .summary = "K paths, every token drawn by rejection from points (darts) shared with the verifier",
      .siblings = DraftSamplings{"minhash"},
      .marginal_sampling_of = "iid_paths"};

  /// Adds K paths of L tokens to `out`, with the stream of every draw.
  template <class L, NoiseSource R>
  void draw(const ConditionalModel<L>& conditionals, const TreeShape& shape, R& random, DraftTree& out) const {
    draw_noise_paths(drafters::Minhash{}, conditionals, shape, random, out);
  }
};

// K independent paths of L tokens from a draft cache, which stores one row for each token: drafts after a token are
// drawn from the row of that token, whatever tokens precede it. The drafter declares this row, so verifiers get it as
// the proposal.
//
// Correctness: a verifier is lossless for any proposal if its tests use the row from which the draft was drawn. The
// mutant token_cache_undeclared drafts from the cache, but declares the row after the whole prefix.
// Source: derived here, after n-gram and prompt-lookup caches of engines.
struct TokenCachePaths {
  static constexpr TreeDrafterInfo info{
      .name = "token_cache_paths",
      .summary = "K independent paths of L tokens from a cache keyed by the last token",
      .siblings = DraftSamplings{"iid"},
      .siblings_sequential = DraftSamplings{"without_replacement"},
      .row = DraftRow::last_token,
      .declared_as = "iid_paths"};

  /// Adds K paths of L tokens to `out`.
  template <class L, class R>
  void draw(const ConditionalModel<L>& conditionals, const TreeShape& shape, R& random, DraftTree& out) const {
    for (int k = 0; k < shape.drafts; ++k)
      for (int u = DraftTree::root, depth = 0; depth < shape.length; ++depth) {
        const Token x = random.pick(conditionals.distributions(last_token_context(conditionals, out, u)).row(0));
        u = out.draw(u, x, conditionals.next(out.context(u), x));
      }
  }
};

// Fixed first tokens with one drawn suffix: the K most probable first tokens, and one path below the most probable of
// them, which is repeated below the others. A target pass then serves K prefixes for the draws of one chain.
//
// Cost: one chain of L tokens.
// Source: an unreviewed note on root-marginalised block verification; the tree is reconstructed from its rule.
struct SharedSuffix {
  static constexpr TreeDrafterInfo info{
      .name = "shared_suffix",
      .summary =
          "the K most probable first tokens, and below each the same path, drawn after the most probable of them",
      .ranks_tokens = true,
      .shared_suffix = true};

  /// Adds the first tokens and the path below each to `out`.
  template <class L, class R>
  void draw(const ConditionalModel<L>& conditionals, const TreeShape& shape, R& random, DraftTree& out) const {
    const int context = out.context(DraftTree::root);
    const FixedTokens first(conditionals.distributions(context), std::min(shape.drafts, max_drafts));
    for (int k = 0; k < first.count; ++k)
      out.draw(DraftTree::root, first.tokens[k], conditionals.next(context, first.tokens[k]));
    const int drawn = 1;  // node of the most probable first token
    draw_path(conditionals, drawn, shape.length - 1, random, out);
    for (int k = 1; k < first.count; ++k)
      for (int from = drawn, u = 1 + k; !out.leaf(from);) {
        from = *out.children(from).begin();
        u = out.draw(u, out.token(from), conditionals.next(out.context(u), out.token(from)));
      }
  }
};

}  // namespace draftproof::tree_drafters
