#include <draftproof/properties/components/grammar/grammar_distribution.hpp>

#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include <draftproof/properties/paths/carried_target.hpp>
#include <draftproof/properties/paths/step_distribution.hpp>

namespace draftproof {

namespace {

GrammarStep step_of(const GrammarCase& one, const DraftTree& tree) {
  GrammarStep step{.automaton = &one.automaton, .state = one.state, .parent = {}, .token = {}};
  for (int u = 0; u < tree.size(); ++u) {
    step.parent.push_back(tree.parent(u));
    step.token.push_back(tree.token(u));
  }
  return step;
}

}  // namespace

GrammarAnalysis::GrammarAnalysis(const GrammarRule& component, const GrammarCase& one)
    : component_{component}, case_{one}, conditionals_{one.model.conditionals()} {}

GrammarAnalysis::MaskedVerifier& GrammarAnalysis::verifier(VerifyRule rule, const DraftTree& tree,
                                                           const GrammarStep& step) {
  std::map<Tokens, int> masked_by;
  for (int u = 0; u < tree.size(); ++u) {
    const int state = component_.mask_state(step, u);
    if (state < TokenAutomaton::forbidden || state >= case_.automaton.states())
      throw std::logic_error(fmt::format("the mask of node {} is that of state {}, and there are {} states", u, state,
                                         case_.automaton.states()));
    masked_by[path_to(tree, u)] = state;
  }
  // Adds a row for every prefix of at most L tokens; rows of prefixes that were not drafted have no effect.
  PathInstance masked{.shape = case_.model.shape, .rows = {}};
  std::vector<int> states;
  for (Tokens& prefix : prefixes_up_to(case_.model.vocabulary(), masked.shape.length)) {
    const auto drafted = masked_by.find(prefix);
    states.push_back(drafted == masked_by.end() ? case_.state_after(prefix) : drafted->second);
    PrefixWeights rows{case_.masked_target(prefix, states.back()), case_.model.after(prefix).proposal};
    masked.rows.emplace(std::move(prefix), std::move(rows));
  }
  const auto [found, is_new] =
      verifiers_.try_emplace({rule, std::move(states)}, MaskedVerifier{.conditionals = masked.conditionals()});
  if (is_new)
    found->second.decider = path_registry()
                                .verifier(verifier_of(rule, case_.chain()))
                                ->prove_on(found->second.conditionals, case_.model.shape);
  return found->second;
}

void GrammarAnalysis::add_step(VerifyRule rule, const DraftTree& tree, const Rational& probability,
                               Emitted& emitted) {
  const GrammarStep step = step_of(case_, tree);
  MaskedVerifier& masked = verifier(rule, tree, step);
  DraftTree verified(0);
  std::vector<int> drafted{0}, kept(step.parent.size(), -1);
  kept[0] = 0;
  for (int u = 1; u < tree.size(); ++u) {
    const int parent = kept[static_cast<std::size_t>(tree.parent(u))];
    if (parent < 0 || !component_.verified(step, u)) continue;
    kept[static_cast<std::size_t>(u)] =
        verified.draw(parent, tree.token(u), masked.conditionals.next(verified.context(parent), tree.token(u)));
    drafted.push_back(u);
  }
  std::map<std::pair<int, Token>, Rational> outputs;
  const auto add = [&outputs](int node, Token extra, const Rational& mass) { outputs[{node, extra}] += mass; };
  if (!explore_steps<Rows<Rational>, Rational>(*masked.decider, verified, {}, ExplorerLimits{}, add, &work_))
    throw EnumerationCut("too many branches of the verifier");
  for (const auto& [output, mass] : outputs) {
    const int node = drafted[static_cast<std::size_t>(output.first)];
    Tokens tokens = path_to(tree, node);
    tokens.push_back(output.second);
    const int state = component_.next_state(step, node, output.second);
    if (state < TokenAutomaton::forbidden || state >= case_.automaton.states())
      throw std::logic_error(
          fmt::format("the next step starts in state {}, and there are {} states", state, case_.automaton.states()));
    const std::vector<Rational> row = normalised(case_.masked_target(tokens, state));
    tokens.push_back(0);
    for (Token x = 0; x < case_.model.vocabulary(); ++x) {
      tokens.back() = x;
      emitted[tokens] += probability * mass * row[static_cast<std::size_t>(x)];
    }
  }
}

const GrammarAnalysis::Emitted& GrammarAnalysis::emitted(VerifyRule rule) {
  Emitted& emitted = emitted_[rule];
  if (!emitted.empty()) return emitted;
  Emitted found;
  const std::uint64_t trees = explore_trees<Rows<Rational>, Rational>(
      drafter_of_cases(), conditionals_, case_.model.shape, 0, ExplorerLimits{},
      [&](const DraftTree& tree, const Rational& probability) { add_step(rule, tree, probability, found); });
  if (trees == 0) throw EnumerationCut("too many tuples of drafts");
  work_ += trees;
  return emitted = std::move(found);
}

std::optional<std::string> GrammarAnalysis::wrong_output(VerifyRule rule) {
  const auto wrong = first_wrong_prefix(emitted(rule), case_.model.vocabulary(), [this](const Tokens& prefix) {
    return normalised(case_.masked_target(prefix, case_.state_after(prefix)));
  });
  return wrong ? std::optional(wrong->text()) : std::nullopt;
}

std::optional<std::string> GrammarAnalysis::forbidden_token(VerifyRule rule) {
  std::map<Tokens, Rational, ShorterFirst> reached;
  for (const auto& [tokens, mass] : emitted(rule)) {
    if (mass == 0) continue;
    int state = case_.state;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      state = case_.automaton.after(state, tokens[i]);
      if (state != TokenAutomaton::forbidden) continue;
      reached[Tokens(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(i) + 1)] += mass;
      break;
    }
  }
  if (reached.empty()) return std::nullopt;
  Tokens prefix = reached.begin()->first;
  const Token x = prefix.back();
  prefix.pop_back();
  return fmt::format("after {} the grammar forbids token {}, and the output has it with probability {}",
                     prefix_text(prefix), x, to_text(reached.begin()->second));
}

}  // namespace draftproof
