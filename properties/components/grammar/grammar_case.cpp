#include <draftproof/properties/components/grammar/grammar_case.hpp>

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <draftproof/properties/instances/generator.hpp>
#include <draftproof/properties/instances/instance_text.hpp>
#include <draftproof/properties/instances/shrink_rows.hpp>

namespace draftproof {

namespace {

constexpr int forbidden = TokenAutomaton::forbidden;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

bool right_automaton(const TokenAutomaton& automaton, int vocabulary) {
  const int states = automaton.states();
  if (automaton.vocabulary != vocabulary || states < 1 || states > most_grammar_states ||
      automaton.next.size() != at(states) * at(vocabulary))
    return false;
  for (int state = 0; state < states; ++state) {
    bool any = false;
    for (Token x = 0; x < vocabulary; ++x) {
      const int to = automaton.after(state, x);
      if (to < forbidden || to >= states) return false;
      any |= to != forbidden;
    }
    if (!any) return false;
  }
  return true;
}

/// Removes state `gone` with the transitions to it.
void drop_state(GrammarCase& one, int gone) {
  const int size = one.automaton.vocabulary;
  const auto row = one.automaton.next.begin() + static_cast<std::ptrdiff_t>(gone) * size;
  one.automaton.next.erase(row, row + size);
  for (int& to : one.automaton.next) to = to == gone ? forbidden : to > gone ? to - 1 : to;
  if (one.state > gone) --one.state;
}

/// Removes token x from the automaton.
void drop_token(TokenAutomaton& automaton, int x) {
  for (int state = automaton.states() - 1; state >= 0; --state)
    automaton.next.erase(automaton.next.begin() + static_cast<std::ptrdiff_t>(state) * automaton.vocabulary + x);
  --automaton.vocabulary;
}

}  // namespace

int GrammarCase::state_after(const Tokens& prefix) const {
  int now = state;
  for (const Token x : prefix) now = automaton.after(now, x);
  return now;
}

std::vector<int> GrammarCase::masked_target(const Tokens& prefix, int masked_by) const {
  std::vector<int> weights = model.after(prefix).target;
  for (Token x = 0; x < model.vocabulary() && masked_by != forbidden; ++x)
    if (automaton.after(masked_by, x) == forbidden) weights[at(x)] = 0;
  return weights;
}

bool GrammarCase::valid() const {
  if (!model.valid() || model.shape.stem > 0 || !model.shape.branching.empty()) return false;
  const int size = model.vocabulary();
  if (prefix_count(size, model.shape.length) > most_prefixes) return false;
  const auto positive = [](const std::vector<int>& row) {
    return std::count_if(row.begin(), row.end(), [](int weight) { return weight > 0; });
  };
  return right_automaton(automaton, size) && state >= 0 && state < automaton.states() &&
         std::all_of(model.rows.begin(), model.rows.end(), [&](const auto& entry) {
           return positive(entry.second.target) == size && positive(entry.second.proposal) >= model.shape.drafts &&
                  entry.second.confidence < 0;
         });
}

std::string GrammarCase::text() const {
  std::string text = "next=";
  for (int from = 0; from < automaton.states(); ++from) {
    std::vector<int> row;
    for (Token x = 0; x < automaton.vocabulary; ++x) row.push_back(automaton.after(from, x) + 1);
    text += fmt::format("{}({})", from > 0 ? "," : "", fmt::join(row, " "));
  }
  return fmt::format("{} state={} | {}", text, state + 1, model.text());
}

GrammarCase GrammarCase::parse(std::string_view text) {
  const auto wrong = [text] {
    return std::invalid_argument(fmt::format(
        "instance: got \"{}\", expected an automaton with at most {} states that each allow a token, rows "
        "of p without 0, and rows of q of at least K tokens, such as \"{}\"",
        text, most_grammar_states, example));
  };
  // The last bar separates the automaton from the model, because a regular expression may contain bars.
  const auto bar = text.rfind('|');
  if (bar == text.npos) throw wrong();
  GrammarCase one{.model = PathInstance::parse(text.substr(bar + 1))};
  std::string_view head = text.substr(0, bar);
  one.automaton.vocabulary = one.model.vocabulary();
  const auto at_state = head.rfind(" state=");
  InstanceReader state(at_state == head.npos ? std::string_view("state=1") : head.substr(at_state + 1));
  one.state = state.named_number("state", 1, most_grammar_states) - 1;
  state.end();
  head = head.substr(0, at_state);
  InstanceReader reader(head);
  if (reader.accept("regex=")) {
    one.automaton = automaton_of(head.substr(head.find('=') + 1), one.model.vocabulary());
  } else {
    reader.expect("next=");
    do {
      const std::vector<int> row = reader.numbers("(", ")", most_grammar_states);
      if (std::ssize(row) != one.model.vocabulary()) throw wrong();
      for (const int to : row) one.automaton.next.push_back(to - 1);
    } while (reader.accept(","));
    reader.end();
  }
  if (!one.valid()) throw wrong();
  return one;
}

std::vector<std::vector<int>*> rows_of(GrammarCase& one) { return rows_of(one.model); }

std::vector<GrammarCase> shrinks(const GrammarCase& one) {
  Candidates candidates(one);
  for (int gone = one.automaton.states() - 1; gone >= 0; --gone)
    if (gone != one.state) candidates.add([gone](GrammarCase& c) { drop_state(c, gone); });
  for (const PathInstance& smaller : shrinks(one.model)) {
    if (smaller.vocabulary() == one.model.vocabulary())
      candidates.add([&](GrammarCase& c) { c.model = smaller; });
    else
      for (Token x = 0; x < one.model.vocabulary(); ++x)
        candidates.add([&smaller, x](GrammarCase& c) {
          c.model = smaller;
          drop_token(c.automaton, x);
        });
  }
  if (one.state > 0) candidates.add([](GrammarCase& c) { --c.state; });
  // Transitions are changed only to lower values, the lowest of which is `forbidden`, so that shrinking ends.
  for (std::size_t i = 0; i < one.automaton.next.size(); ++i)
    for (int lower = forbidden; lower < one.automaton.next[i]; ++lower)
      candidates.add([i, lower](GrammarCase& c) { c.automaton.next[i] = lower; });
  return candidates.take();
}

GrammarCase generate_grammar_case(std::uint64_t seed, int n) {
  InstanceRng dice(seed, static_cast<std::uint64_t>(n));
  GrammarCase one;
  TreeShape& shape = one.model.shape;
  shape.drafts = n % 5 < 3 ? 1 : 2;
  shape.length = dice.chance(2, 3) ? 2 : 1;
  const int size = dice.between(2, shape.drafts == 1 || shape.length == 1 ? 3 : 2), states = dice.between(2, 3);
  one.automaton.vocabulary = size;
  for (int from = 0; from < states; ++from) {
    std::vector<int> row;
    for (Token x = 0; x < size; ++x) row.push_back(dice.chance(2, 5) ? 0 : dice.between(1, states));
    repair_weights(row, 1, dice);
    for (const int to : row) one.automaton.next.push_back(to - 1);
  }
  one.state = dice.between(0, states - 1);
  const bool context = dice.chance(1, 2), masked = dice.chance(1, 3);
  for (Tokens& prefix : prefixes_up_to(size, shape.length)) {
    PrefixWeights rows;
    if (context || prefix.empty()) {
      for (Token x = 0; x < size; ++x) rows.target.push_back(dice.between(1, 5));
      for (Token x = 0; x < size; ++x) rows.proposal.push_back(dice.chance(1, 8) ? 0 : dice.between(1, 5));
      repair_weights(rows.proposal, shape.drafts, dice);
    } else {
      rows = one.model.after({});
    }
    one.model.rows.emplace(std::move(prefix), std::move(rows));
  }
  for (auto& [prefix, rows] : one.model.rows) {
    const int state = one.state_after(prefix);
    std::vector<int> row = rows.proposal;
    for (Token x = 0; x < size && state != forbidden; ++x)
      if (one.automaton.after(state, x) == forbidden) row[at(x)] = 0;
    const auto left = std::count_if(row.begin(), row.end(), [](int weight) { return weight > 0; });
    if (masked && left >= shape.drafts) rows.proposal = std::move(row);
  }
  return one;
}

}  // namespace draftproof
