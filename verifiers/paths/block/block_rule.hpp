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
// Cost: one excess a position, one draw.
// Source: Sun et al. 2025, arXiv:2403.10444.
// Correctness: the mass accepted at a node or below it is a(x) = q(x) c(x), hence a(xy) = min(q(xy), a(x) p(y|x)),
// and the correction serves a(x) p(y|x) - a(xy).
#pragma once

#include <cassert>

#include <draftproof/sim/trees/conditional_model.hpp>
#include <draftproof/verifiers/rejection/last_draw.hpp>

namespace draftproof {

/// A path as drafted, with the rows of the laws at its nodes.
template <class L>
class PlainSteps {
 public:
  using Scalar = typename L::Scalar;

  /// The path of first children from the root to its end.
  DRAFTPROOF_DEVICE explicit PlainSteps(const DraftedTree<L>& at) : PlainSteps(at, DraftTree::root) {
    while (!at.tree().leaf(nodes_[length_])) append(*at.tree().children(nodes_[length_]).begin());
  }
  /// The path of `start` alone.
  DRAFTPROOF_DEVICE PlainSteps(const DraftedTree<L>& at, int start) : at_{at} { nodes_[0] = start; }

  /// Appends a child of the last node.
  DRAFTPROOF_DEVICE void append(int child) {
    assert(length_ < max_path_length);
    nodes_[++length_] = child;
  }

  DRAFTPROOF_DEVICE int length() const { return length_; }
  DRAFTPROOF_DEVICE int node(int i) const { return nodes_[i]; }
  DRAFTPROOF_DEVICE decltype(auto) laws(int i) const { return at_.laws(nodes_[i]); }
  DRAFTPROOF_DEVICE Token token(int i) const { return at_.tree().token(nodes_[i + 1]); }
  DRAFTPROOF_DEVICE Scalar zero() const { return laws(0).zero(); }
  DRAFTPROOF_DEVICE Scalar one() const { return laws(0).one(); }

  DRAFTPROOF_DEVICE Scalar target(int i) const { return laws(i).target(token(i)); }
  DRAFTPROOF_DEVICE Scalar proposal(int i) const { return laws(i).proposal(token(i)); }
  DRAFTPROOF_DEVICE Scalar excess(int i, const Scalar& c) const { return c * laws(i).residual_mass(one() / c); }
  DRAFTPROOF_DEVICE auto correction(int i, const Scalar& c) const { return laws(i).residual(one() / c); }
  DRAFTPROOF_DEVICE auto bonus() const { return laws(length_).residual(zero()); }

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
    // Where both are 0, q is 0 by rounding: the token was drafted.
    clipped[i + 1] = product < q              ? typename Steps::Scalar(product / q)
                     : product > steps.zero() ? steps.one()
                                              : product;
  }
}

/// The tests of the nodes above the end of the path, from the lowest up; one of them succeeds.
template <class Steps, class R>
DRAFTPROOF_DEVICE StepOutput verify_above_end(const Steps& steps, const typename Steps::Scalar* clipped, R& random) {
  using Scalar = typename Steps::Scalar;
  int i = steps.length() - 1;
  for (; i > 0; --i) {
    if (!(clipped[i] > steps.zero())) continue;
    const Scalar excess = steps.excess(i, clipped[i]);
    // With c = 1 the test succeeds with certainty; if A is 0 too, the failure of a later test was rounding.
    if (!(clipped[i] < steps.one()) || random.flip(excess, Scalar(excess + (steps.one() - clipped[i])))) break;
  }
  return {steps.node(i), last_draw(steps.laws(i), random, steps.correction(i, clipped[i]))};
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

}  // namespace draftproof
