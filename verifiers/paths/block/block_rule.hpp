// Block verification of one path whose tokens were drawn from known rows: accepts the largest number of tokens whose
// test succeeds. A test compares products of ratios, not ratios of single tokens.
//
//   L            steps.length()          drafted tokens; node i is the prefix of i of them
//   p_i, q_i     target(i), proposal(i)  of token i + 1 after node i, i = 0 .. L - 1; q is the row it was drawn from
//   c_i          clipped[i]              c_0 = 1, c_(i+1) = min(1, c_i p_i / q_i)
//   A_i          steps.excess(i, c_i)    sum over the vocabulary of (c_i p - q)+ after node i
//   correction   steps.correction(i, c)  weights (c_i p - q)+
//   bonus        steps.bonus()           p after node L
//
// Test i < L succeeds with probability A_i / (A_i + 1 - c_i), test L with probability c_L.
// Cost: one excess per position, one draw.
// Source: Sun et al. 2025, arXiv:2403.10444.
// Correctness: the mass accepted at a node or below it is a(x) = q(x) c(x), hence a(xy) = min(q(xy), a(x) p(y|x)),
// and the correction emits a(x) p(y|x) - a(xy).
#pragma once

#include <cassert>

#include <draftproof/sim/trees/conditional_model.hpp>
#include <draftproof/verifiers/rejection/residual_chain.hpp>

namespace draftproof {

/// A path as drafted, with the rows of the distributions at its nodes.
template <class L>
class PlainSteps {
 public:
  using Scalar = typename L::Scalar;

  /// The path of first children from the root to its end.
  DRAFTPROOF_DEVICE explicit PlainSteps(const DraftedTree<L>& at) : PlainSteps(at, DraftTree::root) {
    while (!at.tree().leaf(nodes_[length_])) append(*at.tree().children(nodes_[length_]).begin());
  }
  /// The path that has only the node `start`.
  DRAFTPROOF_DEVICE PlainSteps(const DraftedTree<L>& at, int start) : at_{at} { nodes_[0] = start; }

  /// Appends a child of the last node.
  DRAFTPROOF_DEVICE void append(int child) {
    assert(length_ < max_path_length);
    nodes_[++length_] = child;
  }

  DRAFTPROOF_DEVICE int length() const { return length_; }
  DRAFTPROOF_DEVICE int node(int i) const { return nodes_[i]; }
  DRAFTPROOF_DEVICE decltype(auto) distributions(int i) const { return at_.distributions(nodes_[i]); }
  DRAFTPROOF_DEVICE Token token(int i) const { return at_.tree().token(nodes_[i + 1]); }
  DRAFTPROOF_DEVICE Scalar zero() const { return distributions(0).zero(); }
  DRAFTPROOF_DEVICE Scalar one() const { return distributions(0).one(); }

  DRAFTPROOF_DEVICE Scalar target(int i) const { return distributions(i).target(token(i)); }
  DRAFTPROOF_DEVICE Scalar proposal(int i) const { return distributions(i).proposal(token(i)); }
  DRAFTPROOF_DEVICE Scalar excess(int i, const Scalar& c) const {
    return c * distributions(i).residual_mass(one() / c);
  }
  DRAFTPROOF_DEVICE auto correction(int i, const Scalar& c) const { return distributions(i).residual(one() / c); }
  DRAFTPROOF_DEVICE auto bonus() const { return distributions(length_).residual(zero()); }

 private:
  const DraftedTree<L>& at_;
  int length_ = 0;
  int nodes_[max_path_length + 1];
};

/// Writes c_0 .. c_L to `clipped`.
template <class Steps>
DRAFTPROOF_DEVICE void clip_products(const Steps& steps, typename Steps::Scalar* clipped) {
  clipped[0] = steps.one();
  for (int i = 0; i < steps.length(); ++i) {
    const auto product = clipped[i] * steps.target(i);
    const auto q = steps.proposal(i);
    // If both are 0, q was rounded to 0: the token was drafted, so its exact q is positive.
    clipped[i + 1] = product < q              ? typename Steps::Scalar(product / q)
                     : product > steps.zero() ? steps.one()
                                              : product;
  }
}

/// Makes the tests of the nodes above the end of the path, from the lowest up. If all other tests fail, the root is
/// accepted, because c_0 = 1.
template <class Steps, class R>
DRAFTPROOF_DEVICE StepOutput verify_above_end(const Steps& steps, const typename Steps::Scalar* clipped, R& random) {
  using Scalar = typename Steps::Scalar;
  int i = steps.length() - 1;
  for (; i > 0; --i) {
    if (!(clipped[i] > steps.zero())) continue;
    const Scalar excess = steps.excess(i, clipped[i]);
    // With c = 1 the test succeeds with certainty; if A is 0 too, a later test failed only by rounding.
    if (!(clipped[i] < steps.one()) || random.flip(excess, Scalar(excess + (steps.one() - clipped[i])))) break;
  }
  return {steps.node(i), last_draw(steps.distributions(i), random, steps.correction(i, clipped[i]))};
}

/// One step of block verification: the node of the accepted prefix and the extra token.
template <class Steps, class R>
DRAFTPROOF_DEVICE StepOutput verify_block(const Steps& steps, R& random) {
  typename Steps::Scalar clipped[max_path_length + 1];
  clip_products(steps, clipped);
  const int length = steps.length();
  if (random.flip(clipped[length], steps.one())) return {steps.node(length), random.emit(steps.bonus())};
  return verify_above_end(steps, clipped, random);
}

// The target of greedy block verification after earlier iterations, each of which may have left a pending residual (a
// layer) over the next few positions. All rows of this target have the form (p - b q)+ / F(b), so a position needs only
// the number b.
//
//   R_j(u)     layer.ratio   of layer j: probability of the block up to u under the target without layers j, j + 1,
//                            .., over its probability under q; beyond the largest double it saturates
//   b(u)       b[i]          0, then b <- b + F(b) / R_j(u) for every layer that reaches the position, oldest first
//   F(b(u))    mass[i]       sum over the vocabulary of (p - b q)+
//   R(u)       ratio(i)      the same ratio for the present block, from its start
//
// Cost: one residual mass per layer and position.
// Source: the modified target is an idea of the appendix of arXiv:2403.10444; these formulas are derived here
// (docs/paths.md) and proved by enumeration of the process.
// Correctness: saturation of ratios changes no result. A ratio falls from beyond 2^1023 to the size of 1 with
// probability below 2^-1000 (Markov's inequality for R under q, for 1 / R under the target), and an infinite ratio
// changes no row. A node with target probability 0 has no row; its ratio is 0, and no node below it is accepted.

template <class L>
class LayeredPath {
 public:
  using Scalar = typename L::Scalar;

