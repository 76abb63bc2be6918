// The check of a whole engine that only generates text. Two Markov tables of order n replace its models, and the
// transitions of the text are tested against the target's. Every token of a lossless engine has distribution p(. |
// the n tokens before), regardless of earlier tokens.
//
//   n          order, which the program declares: 1, 2 or 3
//   s          the last n, n + 1, n + 2 tokens
//   bet        each token is predicted by (c p(x | last n) + count(s, x)) / (c + count(s)), c = 10^0 .. 10^6
//   e          the mean over s and c of the product over tokens of prediction / p(x | last n)
//
// The engine generates texts from two pairs of tables (target and proposal) in turn. The first pair has all
// transitions. In the second pair each token has two successors: tokens of layer i are followed by tokens of layer i +
// 1, of 7 layers in a ring, and with order n, tokens of layers i, j, .. by tokens of layer i + j + .. + 1. A lost,
// doubled or displaced token is an impossible transition in the second pair, unless a multiple of 7 tokens is lost.
//
// Correctness: given the past each factor has mean 1 under p, so e is a test martingale: it ever reaches 1 / alpha
// with probability at most alpha (Ville), for any length of the text and any dependence. The mean of the
// martingales of both pairs is a martingale. Contexts longer than n detect faults at the ends of an engine's blocks.
// Proofs of a fault are a token with p = 0, a token of a greedy program that is not the likeliest, a token after an end
// token or a stop sequence, a short text that ends with neither, and a text that is too long.
//
// A program that serves several requests gets models with a state in place of Markov tables. The state is a function of
// the whole prefix: if the engine loses or doubles a token or puts it into another request, its state is wrong, and
// stays wrong whatever follows, unless that token leads from a state to the same state. Eight requests with prompts of
// 1 to 40 tokens, which have tokens in common, arrive at once, for texts of 16 to 288 tokens, so that the requests end
// at different times. Prompts are drawn from the target, and the first token of a text follows its prompt. Under a
// grammar the program gets models without masks, and an automaton of three states that starts after the prompt; the
// texts are compared with the rows whose forbidden tokens are removed. With settings (text_settings.hpp) each request
// has different settings, and p is the row under them; a factor then has mean at most 1, because tokens that have p = 0
// at one step may have been counted at other steps.
//
// Some faults change only the first tokens after a prompt, the last tokens before a limit, the tokens of one request,
// the first tokens that may end a text after `min_tokens`, or the tokens after a rare state; such tokens are few among all tokens. Texts that end, belong to several requests or
// have settings are therefore also judged by separate bets on these tokens, and by bets on the class k of a token:
//
//   k          the token, whether it is an end token, its class by occurrences, or its class by probability
//   bet        each token is predicted by p(x) (c + n(k)) / (c + m(k)), normalised, where n and m are the number of
//              tokens of class k so far and the sum of their probabilities
//
// The engine generates several texts, the first of 1024 tokens. With several requests or end tokens the texts of a call
// have 1024 tokens together. Otherwise each further text on the first pair is as long as all texts before it, so that
// earlier results remain if a text takes too long; texts on the second pair have 1024 tokens. Each text has a separate
// seed and starts after n tokens with the number 0; counts continue from one text to the next. A lossless engine draws
// each text from p regardless of earlier texts, so each factor has mean 1 given all earlier tokens, including the
// tokens of earlier texts: the product over the texts is one martingale. The second call for requests on the first pair
// repeats the requests of the first call with another seed, and two requests of each call have equal prompts. If such
// texts are equal, one over their probability is a further e-value, which states the reason: the engine's random
// numbers do not depend on the seed, or are equal in all requests. If a program declares end tokens, they have total
// probability 1/32 in every row; 1/8 with `min_tokens`, or 1/128 with penalties, because faults of penalties show in
// longer texts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <draftproof/adapters/gate/text_settings.hpp>
#include <draftproof/adapters/wire/served.hpp>
#include <draftproof/properties/proof/finding.hpp>

