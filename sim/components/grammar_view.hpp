// Decoding under a grammar: an automaton gives the tokens that may follow a text, and the target rows of a step are
// masked by the automaton.
//
//   s     state                  of the automaton, which reads one token at a time
//   u     node                   0 is the text before the step; parents come before their children, and siblings are in
//                                draw order. A chain has the drafts 1 .. L
//   p_u   row of the target      after node u; the row of a leaf gives the token after all drafts of its path
//
// A component is a struct derived from GrammarMasks with a ComponentInfo `info`. The functions of GrammarMasks are
// correct; a mutant replaces one of them by a wrong function.
//
// Correctness: the target under the grammar is p_u with the forbidden tokens removed, divided by the remaining mass.
// A verifier that is exact for any rows is exact for masked rows, whatever row q a draft was drawn from: a forbidden
// draft has probability 0 in the masked row, so it is rejected, and the residual accounts for its mass of q.
// Source: Willard and Louf 2023, arXiv:2307.09702 (masks from a finite automaton).
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <draftproof/sim/token.hpp>

namespace draftproof {

/// A deterministic finite automaton over the tokens 0 .. vocabulary - 1.
struct TokenAutomaton {
  static constexpr int forbidden = -1;

  int vocabulary = 0;
  std::vector<int> next{};  ///< [state * vocabulary + token]: the state after the token, or `forbidden`

  int states() const { return vocabulary == 0 ? 0 : static_cast<int>(next.size()) / vocabulary; }
  /// Returns the state after the token; `forbidden` if it is not allowed, or if `state` is `forbidden`.
  int after(int state, Token x) const {
    return state == forbidden ? forbidden
                              : next[static_cast<std::size_t>(state) * static_cast<std::size_t>(vocabulary) +
                                     static_cast<std::size_t>(x)];
  }
  bool operator==(const TokenAutomaton&) const = default;
};

/// The drafts of one step, and the state before them.
struct GrammarStep {
  const TokenAutomaton* automaton;
  int state;
  std::vector<int> parent;   ///< by node; -1 for node 0
  std::vector<Token> token;  ///< by node; no_token for node 0

  int size() const { return static_cast<int>(parent.size()); }
  /// Whether no draft follows node u.
  bool leaf(int u) const { return std::find(parent.begin(), parent.end(), u) == parent.end(); }
  int parent_of(int u) const { return parent[static_cast<std::size_t>(u)]; }
  Token token_of(int u) const { return token[static_cast<std::size_t>(u)]; }
  /// Returns the state after the tokens on the way to node u; `forbidden` at and after a forbidden draft.
  int state_after(int u) const { return u == 0 ? state : automaton->after(state_after(parent_of(u)), token_of(u)); }
};

/// The correct results that an engine must compute from the automaton.
struct GrammarMasks {
  static constexpr bool trees = true;  ///< whether it supports trees; otherwise only chains

  /// Returns the state whose mask is applied to the row of node u; `forbidden`: the row is not masked. No output
  /// depends on a row at or below a forbidden draft.
  int mask_state(const GrammarStep& step, int u) const { return step.state_after(u); }
  /// Whether draft u is verified, if its parent is verified.
  bool verified(const GrammarStep&, int) const { return true; }
  /// Returns the state before the next step if this step emits the drafts on the path to `node`, then `last`.
  int next_state(const GrammarStep& step, int node, Token last) const {
    return step.automaton->after(step.state_after(node), last);
  }
};

}  // namespace draftproof
