// A readable case for grammars: an automaton, its state before the step, and a small model. It prints and parses as
// "next=(1 2),(0 1) state=1 | L=1 K=1 [] p=(1 1)/2 q=(1 1)/2".
//
//   next    for each state the state after every token; states are numbered from 1, and 0 forbids the token
//   regex   in place of `next`: a regular expression over tokens, "regex=(0 1|1)*"
//   state   before the step; 1 by default
//
// Rows of p are the positive rows of the model without the grammar. K drafts are drawn from q without replacement at
// every node; K = 1 is a chain.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <draftproof/properties/instances/path_instance.hpp>
#include <draftproof/sim/components/grammar_view.hpp>

namespace draftproof {

// Regular expressions over tokens, as automata: "(0 1|2 .)*".
//
//   0 12    the tokens of these numbers        .       any token
//   a b     a, then b                          a|b     a or b
//   a* a+ a?                                   (a)
//
// Cost: a state for each set of positions of the expression that a text can reach, at most 1,000. States after which
// the same texts are allowed are merged.
// Correctness: the result is the position automaton, made deterministic by subsets (Glushkov 1961). A state from
// which the text cannot go on forever is removed, with the tokens that lead to it, because a step may need a token
// after any text.

inline constexpr int most_grammar_states = 8;

/// Returns the automaton of the expression; state 0 is the start. Throws: std::invalid_argument, which names the
/// expression and the cause: a character or token out of place, a text that must end, too many states.
TokenAutomaton automaton_of(std::string_view expression, int vocabulary);

struct GrammarCase {
  static constexpr int most_prefixes = 1000;  ///< limit of V^0 + .. + V^L, the number of rows to mask

  TokenAutomaton automaton{};
  int state = 0;
  PathInstance model{};

  bool chain() const { return model.shape.drafts == 1; }
  /// Returns the weights of the target after `prefix`, 0 for the tokens that the state `masked_by` forbids.
  /// TokenAutomaton::forbidden in place of a state removes no token.
  std::vector<int> masked_target(const Tokens& prefix, int masked_by) const;
  /// Returns the state after a prefix.
  int state_after(const Tokens& prefix) const;

  /// Whether every state allows a token, rows of p are positive, rows of q have at least K tokens, and there are
  /// at most `most_prefixes` prefixes.
  bool valid() const;
  std::string text() const;
  /// The inverse of text(). Throws: std::invalid_argument, which names the text and the expected format.
  static GrammarCase parse(std::string_view text);
  static constexpr std::string_view example = "regex=(0 1|1)* | L=1 K=1 [] p=(1 1)/2 q=(1 1)/2";

  bool operator==(const GrammarCase&) const = default;
};

/// Returns pointers to the rows of the model, for editing.
std::vector<std::vector<int>*> rows_of(GrammarCase& one);

/// Returns the cases one step smaller: a smaller model, fewer states, fewer transitions, an earlier state.
std::vector<GrammarCase> shrinks(const GrammarCase& one);

/// Returns case n of a seed: of every five cases three are chains and two are trees with two children per node. V is 2
/// or 3, L is 1 or 2, and there are two or three states. In a third of the cases q is masked too.
GrammarCase generate_grammar_case(std::uint64_t seed, int n);

}  // namespace draftproof