  /// Constructs the first path of the tree, with the target that remains after the iterations recorded in `carry`.
  DRAFTPROOF_DEVICE LayeredPath(const DraftedTree<L>& at, const StateAt<L>& carry)
      : steps_{at}, layers_{carry}, running_{steps_.one()} {
    for (int i = 0; i < length(); ++i) step(i, steps_.token(i));
    step(length(), no_token);
  }

  DRAFTPROOF_DEVICE int length() const { return steps_.length(); }
  DRAFTPROOF_DEVICE int node(int i) const { return steps_.node(i); }
  /// R after i tokens; 0 if the target probability of these tokens is 0.
  DRAFTPROOF_DEVICE const Scalar& ratio(int i) const { return ratio_[i]; }

  /// Sum over the vocabulary of (R p_s - q)+ after i tokens; R > 0.
  DRAFTPROOF_DEVICE Scalar excess(int i) const {
    return ratio_[i] / mass_[i] * steps_.distributions(i).residual_mass(corrected(i));
  }
  /// Weights (R p_s - q)+ after i tokens, up to a factor; p_s is the target of this iteration.
  DRAFTPROOF_DEVICE auto correction(int i) const { return steps_.distributions(i).residual(corrected(i)); }
  /// Weights of p_s after i tokens, up to a factor.
  DRAFTPROOF_DEVICE auto weights(int i) const { return steps_.distributions(i).residual(b_[i]); }
  /// Weights of p_s after the whole path, up to a factor.
  DRAFTPROOF_DEVICE auto bonus() const { return weights(length()); }

  /// Returns the layers of the next iteration, which starts after `accepted` tokens of the path and the token `extra`.
  DRAFTPROOF_DEVICE static StateAt<L> after(const DraftedTree<L>& at, const StateAt<L>& carry, int accepted,
                                            Token extra) {
    const L& last = PlainSteps<L>(at).distributions(accepted);
    // All ratios become infinite, so no layer changes a row.
    if (!(last.proposal(extra) > last.zero())) return {};
    LayeredPath path(at, carry, accepted, extra);
    path.layers_.push_back({path.length(), path.running_});
    StateAt<L> left;
    for (const PendingResidual<Scalar>& layer : path.layers_)
      if (layer.remaining > accepted + 1) left.push_back({layer.remaining - accepted - 1, layer.ratio});
    return left;
  }

 private:
  DRAFTPROOF_DEVICE LayeredPath(const DraftedTree<L>& at, const StateAt<L>& carry, int accepted, Token extra)
      : steps_{at}, layers_{carry}, running_{steps_.one()} {
    for (int i = 0; i < accepted; ++i) step(i, steps_.token(i));
    step(accepted, extra);
  }

  DRAFTPROOF_DEVICE Scalar corrected(int i) const { return b_[i] + mass_[i] / ratio_[i]; }

  /// Computes the target after i tokens, and all ratios after x.
  DRAFTPROOF_DEVICE void step(int i, Token x) {
    const L& distributions = steps_.distributions(i);
    ratio_[i] = running_;
    if (!(running_ > distributions.zero())) return;
    Scalar b = distributions.zero(), mass = distributions.one();
    for (PendingResidual<Scalar>& layer : layers_) {
      if (layer.remaining <= i) continue;
      const Scalar before = layer.ratio;
      if (x != no_token) layer.ratio *= share(distributions, b, mass, x);
      b += mass / before;
      mass = distributions.residual_mass(b);
      if (!(mass > distributions.zero())) {
        ratio_[i] = running_ = distributions.zero();
        return;
      }
    }
    b_[i] = b;
    mass_[i] = mass;
    if (x == no_token) return;
    const Scalar next = share(distributions, b, mass, x);
    running_ = next > distributions.zero() ? Scalar(running_ * next) : distributions.zero();
  }

  /// Target probability of x over its proposal probability.
  DRAFTPROOF_DEVICE static Scalar share(const L& distributions, const Scalar& b, const Scalar& mass, Token x) {
    const Scalar wanted = distributions.target(x) - b * distributions.proposal(x);
    return wanted > distributions.zero() ? Scalar(wanted / (mass * distributions.proposal(x))) : distributions.zero();
  }

  PlainSteps<L> steps_;
  StateAt<L> layers_;
  Scalar running_;
  Scalar b_[max_path_length + 1], mass_[max_path_length + 1], ratio_[max_path_length + 1];
};

}  // namespace draftproof
