#include <draftproof/properties/paths/path_scripted.hpp>

#include <algorithm>

namespace draftproof {

DoubleContexts double_contexts(const PathInstance& instance) {
  std::vector<Rows<double>> all;
  std::vector<Tokens> level{{}};
  for (int length = 0;; ++length) {
    std::vector<Tokens> below;
    for (const Tokens& prefix : level) {
      const PrefixWeights& weights = instance.after(prefix);
      all.emplace_back(double_row(weights.target), double_row(weights.proposal));
      for (Token x = 0; length < instance.listed_length() && x < instance.vocabulary(); ++x) {
        below.push_back(prefix);
        below.back().push_back(x);
      }
    }
    if (length == instance.listed_length()) return DoubleContexts(std::move(all));
    level = std::move(below);
  }
}

PlayedPassage play(PathPlayable& decider, const DraftTree& tree, const Carry<double>& carry, Words& words) {
  Scripted random{WordsFrom(words)};
  PlayedPassage played{decider.decide(tree, carry, random), {}};
  played.draws = random.draws();
  return played;
}

DraftTree drafted(const AnyTreeDrafter& drafter, const DoubleContexts& contexts, const TreeShape& shape, Words& words,
                  int context) {
  Scripted random{WordsFrom(words)};
  DraftTree tree(context);
  drafter.draw(contexts, shape, random, tree);
  return tree;
}

namespace {

Tokens tokens_to(const DraftTree& tree, int node) {
  Tokens tokens;
  for (int u = node; u > DraftTree::root; u = tree.parent(u)) tokens.push_back(tree.token(u));
  std::reverse(tokens.begin(), tokens.end());
  return tokens;
}

}  // namespace

std::string passage_text(const Passage& passage, const DraftTree& tree) {
  const bool known = passage.node >= 0 && passage.node < tree.size();
  return (known ? prefix_text(tokens_to(tree, passage.node)) : "node " + std::to_string(passage.node)) + " then " +
         std::to_string(passage.extra.token);
}

std::optional<std::string> support_fault(const Passage& passage, const DraftTree& tree,
                                         const DoubleContexts& contexts) {
  const auto says = [&](const std::string& what) { return "emits " + passage_text(passage, tree) + ": " + what; };
  if (passage.node < 0 || passage.node >= tree.size()) return says("no node of the tree");
  const Token extra = passage.extra.token;
  if (extra == no_token) return says("draws from weights that are all zero");
  if (extra < 0 || extra >= contexts.vocabulary()) return says("no token");
  if (!(contexts.laws(tree.context(passage.node)).target(extra) > 0)) return says("its last token has p = 0");
  for (int u = passage.node; u > DraftTree::root; u = tree.parent(u))
    if (!(contexts.laws(tree.context(tree.parent(u))).target(tree.token(u)) > 0))
      return says("accepts " + std::to_string(tree.token(u)) + ", which has p = 0");
  return std::nullopt;
}

std::optional<std::string> count_fault(const Passage& passage, const DraftTree& tree) {
  if (passage.node < 0 || passage.node >= tree.size()) return "ends at no node of the tree";
  const int emitted = tree.depth(passage.node), counted = passage.extra.accepted;
  if (counted == none_accepted || counted == emitted) return std::nullopt;
  return "counts " + std::to_string(counted) + " accepted tokens and emits " + passage_text(passage, tree);
}

std::optional<std::string> difference(const PlayedPassage& a, const PlayedPassage& b, const DraftTree& tree) {
  if (a.passage.node == b.passage.node && same(a.passage.extra, b.passage.extra) &&
      a.draws.size() == b.draws.size() && same_draws(a.draws, b.draws, a.draws.size()))
    return std::nullopt;
  return passage_text(a.passage, tree) + " by " + std::to_string(a.draws.size()) + " draws, and " +
         passage_text(b.passage, tree) + " by " + std::to_string(b.draws.size());
}

}  // namespace draftproof
