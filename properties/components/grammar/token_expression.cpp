#include <draftproof/properties/components/grammar/grammar_case.hpp>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <map>
#include <set>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

namespace draftproof {

namespace {

using Positions = std::set<int>;

[[noreturn]] void fail(std::string_view expression, std::string_view expected) {
  throw std::invalid_argument(fmt::format("regex: got \"{}\", expected {}", expression, expected));
}

/// Parses an expression. Collects the tokens of every position (a token or a dot in the expression), and the positions
/// that may follow it.
class ExpressionReader {
 public:
  /// Position 0 is the start; it stands for no token.
  ExpressionReader(std::string_view expression, int vocabulary)
      : whole_{expression}, rest_{expression}, vocabulary_{vocabulary}, tokens_{{}}, follow_(1) {
    const Part all = alternatives();
    if (next() != '\0') fail(whole_, fmt::format("the end of the expression before \"{}\"", rest_));
    follow_[0] = all.first;
  }

  const std::vector<std::set<Token>>& tokens() const { return tokens_; }
  const std::vector<Positions>& follow() const { return follow_; }

 private:
  struct Part {
    bool empty;  ///< whether this part matches the empty text
    Positions first, last;
  };
  static constexpr int most_depth = 100, most_positions = 200;

  char next() {
    while (rest_.starts_with(' ')) rest_.remove_prefix(1);
    return rest_.empty() ? '\0' : rest_.front();
  }
  bool accept(char one) {
    if (next() != one) return false;
    rest_.remove_prefix(1);
    return true;
  }

  Part alternatives() {
    if (++depth_ > most_depth) fail(whole_, "fewer nested parentheses");
    Part all = sequence();
    while (accept('|')) {
      Part other = sequence();
      all.empty |= other.empty;
      all.first.merge(other.first);
      all.last.merge(other.last);
    }
    --depth_;
    return all;
  }
  Part sequence() {
    Part all{true, {}, {}};
    while (next() == '(' || next() == '.' || std::isdigit(static_cast<unsigned char>(next()))) {
      Part more = repeated();
      for (const int before : all.last)
        follow_[static_cast<std::size_t>(before)].insert(more.first.begin(), more.first.end());
      if (all.empty) all.first.insert(more.first.begin(), more.first.end());
      if (more.empty) more.last.insert(all.last.begin(), all.last.end());
      all.last = std::move(more.last);
      all.empty &= more.empty;
    }
    return all;
  }
  Part repeated() {
    Part one = single();
    for (;;) {
      const bool star = accept('*'), plus = !star && accept('+');
      if (!star && !plus && !accept('?')) return one;
      one.empty |= !plus;
      if (star || plus)
        for (const int last : one.last)
          follow_[static_cast<std::size_t>(last)].insert(one.first.begin(), one.first.end());
    }
  }
  Part single() {
    if (accept('(')) {
      Part inner = alternatives();
      if (!accept(')')) fail(whole_, "a closing parenthesis");
      return inner;
    }
    std::set<Token> tokens;
    if (accept('.')) {
      for (Token x = 0; x < vocabulary_; ++x) tokens.insert(x);
    } else {
      int token = 0;
      while (!rest_.empty() && std::isdigit(static_cast<unsigned char>(rest_.front())) && token < vocabulary_) {
        token = 10 * token + (rest_.front() - '0');
        rest_.remove_prefix(1);
      }
      if (token >= vocabulary_) fail(whole_, fmt::format("tokens below {}", vocabulary_));
      tokens.insert(token);
    }
    const auto position = static_cast<int>(tokens_.size());
    if (position > most_positions) fail(whole_, fmt::format("at most {} tokens", most_positions));
    tokens_.push_back(std::move(tokens));
    follow_.emplace_back();
    return {false, {position}, {position}};
  }

