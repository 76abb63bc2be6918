// Random inputs for registered verifiers: a small model in double, with drafts of a sampling that the verifier
// supports.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <draftproof/adapters/built_in/built_in_verifier.hpp>
#include <draftproof/properties/paths/path_scripted.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/sim/random/philox.hpp>

namespace draftproof::adapters {

using Engine = std::mt19937_64;

/// Returns V random integer weights over their sum; some may be 0.
inline std::vector<double> random_row(Engine& engine, int vocabulary) {
  std::vector<int> weights(static_cast<std::size_t>(vocabulary));
  for (int& weight : weights) weight = static_cast<int>(engine() % 5);
  if (std::all_of(weights.begin(), weights.end(), [](int weight) { return weight == 0; })) weights[0] = 1;
  return double_row(weights);
}

/// Returns the random numbers of the drafter in trial `trial` of seed 0.
inline WordsOf<Philox> drafting_words(std::uint64_t trial) { return WordsOf(Philox(0, trial, Philox::Role::draft)); }

/// Returns a position with the drafts of trial `trial`, or nullopt if the scheme is not defined for the sizes drawn.
inline std::optional<Input> random_position(Engine& engine, const AnyVerifier& verifier, const AnyDrafter& drafter,
                                            std::uint64_t trial) {
  const int vocabulary = 2 + static_cast<int>(engine() % 3), drafts = 1 + static_cast<int>(engine() % 3);
  Input input{.p = {random_row(engine, vocabulary)}, .q = {}, .drafts = {}};
  for (int k = 0; k < (drafter.info().several_proposals ? drafts : 1); ++k)
    input.q.push_back(random_row(engine, vocabulary));
  if (!verifier.takes(drafts) || !drafter.defined(vocabulary, drafts, static_cast<int>(input.q.size())))
    return std::nullopt;
  WordsOf<Philox> words = drafting_words(trial);
  Scripted random{WordsFrom(words)};
  input.drafts.resize(max_drafts);
  const int drawn = drafter.draw(Rows<double>(input.p[0], input.q), drafts, random, input.drafts.data());
  input.drafts.resize(static_cast<std::size_t>(drawn));
  if (!verifier.takes(drawn)) return std::nullopt;
  return input;
}

/// A drafted tree, the model that it was drafted on, and both as an input.
struct RandomTree {
  std::unique_ptr<DoubleContexts> model;
  TreeShape shape;
  DraftTree tree;
  Input input;
};

/// Returns the drafter's tree of trial `trial`, on rows after all prefixes of at most 3 tokens.
inline RandomTree random_tree(Engine& engine, const AnyPathVerifier& verifier, const AnyTreeDrafter& drafter,
                              bool chain, std::uint64_t trial) {
  const int vocabulary = 2 + static_cast<int>(engine() % 2);
  std::vector<Rows<double>> rows;
  for (int level = 0, count = 1; level <= 3; ++level, count *= vocabulary)
    for (int i = 0; i < count; ++i) rows.emplace_back(random_row(engine, vocabulary), random_row(engine, vocabulary));
  RandomTree made{
      .model = std::make_unique<DoubleContexts>(std::move(rows)), .shape = {}, .tree = DraftTree(), .input = {}};
  made.shape.length = 1 + static_cast<int>(engine() % 3);
  made.shape.drafts = chain || verifier.info().most_drafts == 1 ? 1 : 1 + static_cast<int>(engine() % 3);
  WordsOf<Philox> words = drafting_words(trial);
  made.tree = drafted(drafter, *made.model, made.shape, words);
  const auto row = [&](const DraftTree& tree, int u, bool target) {
    std::vector<double> values;
    const Rows<double>& distributions = made.model->distributions(tree.context(u));
    for (Token x = 0; x < vocabulary; ++x)
      values.push_back(target ? distributions.target(x) : distributions.proposal(x));
    return values;
  };
  made.input.p.push_back(row(made.tree, DraftTree::root, true));
  std::vector<int> entries(static_cast<std::size_t>(made.tree.size()), -1);
  for (const TreeDraw& draw : made.tree.all_draws()) {
    const int parent = made.tree.parent(draw.child);
    int& entry = entries[static_cast<std::size_t>(draw.child)];
    if (entry < 0) entry = static_cast<int>(made.input.drafts.size());
    made.input.drafts.push_back(made.tree.token(draw.child));
    made.input.p.push_back(row(made.tree, draw.child, true));
    made.input.q.push_back(row(made.tree, parent, false));
    if (!chain) made.input.parents.push_back(entries[static_cast<std::size_t>(parent)]);
  }
  return made;
}

/// Returns an input of a registered verifier with the drafts that drafter `distribution` draws in trial `trial`, or
/// nullopt if the scheme is not defined for it.
inline std::optional<Input> random_input_of(Engine& engine, const BuiltInName& own, const std::string& distribution,
                                            std::uint64_t trial) {
  if (own.level == Level::position)
    return random_position(engine, *registry().verifier(own.name), *registry().drafter(distribution), trial);
  return random_tree(engine, *path_registry().verifier(own.name), *path_registry().drafter(distribution),
                     own.level == Level::chain, trial)
      .input;
}

/// Returns the tokens that a step emits.
inline std::vector<Token> step_tokens(const StepOutput& step, const DraftTree& tree) {
  std::vector<Token> tokens;
  for (int u = step.node; u != DraftTree::root; u = tree.parent(u)) tokens.insert(tokens.begin(), tree.token(u));
  tokens.push_back(step.extra.token);
  return tokens;
}

}  // namespace draftproof::adapters
