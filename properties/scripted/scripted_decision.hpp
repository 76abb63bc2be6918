// Decisions on scripted words: the rows of an instance in double, its possible drafts, and faults of a verdict that
// no law permits. Edge checks of one position use them.
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

/// The weights divided by their sum, each rounded once.
std::vector<double> double_row(const std::vector<int>& weights);
/// The instance's laws in double.
Rows<double> double_laws(const Instance& instance);
/// The prepared table of these laws.
RatioTable table_of(const Rows<double>& rows);

using Tuple = std::vector<Token>;

/// Draft tuples of positive probability, in the explorer's order. If there are more than `most`, that many spread
/// over them.
std::vector<Tuple> possible_tuples(const AnyDrafter& drafter, const Rows<double>& rows, int drafts, std::size_t most);

/// One decision with all its draws.
struct ScriptedDecision {
  Verdict verdict;
  std::vector<Draw> draws;
};

/// Runs one decision on `words`.
template <class L>
ScriptedDecision run_scripted(const Decider<L, Scripted>& decider, std::span<const Token> tuple, Words& words) {
  Scripted random{WordsFrom(words)};
  ScriptedDecision played{decider.decide(tuple, random), {}};
  played.draws = random.draws();
  return played;
}

/// The fault of a verdict with an invalid token, a token outside the target's support, or a flag for a draft with
/// another token; nothing if it has none.
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

/// The drafts as "(0 2)".
std::string tuple_text(std::span<const Token> tuple);
/// The verdict as "2 (draft 1)" or "2".
std::string verdict_text(const Verdict& verdict);

/// Whether token and flag are equal.
inline bool same(const Verdict& a, const Verdict& b) { return a.token == b.token && a.accepted == b.accepted; }
/// Whether the first `first` draws are equal, outcomes included.
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