  std::string_view whole_, rest_;
  int vocabulary_, depth_ = 0;
  std::vector<std::set<Token>> tokens_;
  std::vector<Positions> follow_;
};

/// Removes states in which no token is allowed, and transitions to them, until every state left allows a token.
void remove_ends(TokenAutomaton& automaton) {
  const int size = automaton.vocabulary;
  for (bool changed = true; changed;) {
    changed = false;
    for (int state = 0; state < automaton.states(); ++state) {
      const auto row = automaton.next.begin() + static_cast<std::ptrdiff_t>(state) * size;
      if (std::any_of(row, row + size, [](int to) { return to != TokenAutomaton::forbidden; })) continue;
      for (int& to : automaton.next)
        if (to == state) to = TokenAutomaton::forbidden, changed = true;
    }
  }
}

/// Merges states after which the same texts are allowed: transitions to any of them lead to the first (Moore 1956).
void merge_equal(TokenAutomaton& automaton) {
  const auto size = static_cast<std::size_t>(automaton.states());
  std::vector<int> first(size, 0);
  for (std::size_t groups = 1, before = 0; groups != before;) {
    before = groups;
    std::map<std::vector<int>, int> found;
    std::vector<int> finer;
    for (int state = 0; state < automaton.states(); ++state) {
      std::vector<int> row{first[static_cast<std::size_t>(state)]};
      for (Token x = 0; x < automaton.vocabulary; ++x) {
        const int to = automaton.after(state, x);
        row.push_back(to == TokenAutomaton::forbidden ? to : first[static_cast<std::size_t>(to)]);
      }
      finer.push_back(found.emplace(std::move(row), state).first->second);
    }
    first = std::move(finer);
    groups = found.size();
  }
  for (int& to : automaton.next)
    if (to != TokenAutomaton::forbidden) to = first[static_cast<std::size_t>(to)];
}

/// Removes states that no text reaches; numbers the others in the order in which they are found from the start.
TokenAutomaton reached(const TokenAutomaton& automaton) {
  std::vector<int> order{0};
  const auto number_of = [&order](int state) {
    auto found = std::find(order.begin(), order.end(), state);
    if (found == order.end()) found = order.insert(found, state);
    return static_cast<int>(found - order.begin());
  };
  TokenAutomaton left{.vocabulary = automaton.vocabulary};
  for (std::size_t i = 0; i < order.size(); ++i)
    for (Token x = 0; x < automaton.vocabulary; ++x) {
      const int to = automaton.after(order[i], x);
      left.next.push_back(to == TokenAutomaton::forbidden ? to : number_of(to));
    }
  return left;
}

}  // namespace

TokenAutomaton automaton_of(std::string_view expression, int vocabulary) {
  const ExpressionReader read(expression, vocabulary);
  constexpr std::size_t most_subsets = 1000;
  std::map<Positions, int> numbers{{{0}, 0}};
  std::vector<Positions> states{{0}};
  TokenAutomaton automaton{.vocabulary = vocabulary};
  for (std::size_t s = 0; s < states.size(); ++s)
    for (Token x = 0; x < vocabulary; ++x) {
      Positions to;
      for (const int from : states[s])
        for (const int position : read.follow()[static_cast<std::size_t>(from)])
          if (read.tokens()[static_cast<std::size_t>(position)].contains(x)) to.insert(position);
      if (to.empty()) {
        automaton.next.push_back(TokenAutomaton::forbidden);
        continue;
      }
      const auto [found, is_new] = numbers.emplace(to, static_cast<int>(states.size()));
      if (is_new) states.push_back(to);
      if (states.size() > most_subsets) fail(expression, fmt::format("at most {} states", most_grammar_states));
      automaton.next.push_back(found->second);
    }
  remove_ends(automaton);
  merge_equal(automaton);
  automaton = reached(automaton);
  const auto start = automaton.next.begin();
  if (std::all_of(start, start + vocabulary, [](int to) { return to == TokenAutomaton::forbidden; }))
    fail(expression, "texts that can go on, as in \"(0 1)*\"");
  if (automaton.states() > most_grammar_states)
    fail(expression, fmt::format("at most {} states, and not {}", most_grammar_states, automaton.states()));
  return automaton;
}

}  // namespace draftproof
