// With one path a scheme that claims it is token verification, or block verification: event by event, given the tree.
#pragma once

#include <draftproof/properties/paths/path_property.hpp>
#include <draftproof/properties/subjects/path_erased.hpp>
#include <draftproof/verifiers/paths/block.hpp>
#include <draftproof/verifiers/paths/token_path.hpp>

namespace draftproof::laws::paths {

struct OnePath {
  static constexpr std::string_view name = "one_path";
  static constexpr std::string_view about = "where claimed: K = 1 is token verification, or block verification";
  static constexpr int every = 4;

  static bool applies(const AnyPathVerifier& verifier, const AnyTreeDrafter& drafter) {
    const Claims& claims = verifier.info().claims;
    return (claims.one_path_is_token_path || claims.one_path_is_block) && !drafter.info().fixed;
  }
  static Answer check(PathExamination& at) {
    PathInstance one = at.instance();
    one.shape.drafts = 1;
    one.shape.branching.clear();
    const auto contexts = one.contexts();
    if (at.verifier().info().claims.one_path_is_block) return compare<verifiers::paths::Block>(at, one, contexts);
    return compare<verifiers::paths::TokenPath>(at, one, contexts);
  }

 private:
  template <class Reference>
  static Answer compare(PathExamination& at, const PathInstance& one,
                        const PrefixContexts<PathExamination::Laws>& contexts) {
    const auto decider = at.verifier().prove_on(contexts, one.shape);
    PathDeciderOf<Reference, PathExamination::Laws, Explorer<Rational>> reference({}, contexts, one.shape);
    bool complete = true;
    std::string evidence;
    const auto on_tree = [&](const DraftTree& tree, const Rational&) {
      if (!complete || !evidence.empty()) return;
      const auto got = at.passages(*decider, tree), wanted = at.passages(reference, tree);
      complete = got && wanted;
      if (complete && *got != *wanted)
        evidence = "given the path " + tree_text(tree) + ", emits " + to_text(tree, *got) + ", " +
                   std::string(Reference::info.name) + " " + to_text(tree, *wanted);
    };
    const bool all = at.each_tree(contexts, one.shape, on_tree);
    if (!evidence.empty()) return Answer::violated(evidence);
    return complete && all ? Answer::held() : Answer::undecided("the tree was not walked whole");
  }

  /// "[0]+1: 1/3, []+0: 2/3".
  static std::string to_text(const DraftTree& tree, const Passages& passages) {
    std::string text;
    for (const auto& [passage, probability] : passages)
      text += (text.empty() ? "" : ", ") + prefix_text(path_to(tree, passage.first)) + "+" +
              std::to_string(passage.second) + ": " + draftproof::to_text(probability);
    return text;
  }
};

}  // namespace draftproof::laws::paths
