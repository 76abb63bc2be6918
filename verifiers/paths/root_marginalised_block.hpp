// Root-marginalised block verification: block verification of one drawn suffix under the mixture of the targets after
// several fixed first tokens, which share the suffix.
//
//   S            first tokens             fixed; p(S) is their mass under the target
//   z            the shared suffix        drawn from the rows of q below the first of them
//   alpha_i(a)   weight of first token a after i tokens of z: p(a) at first, then times p(z_i | a z_<i), up to a factor
//   M_i          mixture of p(.|a z_1 .. z_i) with weights alpha_i
//   correction   b from (c M - q)+, or the bonus from M; then a with weights alpha_i(a) p(b | a z_1 .. z_i)
//
// With probability 1 - p(S) no first token is accepted, and the token is drawn from p off S. Otherwise a first token is
// accepted, with the prefix of z that block verification (block_rule.hpp) accepts for M and q.
//
// Cost: K rows for each entry of a mixture; one pass for each residual mass, one draw.
// Source: an unreviewed note; proved here by enumeration (tests/properties/paths/hybrid_test.cpp).
// Correctness: given that the target's text starts with a token a of S, the joint probability of a and of z after it is
// p(a) / p(S) times the target's probability of z after a. The marginal of z is the chain with rows M, for which the
// block rule is exact; the conditional distribution of a given the emitted tokens after it is alpha.
#pragma once

#include <draftproof/sim/info.hpp>
#include <draftproof/verifiers/paths/block/block_rule.hpp>

namespace draftproof {

/// The shared suffix of the children of the root as a chain with rows M and q. Requires that the root has a child, and
/// that all children of the root have the same path below them.
template <class L>
class MarginalSteps {
 public:
  using Scalar = typename L::Scalar;

  explicit MarginalSteps(const DraftedTree<L>& at) : at_{at}, zero_{at.distributions(0).zero()} {
    for (const int child : at.tree().children(DraftTree::root)) {
      nodes_[roots_][0] = child;
      alpha_[roots_][0] = at.distributions(DraftTree::root).target(at.tree().token(child));
      ++roots_;
    }
    for (; !at.tree().leaf(nodes_[0][length_]); ++length_) {
      total_[length_] = sum_of_alpha(length_);
      for (int k = 0; k < roots_; ++k) {
        const int child = *at.tree().children(nodes_[k][length_]).begin();
        nodes_[k][length_ + 1] = child;
        // Divides weights by their total, so that products of long suffixes do not underflow.
        const Scalar all = total_[length_];
        alpha_[k][length_ + 1] =
            all > zero_ ? Scalar(alpha_[k][length_] * row(k, length_).target(at.tree().token(child)) / all) : zero_;
      }
    }
    total_[length_] = sum_of_alpha(length_);
  }

  int length() const { return length_; }
  int roots() const { return roots_; }
  int node(int k, int i) const { return nodes_[k][i]; }
  const L& distributions(int i) const { return row(0, i); }
  Scalar zero() const { return zero_; }
  Scalar one() const { return distributions(0).one(); }
  /// p(S)
  Scalar first_mass() const { return total_[0]; }

  const Scalar& alpha(int k, int i) const { return alpha_[k][i]; }
  /// alpha_i(k) p(x | k z_1 .. z_i); the sum over k is the total of the weights times M_i(x).
  Scalar joint(int k, int i, Token x) const {
    return alpha_[k][i] > zero_ ? Scalar(alpha_[k][i] * row(k, i).target(x)) : zero_;
  }
  Scalar mixture(int i, Token x) const {
    Scalar sum = zero_;
    for (int k = 0; k < roots_; ++k) sum += joint(k, i, x);
    return total_[i] > zero_ ? Scalar(sum / total_[i]) : zero_;
  }
  Scalar target(int i) const { return mixture(i, token(i)); }
  Scalar proposal(int i) const { return distributions(i).proposal(token(i)); }
  /// (c M_i - q)+ as a function of the token.
  auto left(int i, const Scalar& c) const {
    return [this, i, c](Token x) {
      const Scalar weight = c * mixture(i, x) - distributions(i).proposal(x);
      return weight > zero_ ? weight : zero_;
    };
  }