namespace draftproof::adapters {

struct TextEvidence {
  double log_e = 0;
  std::string worst{};  ///< description of the transition that departs most
  /// The logarithm of the probability of each text under the target, 0 for a greedy text; empty if a text is
  /// impossible.
  std::vector<double> log_p{};
};

/// A model with S states, of which each has a row of V probabilities. It starts in state 0.
struct TextTable {
  int vocabulary = 0;
  int memory = 1;  ///< without `next`, the state is the last `memory` tokens: their digits in base V
  std::vector<double> rows{};
  std::vector<std::int32_t> ends{};  ///< end tokens
  std::vector<std::int32_t> next{};  ///< [S, V]: the state after a token; empty: see `memory`
  std::uint64_t grammar_states = 0;  ///< above 0, G: state s G + g is the model state s with the grammar state g

  bool is_end(std::int32_t token) const { return std::find(ends.begin(), ends.end(), token) != ends.end(); }
  std::uint64_t states() const { return rows.size() / static_cast<std::size_t>(vocabulary); }
  std::span<const double> row(std::uint64_t state) const {
    const auto size = static_cast<std::size_t>(vocabulary);
    return std::span(rows).subspan(state * size, size);
  }
  std::uint64_t after(std::uint64_t state, std::int32_t token) const {
    const std::uint64_t cell = state * static_cast<std::uint64_t>(vocabulary) + static_cast<std::uint64_t>(token);
    return next.empty() ? cell % states() : static_cast<std::uint64_t>(next[cell]);
  }
};

/// The prompt of a text, and the state of the model after it.
struct TextStart {
  std::uint64_t state = 0;
  std::vector<std::int32_t> prompt{};
};

/// Texts of one model.
struct GeneratedTexts {
  std::vector<std::vector<std::int32_t>> texts{};
  std::vector<TextStart> starts{};  ///< empty: all texts start in state 0, without a prompt
  std::vector<int> lengths{};       ///< required lengths of texts without an end token; empty: any length
  /// The settings of each text; empty: no settings. Texts whose numbers are equal modulo `requests` have equal rows.
  std::vector<TextSettings> settings{};
  std::size_t requests = 1;
  Greedy greedy = Greedy::no;   ///< unless `no`, each token must be a likeliest token of its row
  bool greedy_at_zero = false;  ///< whether `greedy` applies only to texts of temperature 0
};

/// Returns the evidence of texts against `target`.
/// Cost: S V^3 counts; 21 logarithms for each token, and up to 63 more with 63 V products for texts that end, of
/// several requests, or under settings.
TextEvidence evidence_of_texts(const GeneratedTexts& of, const TextTable& target);

/// Returns the total variation by which all rows of an engine must differ from the target's so that texts of this many
/// tokens detect the difference in 99 of 100 runs.
//
//   T, N, V    number of tokens, number of tokens after each context, vocabulary size
//   KL         divergence of the engine's rows from the target's, at least twice the squared total variation (Pinsker)
//   c          tokens that a bet counts as seen before; the mean of its log e is, to second order in the difference,
//              T KL N / (N + c) - contexts (V - 1) / 2 log(1 + N / c), with a deviation of at most
//              sqrt(2 T KL N / (N + c))
double text_distance(double tokens, double contexts, int vocabulary, double log_threshold);

inline constexpr int drafts_of_a_step = 3;  ///< drafts that an engine verifies in a step

struct TextCheckOptions {
  /// Base-2 logarithm of the number of tokens of all texts together; up to 16 times as many while e is above 100.
  int log2_tokens = 17;
  int vocabulary = 6;  ///< number of tokens of the table with all transitions; end tokens are not counted
  double alpha = 1e-9;
  std::uint64_t seed = 1;
  std::string adapter{};
};

/// Returns the finding `generated_text`; and `answers`, failed, if a call failed.
/// Requires a program that generates. If a text has no answer within the limit or a call fails, the first finding is
/// undecided, with the evidence of earlier texts, unless these show a fault.
/// Throws: ProgramFails if the first calls fail, and there is no text; AdapterError.
std::vector<Finding> check_text(Served& program, const TextCheckOptions& options);

}  // namespace draftproof::adapters
