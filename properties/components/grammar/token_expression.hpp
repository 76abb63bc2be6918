// Regular expressions over tokens, as automata: "(0 1|2 .)*".
//
//   0 12    the tokens of these numbers        .       any token
//   a b     a, then b                          a|b     a or b
//   a* a+ a?                                   (a)
//
// Cost: a state for each set of positions of the expression that a text can reach, at most 1,000; states after which
// the same texts are allowed are one.
// Correctness: the position automaton, made deterministic by subsets (Glushkov 1961). A state from which the text
// cannot go on forever is removed, with the tokens that lead to it, because a step may need a token after any text.
#pragma once

#include <string_view>

#include <draftproof/sim/components/grammar_view.hpp>

namespace draftproof {

inline constexpr int most_grammar_states = 8;

/// Returns the automaton of the expression; state 0 is the start. Throws: std::invalid_argument, which names the
/// expression and the cause: a character or token out of place, a text that must end, too many states.
TokenAutomaton automaton_of(std::string_view expression, int vocabulary);

}  // namespace draftproof