 private:
  const L& row(int k, int i) const { return at_.distributions(nodes_[k][i]); }
  Token token(int i) const { return at_.tree().token(nodes_[0][i + 1]); }
  Scalar sum_of_alpha(int i) const {
    Scalar sum = zero_;
    for (int k = 0; k < roots_; ++k) sum += alpha_[k][i];
    return sum;
  }

  const DraftedTree<L>& at_;
  Scalar zero_;
  int roots_ = 0, length_ = 0;
  int nodes_[max_drafts][max_path_length + 1];
  Scalar alpha_[max_drafts][max_path_length + 1], total_[max_path_length + 1];
};

/// The rule. `by_correction`: whether the first token is drawn given the token after the accepted tokens of z, which
/// losslessness requires; false in a mutant.
template <bool by_correction>
struct RootMarginalised {
  template <class L, class R>
  StepOutput verify(const DraftedTree<L>& at, R& random) const {
    using Scalar = typename L::Scalar;
    if (at.tree().leaf(DraftTree::root)) return emit_off_roots(at, random);
    const MarginalSteps<L> steps(at);
    const Scalar zero = steps.zero(), one = steps.one(), first = steps.first_mass();
    if (!(first > zero) || !random.flip(first, one)) return emit_off_roots(at, random);
    Scalar clipped[max_path_length + 1];
    clip_products(steps, clipped);
    int i = steps.length();
    if (i > 0 && !random.flip(clipped[i], one))
      for (--i; i > 0; --i) {
        if (!(clipped[i] > zero)) continue;
        const Scalar excess = steps.distributions(i).sum(steps.left(i, clipped[i]));
        if (!(clipped[i] < one) || random.flip(excess, Scalar(excess + (one - clipped[i])))) break;
      }
    const auto mixture = [&steps, i](Token x) { return steps.mixture(i, x); };
    Token b = no_token;
    if (i < steps.length()) b = random.pick(steps.distributions(i).weights(steps.left(i, clipped[i])));
    // All tokens of z are accepted, or rounding left no residual.
    if (b == no_token) b = random.pick(steps.distributions(i).weights(mixture));
    return {steps.node(chosen(steps, i, b, random), i), {b, none_accepted}};
  }

 private:
  template <class L, class R>
  static StepOutput emit_off_roots(const DraftedTree<L>& at, R& random) {
    const L& distributions = at.distributions(DraftTree::root);
    const auto off = [&](Token x) -> typename L::Scalar {
      return at.tree().find(DraftTree::root, x) < 0 ? typename L::Scalar(distributions.target(x))
                                                    : distributions.zero();
    };
    return {DraftTree::root, last_draw(distributions, random, distributions.weights(off))};
  }
  template <class L, class R>
  static int chosen(const MarginalSteps<L>& steps, int i, Token b, R& random) {
    using Scalar = typename L::Scalar;
    const auto weight = [&steps, i, b](int k) { return by_correction ? steps.joint(k, i, b) : steps.alpha(k, i); };
    Scalar left = steps.zero();
    for (int k = 0; k < steps.roots(); ++k) left += weight(k);
    int last = 0;
    for (int k = 0; k < steps.roots(); ++k) {
      const Scalar w = weight(k);
      if (!(w > steps.zero())) continue;
      last = k;
      if (!(w < left) || random.flip(w, left)) return k;
      left -= w;
    }
    return last;
  }
};

}  // namespace draftproof

namespace draftproof::verifiers::paths {

struct RootMarginalisedBlock : RootMarginalised<true> {
  static constexpr Info info{.name = "root_marginalised_block",
                             .summary = "block verification of one suffix that several fixed first tokens share",
                             .source = "an unreviewed note; proved here",
                             .drafts = DraftSamplings{"shared_suffix"},
                             .unsupported = {.device = "not written for kernels"},
                             .ranks_tokens = true};
};

}  // namespace draftproof::verifiers::paths
