// The models and requests with which the check of a whole engine asks it for texts (text_checks.hpp): Markov tables, or
// models with a state, a grammar as an automaton, and the prompts and lengths of eight requests.
//
// Greedy programs with rows in float32 or float64 get near ties: in every second state of the target the two tokens
// that are most likely differ by a factor of 1 + 2^-15, which is below the spacing of float16 (2^-10) and bfloat16
// (2^-7) and far above that of float32 (2^-23). The larger one has the higher number in every second of these states.
// An argmax in half precision then emits another token than an argmax in the type of the rows. If a program declares
// top-k, top-p or min-p, only the tables with all transitions have near ties: a limit that separates the two tokens is
// not used there (text_settings.hpp), whereas a row of the sparse tables has only two tokens to separate.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <draftproof/adapters/declaration.hpp>
#include <draftproof/adapters/gate/text_checks.hpp>

namespace draftproof::adapters {

inline constexpr int text_layers = 7, tokens_of_a_layer = 2;  ///< layers of a sparse table, and tokens per layer
/// Numbers of states of models for several requests; both odd.
inline constexpr int dense_states = 11, sparse_states = 13;
inline constexpr int grammar_states = 3;
inline constexpr std::size_t requests_at_once = 8, longest_prompt = 40;
/// Returns two requests of the call of a number, which get equal prompts. In 8 calls on the tables with all transitions,
/// which have even numbers, they have every distance, because an engine with n slots may give requests r and r + n the
/// same random numbers; in 50 such calls they are every pair.
std::pair<std::size_t, std::size_t> equal_prompts(std::uint64_t number);

/// A grammar as an automaton: [G, V], 1 where a token is allowed in a state, and the state after the token. It starts
/// in state 0.
struct TextGrammar {
  std::vector<std::int32_t> legal{}, next{};
};

/// Target and proposal, either with all transitions or with two successors of each token. `judged` is the target under
/// the grammar, if there is one: its states are pairs of a model state and a grammar state, and its rows are divided by
/// the mass that is allowed.
struct TablePair {
  TextTable target, proposal, judged{};
  TextGrammar grammar{};
};

/// Returns tables with all transitions.
TablePair all_transitions(const Declaration& declaration, std::uint64_t seed, int vocabulary);

/// Returns tables in which two tokens can follow each token. The first 14 tokens that are not end tokens are numbered
/// and put into layers; tokens of a layer have successors in the next layer. With a longer memory the layers of the
/// last tokens are added up, and the successors are in the layer after the sum. For several requests the first 26
/// tokens are numbered, and each state has two tokens that no other state has. Other tokens have probability 0 in the
/// target and weight 1/4 in the proposal.
TablePair two_successors(const Declaration& declaration, std::uint64_t seed, int vocabulary);

/// Adds a grammar of three states. State 0 allows all tokens, state 1 those with an odd number and state 2 those with
/// an even number. End tokens have no number and are allowed in states 0 and 1.
void put_under_grammar(TablePair& pair);

/// Eight requests for `tokens` tokens in all. Prompts are drawn from the target's rows, in which end tokens are left
/// out.
struct Requests {
  std::vector<std::vector<std::int32_t>> prompts{};
  std::vector<TextStart> starts{};
  std::vector<int> lengths{};
};

/// Returns the requests of a number.
Requests draw_requests(const TextTable& target, std::uint64_t seed, std::uint64_t number, std::int64_t tokens);

}  // namespace draftproof::adapters
