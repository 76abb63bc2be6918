#include <draftproof/properties/paths/path_scripted.hpp>

#include <algorithm>

namespace draftproof {

DoubleContexts double_distributions(const PathInstance& instance) {
  return double_distributions(instance, [](const PrefixWeights& weights) {
    return Rows<double>(double_row(weights.target), double_row(weights.proposal));
  });
}

DoubleContexts double_distributions(const PathInstance& instance,
                                    const std::function<Rows<double>(const PrefixWeights&)>& rows_of) {
  std::vector<Rows<double>> all;
  for (const Tokens& prefix : prefixes_up_to(instance.vocabulary(), instance.listed_length()))
    all.push_back(rows_of(instance.after(prefix)));
  return DoubleContexts(std::move(all));
}

ScriptedStep run_scripted(PathPlayable& decider, const DraftTree& tree, const VerifierState<double>& carry,
                          Words& words) {
  Scripted random{WordsFrom(words)};
  ScriptedStep played{decider.decide(tree, carry, random), {}};
  played.draws = random.draws();
  return played;
}

DraftTree drafted(const AnyTreeDrafter& drafter, const DoubleContexts& conditionals, const TreeShape& shape,
                  Words& words, int context) {
  Scripted random{WordsFrom(words)};
  DraftTree tree(context);
  drafter.draw(conditionals, shape, random, tree);
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

std::string step_text(const StepOutput& step, const DraftTree& tree) {
  const bool known = step.node >= 0 && step.node < tree.size();
  return (known ? prefix_text(tokens_to(tree, step.node)) : "node " + std::to_string(step.node)) + " then " +
         std::to_string(step.extra.token);
}

std::optional<std::string> support_fault(const StepOutput& step, const DraftTree& tree,
                                         const DoubleContexts& conditionals) {
  const auto says = [&](const std::string& what) { return "emits " + step_text(step, tree) + ": " + what; };
  if (step.node < 0 || step.node >= tree.size()) return says("not a node of the tree");
  const Token extra = step.extra.token;
  if (extra == no_token) return says("draws from weights that are all zero");
  if (extra < 0 || extra >= conditionals.vocabulary()) return says("not in the vocabulary");
  if (!(conditionals.distributions(tree.context(step.node)).target(extra) > 0))
    return says("its last token has p = 0");
  for (int u = step.node; u > DraftTree::root; u = tree.parent(u))
    if (!(conditionals.distributions(tree.context(tree.parent(u))).target(tree.token(u)) > 0))
      return says("accepts " + std::to_string(tree.token(u)) + ", which has p = 0");
  return std::nullopt;
}

std::optional<std::string> count_fault(const StepOutput& step, const DraftTree& tree) {
  if (step.node < 0 || step.node >= tree.size()) return "ends at a node that is not in the tree";
  const int emitted = tree.depth(step.node), counted = step.extra.accepted;
  if (counted == none_accepted || counted == emitted) return std::nullopt;
  return "counts " + std::to_string(counted) + " accepted tokens and emits " + step_text(step, tree);
}

}  // namespace draftproof
