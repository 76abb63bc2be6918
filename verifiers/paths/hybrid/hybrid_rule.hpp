// Verification of hybrid trees, whose nodes have fixed and drawn children: the drawn children of a node are tested,
// then its fixed children, then the node itself. A child is tested after all nodes of the subtree below it.
//
//   m           rule.row(..)    distribution of the tested drawn child: the row from which the children were drawn, or
//                               the distribution of a child that was chosen among them; 0 on the fixed tokens
//   b, S        node.b, mass    the target after u is (p - b m)+ / S, where S is the sum; b = 0, S = 1 at first
//   E           node.excess     sum of (p - b m)+ over the tokens other than the fixed children of u
//   n           node.unseen     m-mass outside the refused drawn children
//   w           node.weight     probability that u or a node below it is accepted, given the refusals so far; 1 at the
//                               root
//   drawn c     is entered with weight min(1, w n (p(c) - b m(c)) / (S m(c))); if refused,
//               b' = b + S / (w n), w' = w S' / (w S' + (1 - w) S), n' = n - m(c)
//   fixed k     is entered with weight w p(k) / ((1 - w) S + w E + w p of k and of the fixed children after it)
//   u itself    w E / ((1 - w) S + w E); the token after u then has weights (p - b m)+ off the fixed children
//
// Cost: one pass over the vocabulary for each refused drawn child, one for a node with fixed children only; one draw.
// On rows that are not prepared one pass more for the most probable tokens of a node.
// Source: UniVer, arXiv:2605.04543, with one drawn child. Its P_s is the weight above at b = 0; its P_k =
// (w p(k) - m(k))+ (1 - P_s) / Z is the weight above times the probability that all tests before k are refused. The
// form above does not need the difference of 1 and a sum of P. Several drawn children are tested as by traversal
// verification, arXiv:2505.12398.
// Correctness: the tests of drawn children are exact for draws of m without replacement, in draw order
// (docs/paths.md, traversal), and for one child with distribution m. They leave a node with target (p - b m)+ / S and
// weight w, which is verified as a node with fixed children only: child k gets w p(k) / S and u the rest. Proved in
// fractions (tests/properties/paths/hybrid_test.cpp).
#pragma once

#include <utility>

#include <draftproof/sim/trees/conditional_model.hpp>
#include <draftproof/sim/trees/fixed_tokens.hpp>
#include <draftproof/verifiers/rejection/residual_chain.hpp>

namespace draftproof {

/// The children of a node of a hybrid tree: fixed children in the order of probability, drawn children in draw order.
struct HybridChildren {
  int fixed[max_drafts], drawn[max_drafts];
  int fixed_count = 0, drawn_count = 0;

  template <class L>
  HybridChildren(const DraftedTree<L>& at, int u, const FixedTokens& tokens) {
    for (const int child : at.tree().children(u))
      if (tokens.contains(at.tree().token(child)))
        fixed[fixed_count++] = child;
      else
        drawn[drawn_count++] = child;
  }
};

/// Switches of the rule; mutants have other values. A `Rule` of HybridRun is derived from it and has these members:
///   rule.select(at, u, tokens, children, random)   moves the drawn children to test to the front of children.drawn
///                                                  and returns their number; called if there are any
///   rule.row(at, u, tokens, children)              m, as a function of a token that is not fixed
///   rule.unseen(at, u, tokens, children, refused)  m-mass outside the first `refused` drawn children, if `several`
struct HybridTests {
  static constexpr bool several = false;      ///< more than one drawn child of a node can be tested
  static constexpr bool drawn_first = true;   ///< the drawn children are tested before the fixed ones
  static constexpr bool cascade = false;      ///< a fixed child is tested by w p(k) alone
  static constexpr bool off_children = true;  ///< the token after a node is not a fixed child of it
};

/// One step on a hybrid tree.
template <class L, class R, class Rule>
class HybridRun {
 public:
  using Scalar = typename L::Scalar;

