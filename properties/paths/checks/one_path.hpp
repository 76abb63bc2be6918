// With one path a scheme that claims it is token verification, or block verification: event by event, given the tree.
#pragma once

#include <draftproof/properties/paths/path_analysis.hpp>
#include <draftproof/properties/subjects/path_erased.hpp>
#include <draftproof/verifiers/paths/block.hpp>
#include <draftproof/verifiers/paths/token_path.hpp>

namespace draftproof::checks::paths {

struct OnePath {
  static constexpr std::string_view name = "one_path";
  static constexpr std::string_view about = "where claimed: K = 1 is token verification, or block verification";
  static constexpr int every = 4;

  static bool applies(const AnyPathVerifier& verifier, const AnyTreeDrafter& drafter) {
    const Claims& claims = verifier.info().claims;
    return (claims.one_path_is_token_path || claims.one_path_is_block) && !drafter.info().fixed;
  }
  static Answer check(PathInstanceAnalysis& at) {
    PathInstance one = at.instance();
    one.shape.drafts = 1;
    one.shape.branching.clear();
    const auto conditionals = one.conditionals();
    if (at.verifier().info().claims.one_path_is_block) return compare<verifiers::paths::Block>(at, one, conditionals);
    return compare<verifiers::paths::TokenPath>(at, one, conditionals);
  }

 private:
  template <class Reference>
  static Answer compare(PathInstanceAnalysis& at, const PathInstance& one,
                        const PrefixTable<PathInstanceAnalysis::Laws>& conditionals) {
    const auto decider = at.verifier().prove_on(conditionals, one.shape);
    PathDeciderOf<Reference, PathInstanceAnalysis::Laws, Explorer<Rational>> reference({}, conditionals, one.shape);
    bool complete = true;
    std::string evidence;
    const auto on_tree = [&](const DraftTree& tree, const Rational&) {
      if (!complete || !evidence.empty()) return;
      const auto got = at.outputs(*decider, tree), wanted = at.outputs(reference, tree);
      complete = got && wanted;
      if (complete && *got != *wanted)
        evidence = "given the path " + tree_text(tree) + ", emits " + to_text(tree, *got) + ", " +
                   std::string(Reference::info.name) + " " + to_text(tree, *wanted);
    };
    const bool all = at.each_tree(conditionals, one.shape, on_tree);
    if (!evidence.empty()) return Answer::violated(evidence);
    return complete && all ? Answer::held() : Answer::undecided("the tree was not walked whole");
  }

  /// "[0]+1: 1/3, []+0: 2/3".
  static std::string to_text(const DraftTree& tree, const Outputs& steps) {
    std::string text;
    for (const auto& [step, probability] : steps)
      text += (text.empty() ? "" : ", ") + prefix_text(path_to(tree, step.first)) + "+" +
              std::to_string(step.second) + ": " + draftproof::to_text(probability);
    return text;
  }
};

}  // namespace draftproof::checks::paths
