// Decisions on scripted words: the rows of an instance in double, the drafts it can have, and what is wrong with a
// verdict whatever the law. Edge checks of one position are made of these.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <draftproof/properties/instances/instance.hpp>
#include <draftproof/properties/scripted/addressed_words.hpp>
#include <draftproof/properties/subjects/any_verifier.hpp>

namespace draftproof {

/// A law in double: every entry the quotient of two integers, rounded once.
std::vector<double> double_row(const std::vector<int>& weights);
Rows<double> double_laws(const Instance& instance);
RatioTable table_of(const Rows<double>& rows);

using Tuple = std::vector<Token>;

/// Draft tuples of positive probability, in the explorer's order; of more than `most`, that many spread over them.
std::vector<Tuple> possible_tuples(const AnyDrafter& drafter, const Rows<double>& rows, int drafts, std::size_t most);

/// One decision and all that it read.
struct ScriptedDecision {
  Verdict verdict;
  std::vector<Draw> draws;
};

template <class L>
ScriptedDecision run_scripted(const Decider<L, Scripted>& decider, std::span<const Token> tuple, Words& words) {
  Scripted random{WordsFrom(words)};
  ScriptedDecision played{decider.decide(tuple, random), {}};
  played.draws = random.draws();
  return played;
}

/// What no verdict may be: no token, one that the target does not have, or a flag for another token than that draft.
template <class L>
std::optional<std::string> fault_of(const Verdict& verdict, std::span<const Token> tuple, const L& laws) {
  const auto number = [](auto n) { return std::to_string(n); };
  if (verdict.token == no_token) return "draws from weights that are all zero";
  if (verdict.token < 0 || verdict.token >= laws.vocabulary())
    return "emits " + number(verdict.token) + ", which is no token";
  if (!(laws.target(verdict.token) > 0)) return "emits " + number(verdict.token) + ", which has p = 0";
  const auto k = verdict.accepted;
  if (k == none_accepted) return std::nullopt;
  if (k < 0 || k >= std::ssize(tuple)) return "accepts draft " + number(k) + " of " + number(tuple.size());
  if (tuple[static_cast<std::size_t>(k)] != verdict.token)
    return "accepts draft " + number(k) + ", which is " + number(tuple[static_cast<std::size_t>(k)]) +
           ", and emits " + number(verdict.token);
  return std::nullopt;
}

/// "(0 2)", and "2 (draft 1)" or "2".
std::string tuple_text(std::span<const Token> tuple);
std::string verdict_text(const Verdict& verdict);

inline bool same(const Verdict& a, const Verdict& b) { return a.token == b.token && a.accepted == b.accepted; }
/// The same draws, outcomes included; `first` of them.
bool same_draws(const std::vector<Draw>& a, const std::vector<Draw>& b, std::size_t first);

/// How a second run of `trial`, a ScriptedTrial or an Iteration, differs from the first: "A by N`between`B by M", N
/// and M the numbers of draws. Nothing where both give the same output by the same draws.
template <class Trial, class Played>
std::optional<std::string> difference(const Trial& trial, const Played& again, std::string_view between) {
  const Played& first = trial.played;
  if (same(first, again) && first.draws.size() == again.draws.size() &&
      same_draws(first.draws, again.draws, first.draws.size()))
    return std::nullopt;
  return text_of(first, trial) + " by " + std::to_string(first.draws.size()) + std::string(between) +
         text_of(again, trial) + " by " + std::to_string(again.draws.size());
}

}  // namespace draftproof