  /// `fixed` is the number of fixed children in the shape of the tree.
  HybridRun(const DraftedTree<L>& at, int fixed, Rule& rule, R& random)
      : at_{at},
        fixed_{fixed},
        rule_{rule},
        random_{random},
        zero_{at.distributions(DraftTree::root).zero()},
        one_{at.distributions(DraftTree::root).one()} {}

  /// Makes one step; returns the accepted node and the extra token.
  StepOutput run() {
    enter(DraftTree::root, one_);
    for (;;) {
      Node& u = path_.back();
      const bool drawn_left = u.drawn < u.selected, fixed_left = u.fixed < u.children.fixed_count;
      if (drawn_left && (Rule::drawn_first || !fixed_left)) {
        test_drawn(u);
      } else if (fixed_left) {
        test_fixed(u);
      } else {
        // `accepted` and `all` are 0 only if a fixed child tested before had weight 1, which happens in a mutant's rule
        // or by rounding.
        const Scalar accepted = u.weight * u.excess, all = (one_ - u.weight) * u.mass + accepted;
        if (u.node == DraftTree::root || (all > zero_ && random_.flip(accepted, all))) return end(u);
        path_.pop_back();
        if (Node& parent = path_.back(); parent.testing_drawn) refuse_drawn(parent);
      }
    }
  }

 private:
  struct Node {
    int node;
    Scalar weight, b, mass, excess, unseen;
    FixedTokens tokens;
    HybridChildren children;
    int selected = 0;          ///< number of drawn children to test
    int drawn = 0, fixed = 0;  ///< numbers of children tested so far
    bool testing_drawn = false;
  };

  void enter(int u, const Scalar& weight) {
    const FixedTokens tokens(at_.distributions(u), fixed_);
    path_.push_back({u, weight, zero_, one_, one_, one_, tokens, HybridChildren(at_, u, tokens)});
    Node& node = path_.back();
    if (node.children.drawn_count > 0) node.selected = rule_.select(at_, u, node.tokens, node.children, random_);
    if (node.children.fixed_count > 0 && (node.selected == 0 || !Rule::drawn_first)) node.excess = excess_at(node);
  }

  Token token(int child) const { return at_.tree().token(child); }
  auto row(Node& u) const { return rule_.row(at_, u.node, u.tokens, u.children); }

  void test_drawn(Node& u) {
    const int child = u.children.drawn[u.drawn];
    const Scalar m = row(u)(token(child));
    const Scalar wanted = at_.distributions(u.node).target(token(child)) - u.b * m;
    u.testing_drawn = true;
    if (!(u.weight > zero_) || !(wanted > zero_)) return refuse_drawn(u);
    const Scalar num = u.weight * u.unseen * wanted, den = u.mass * m;
    enter(child, num < den ? Scalar(num / den) : one_);
  }

  void refuse_drawn(Node& u) {
    u.testing_drawn = false;
    ++u.drawn;
    if (!(u.weight > zero_)) return;
    const Scalar b = u.b, mass = u.mass;
    u.b += mass / (u.weight * u.unseen);
    const Scalar excess = excess_at(u), left = excess + fixed_mass(u, 0);
    if (!(left > zero_)) {
      // No mass of the target after u is left, so u is refused with certainty: its weight becomes 0. At weight 1 the
      // mass is 0 only by rounding, and weight, b and S stay as they were.
      u.b = b;
      if (u.weight < one_) u.weight = zero_;
      return;
    }
    u.excess = excess;
    u.mass = left;
    const Scalar served = u.weight * left;
    u.weight = served / (served + (one_ - u.weight) * mass);
    if constexpr (Rule::several)
      if (u.drawn < u.selected) u.unseen = rule_.unseen(at_, u.node, u.tokens, u.children, u.drawn);
  }

  void test_fixed(Node& u) {
    Scalar left = (one_ - u.weight) * u.mass + u.weight * (u.excess + fixed_mass(u, u.fixed));
    if constexpr (Rule::cascade) left = one_;
    const int child = u.children.fixed[u.fixed++];
    const Scalar num = u.weight * at_.distributions(u.node).target(token(child));
    if (num > zero_) enter(child, num < left ? Scalar(num / left) : one_);
  }

