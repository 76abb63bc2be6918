// The tree is drawn as its drafter declares, for any verifier. A verifier that is exact for the declared law is not exact
// for another; in most public bugs the q of the tests is not the q sampled.
//
//   repeats    at node u, draws x_1, x_2, .. have probability q(x_1|u) q(x_2|u) ..
//   distinct   the same over what is left: q(x_i|u) / (1 - q(x_1|u) - .. - q(x_(i-1)|u))
//   fixed      one tree, with probability 1
//
// A tree with its draws in order is drawn in one way only, so its probability is the product over its nodes. How many
// draws a node gets is the drafter's affair, but may not depend on their values: what is drawn sums to 1.
#pragma once

#include <draftproof/properties/paths/path_analysis.hpp>

namespace draftproof::checks::paths {

struct DeclaredLaw {
  static constexpr std::string_view name = "declared_law";
  static constexpr std::string_view about = "the tree has the law its drafter declares";
  static constexpr int every = 4;

  static bool applies(const AnyPathVerifier&, const AnyTreeDrafter&) { return true; }
  static Answer check(PathInstanceAnalysis& at) {
    const auto conditionals = at.instance().conditionals();
    const TreeDrafterInfo& info = at.drafter().info();
    Rational mass = 0;
    std::string evidence;
    const auto on_tree = [&](const DraftTree& tree, const Rational& probability) {
      mass += probability;
      if (!evidence.empty()) return;
      const Rational declared = info.fixed ? Rational(1) : declared_probability(info, conditionals, tree);
      if (probability != declared)
        evidence = "draws the tree " + tree_text(tree) + " with probability " + to_text(probability) + ", declared " +
                   to_text(declared);
    };
    const bool all = at.each_tree(conditionals, at.instance().shape, on_tree);
    if (!evidence.empty()) return Answer::violated(evidence);
    if (!all) return Answer::undecided("more than " + std::to_string(at.limits().leaves) + " trees");
    return Answer::held_if(mass == 1, [&] { return "draws trees with probability " + to_text(mass) + " in all"; });
  }

 private:
  static Rational declared_probability(const TreeDrafterInfo& info,
                                       const ConditionalModel<PathInstanceAnalysis::Laws>& conditionals,
                                       const DraftTree& tree) {
    Rational probability = 1;
    for (int u = 0; u < tree.size(); ++u) {
      const auto& laws = conditionals.laws(tree.context(u));
      Rational left = 1;
      for (const int child : tree.draws(u)) {
        const Rational& q = laws.proposal(tree.token(child));
        if (left <= 0) return 0;  // nothing is left to draw
        probability *= q / left;
        if (info.distinct_siblings) left -= q;
      }
    }
    return probability;
  }
};

}  // namespace draftproof::checks::paths
