// No lossless verifier accepts a prefix more often than this bound, which needs no linear program.
//
//   a(x)      probability that x is accepted, with or without more; E[tau] is the sum over x != []
//   drawn(x)  probability that x is in the tree
//   bound     u([]) = 1, u(xy) = min(drawn(xy), u(x) p(y|x));    with state: min(drawn(xy), p(xy))
//
// Proof: a(xy) <= drawn(xy), for only drafted tokens are accepted; and a(xy) <= Pr[e begins with xy], which is
// Pr[e goes beyond x] p(y|x) <= a(x) p(y|x), so that a <= u by induction. With state an iteration owes the target
// nothing of its own, but xy is emitted where it is accepted, and the process emits it with probability p(xy).
#pragma once

#include <draftproof/properties/paths/path_analysis.hpp>

namespace draftproof::checks::paths {

struct TauBounds {
  static constexpr std::string_view name = "tau_bounds";
  static constexpr std::string_view about =
      "no prefix is accepted more often than it is drafted, or than the target allows after its own prefix";
  static constexpr int every = 1;

  static bool applies(const AnyPathVerifier& verifier, const AnyTreeDrafter&) {
    return verifier.info().promise == Promise::lossless;
  }
  static Answer check(PathInstanceAnalysis& at) {
    const auto& law = at.law();
    const auto conditionals = at.instance().conditionals();
    std::map<Tokens, Rational, ShorterFirst> drawn, accepted, bound;
    const auto on_tree = [&](const DraftTree& tree, const Rational& probability) {
      for (int u = DraftTree::root + 1; u < tree.size(); ++u) drawn[path_to(tree, u)] += probability;
    };
    if (!at.each_tree(conditionals, at.instance().shape, on_tree) || !law.complete)
      return Answer::undecided("the tree was not walked whole");
    for (const auto& [step, probability] : law.emitted)
      for (std::size_t i = 1; i < step.size(); ++i)  // all but the extra token
        accepted[Tokens(step.begin(), step.begin() + static_cast<std::ptrdiff_t>(i))] += probability;
    bound[{}] = 1;
    for (const auto& [prefix, probability] : drawn) {
      const Tokens before(prefix.begin(), prefix.end() - 1);
      const Rational allowed = bound.at(before) * target(conditionals, before, prefix.back());
      // With state what the target allows is not lowered by what was drafted.
      bound[prefix] = at.verifier().stateful() ? allowed : std::min(probability, allowed);
      if (accepted[prefix] > bound[prefix])
        return Answer::violated("accepts " + prefix_text(prefix) + " with probability " + to_text(accepted[prefix]) +
                                ", at most " + to_text(bound[prefix]) + " is possible");
    }
    return Answer::held();
  }

 private:
  static Rational target(const PrefixTable<Rows<Rational>>& conditionals, const Tokens& prefix, Token next) {
    int context = 0;
    for (const Token x : prefix) context = conditionals.next(context, x);
    return conditionals.laws(context).target(next);
  }
};

}  // namespace draftproof::checks::paths