  /// p of the fixed children from number `first` on.
  Scalar fixed_mass(const Node& u, int first) const {
    Scalar sum = zero_;
    for (int k = first; k < u.children.fixed_count; ++k)
      sum += at_.distributions(u.node).target(token(u.children.fixed[k]));
    return sum;
  }

  /// Calls `use` with (p - b m)+ as a function of the token, which is 0 for fixed children.
  template <class Use>
  auto with_left(Node& u, Use use) const {
    const L& distributions = at_.distributions(u.node);
    const auto is_child = [&u, this](Token x) {
      for (int k = 0; k < u.children.fixed_count && Rule::off_children; ++k)
        if (token(u.children.fixed[k]) == x) return true;
      return false;
    };
    if (!(u.b > zero_))
      return use([&](Token x) -> Scalar { return is_child(x) ? zero_ : Scalar(distributions.target(x)); });
    return use([&, m = row(u)](Token x) -> Scalar {
      if (is_child(x)) return zero_;
      if (u.tokens.contains(x)) return distributions.target(x);  // a fixed token that was not drafted is never drawn
      const Scalar left = distributions.target(x) - u.b * m(x);
      return left > zero_ ? left : zero_;
    });
  }

  Scalar excess_at(Node& u) const {
    return with_left(u, [&](const auto& left) { return Scalar(at_.distributions(u.node).sum(left)); });
  }

  StepOutput end(Node& u) const {
    const L& distributions = at_.distributions(u.node);
    // The wrong tests of a mutant can leave nothing to emit; the token is then drawn from p.
    if constexpr (Rule::cascade || !Rule::drawn_first)
      if (!(u.excess > zero_)) return {u.node, random_.emit(distributions.residual(zero_))};
    return {u.node, with_left(u, [&](const auto& left) {
              return last_draw(distributions, random_, distributions.weights(left));
            })};
  }

  const DraftedTree<L>& at_;
  int fixed_;
  Rule& rule_;
  R& random_;
  Scalar zero_, one_;
  ListAt<L, Node, max_path_length + 1> path_;  ///< from the root to the present node
};

/// Tests the first drawn children, at most `most`; the row m is q without the fixed tokens.
template <int most>
struct DrawnInOrder : HybridTests {
  static constexpr bool several = most > 1;

  template <class L, class R>
  int select(const DraftedTree<L>&, int, const FixedTokens&, const HybridChildren& children, R&) const {
    return children.drawn_count < most ? children.drawn_count : most;
  }
  template <class L>
  auto row(const DraftedTree<L>& at, int u, const FixedTokens& tokens, const HybridChildren&) const {
    using Scalar = typename L::Scalar;
    const L& distributions = at.distributions(u);
    return [&distributions, rest = Scalar(distributions.mass_without(0, tokens.tokens, tokens.count))](Token x) {
      return Scalar(distributions.proposal(x) / rest);
    };
  }
  template <class L>
  auto unseen(const DraftedTree<L>& at, int u, FixedTokens tokens, const HybridChildren& children,
              int refused) const {
    const L& distributions = at.distributions(u);
    const auto rest = distributions.mass_without(0, tokens.tokens, tokens.count);
    for (int k = 0; k < refused && tokens.count < max_drafts; ++k)
      tokens.tokens[tokens.count++] = at.tree().token(children.drawn[k]);
    return typename L::Scalar(distributions.mass_without(0, tokens.tokens, tokens.count) / rest);
  }
};

/// The verifier of hybrid trees by a rule that keeps no data between steps.
template <class Rule>
struct HybridVerifier {
  struct Plan {
    int fixed;
  };
  template <class L>
  Plan prepare(const ConditionalModel<L>&, const TreeShape& shape) const {
    return {shape.fixed};
  }
  template <class L, class R>
  StepOutput verify(const DraftedTree<L>& at, const Plan& plan, R& random) const {
    Rule rule;
    return HybridRun<L, R, Rule>(at, plan.fixed, rule, random).run();
  }
};

}  // namespace draftproof
