// The target of greedy block verification after earlier iterations, each of which may have left a layer over the next
// few positions. All rows stay in the family (p - b q)+ / F(b), so a position needs one b.
//
//   R_j(u)     layer.ratio   of layer j: probability of the block up to u under the target without layers j, j + 1,
//                            .., over its probability under q; beyond the largest double it saturates
//   b(u)       b[i]          0, then b <- b + F(b) / R_j(u) for every layer that reaches the position, oldest first
//   F(b(u))    mass[i]       sum over the vocabulary of (p - b q)+
//   R(u)       ratio(i)      the same ratio for the present block, from its start
//
// Cost: one residual mass a layer and position.
// Source: the idea of a modified target is of the appendix of arXiv:2403.10444; these formulas are derived here
// (docs/paths.md); proved by exploration of the process.
// Correctness: saturation is harmless. A ratio falls from beyond 2^1023 to the size of 1 with probability below
// 2^-1000 (Markov's inequality for R under q, for 1 / R under the target), and an infinite ratio changes no row. A
// node with target probability 0 has no row; its ratio is 0, and no node below it is accepted.
#pragma once

#include <draftproof/verifiers/paths/block/block_rule.hpp>

namespace draftproof {

template <class L>
class LayeredPath {
 public:
  using Scalar = typename L::Scalar;

  /// The first path of the tree under the target that `carry` leaves.
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
    return ratio_[i] / mass_[i] * steps_.laws(i).residual_mass(corrected(i));
  }
  /// Weights (R p_s - q)+ after i tokens, up to a factor.
  DRAFTPROOF_DEVICE auto correction(int i) const { return steps_.laws(i).residual(corrected(i)); }
  /// Weights of p_s after i tokens, up to a factor.
  DRAFTPROOF_DEVICE auto weights(int i) const { return steps_.laws(i).residual(b_[i]); }
  /// Weights of p_s after the whole path, up to a factor.
  DRAFTPROOF_DEVICE auto bonus() const { return weights(length()); }

  /// The layers of the next iteration after `accepted` tokens of the path and then `extra`.
  DRAFTPROOF_DEVICE static StateAt<L> after(const DraftedTree<L>& at, const StateAt<L>& carry, int accepted,
                                            Token extra) {
    const L& last = PlainSteps<L>(at).laws(accepted);
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
    const L& laws = steps_.laws(i);
    ratio_[i] = running_;
    if (!(running_ > laws.zero())) return;
    Scalar b = laws.zero(), mass = laws.one();
    for (PendingResidual<Scalar>& layer : layers_) {
      if (layer.remaining <= i) continue;
      const Scalar before = layer.ratio;
      if (x != no_token) layer.ratio *= share(laws, b, mass, x);
      b += mass / before;
      mass = laws.residual_mass(b);
      if (!(mass > laws.zero())) {
        ratio_[i] = running_ = laws.zero();
        return;
      }
    }
    b_[i] = b;
    mass_[i] = mass;
    if (x == no_token) return;
    const Scalar next = share(laws, b, mass, x);
    running_ = next > laws.zero() ? Scalar(running_ * next) : laws.zero();
  }

  /// Probability of x under the target over that under the proposal.
  DRAFTPROOF_DEVICE static Scalar share(const L& laws, const Scalar& b, const Scalar& mass, Token x) {
    const Scalar wanted = laws.target(x) - b * laws.proposal(x);
    return wanted > laws.zero() ? Scalar(wanted / (mass * laws.proposal(x))) : laws.zero();
  }

  PlainSteps<L> steps_;
  StateAt<L> layers_;
  Scalar running_;
  Scalar b_[max_path_length + 1], mass_[max_path_length + 1], ratio_[max_path_length + 1];
};

}  // namespace draftproof
