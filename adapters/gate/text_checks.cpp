#include <draftproof/adapters/gate/text_checks.hpp>
#include <draftproof/properties/statistics/log_mean_exp.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <numbers>

#include <fmt/format.h>

#include <draftproof/properties/proof/finding.hpp>

#include <draftproof/properties/statistics/error_budget.hpp>
#include <draftproof/properties/statistics/sample_size.hpp>
#include <draftproof/sim/components/inverse_cdf.hpp>
#include <draftproof/sim/random/philox.hpp>

namespace draftproof::adapters {

namespace {

constexpr int further_contexts = 2, concentrations = 7;
constexpr int class_bets = 7;                         ///< number of class bets in evidence_of_texts
constexpr int layers = 7, of_a_layer = 2;             ///< layers of a sparse table, and tokens per layer
constexpr int dense_states = 11, sparse_states = 13;  ///< numbers of states of models for several requests; both odd
constexpr int grammar_states = 3;
constexpr std::size_t requests_at_once = 8, longest_prompt = 40;
constexpr std::uint32_t purpose = 0x202, purpose_of_texts = 0x203;

/// Counts of tokens after contexts, and the logarithms of the bets on them.
class ContextBets {
 public:
  ContextBets(std::uint64_t contexts, int vocabulary)
      : vocabulary_{static_cast<std::size_t>(vocabulary)}, counts_(contexts * vocabulary_), totals_(contexts) {}

  void add(std::uint64_t context, std::int32_t token, double probability) {
    const std::size_t cell = context * vocabulary_ + static_cast<std::size_t>(token);
    const auto count = static_cast<double>(counts_[cell]), total = static_cast<double>(totals_[context]);
    double c = 1;
    for (double& log_e : log_e_) {
      log_e += std::log((c + count / probability) / (c + total));
      c *= 10;
    }
    ++counts_[cell];
    ++totals_[context];
  }

  const std::array<double, concentrations>& logs() const { return log_e_; }

 private:
  std::size_t vocabulary_;
  std::vector<std::uint64_t> counts_, totals_;
  std::array<double, concentrations> log_e_{};
};

/// Counts and expected counts of emitted tokens of each class in a context, and a bet that multiplies a token's
/// probability by the ratio of the count to the expected count.
//
//   n, m     times that a token of the class was emitted in the context, and the sum over steps i of the probability
//            p_i that a token of the class is emitted
//   bet      p_i(x) (c + n(class of x)) / (c + m(class of x)), normalised over x
class ClassBets {
 public:
  ClassBets(std::uint64_t contexts, std::size_t classes)
      : classes_{classes}, cells_(contexts * classes), totals_(contexts) {}

  /// `class_of` returns the class of a token. If `bets` is false, the token is counted, but e is not changed.
  template <class ClassOf>
  void add(std::uint64_t context, std::int32_t token, std::span<const double> p, const ClassOf& class_of, bool bets) {
    Cell* cells = &cells_[context * classes_];
    Cell& at = cells[class_of(static_cast<std::size_t>(token))];
    shares_.assign(classes_, 0);
    for (std::size_t x = 0; x < p.size(); ++x) shares_[class_of(x)] += p[x];
    double c = 1;
    for (double& log_e : log_e_) {
      double mass = 0;
      for (std::size_t k = 0; k < classes_ && bets; ++k)
        mass += shares_[k] * (c + cells[k].seen) / (c + cells[k].mean);
      if (bets) log_e += std::log((c + at.seen) / (c + at.mean) / mass);
      c *= 10;
    }
    for (std::size_t k = 0; k < classes_; ++k) {
      cells[k].mean += shares_[k];
      cells[k].variance += shares_[k] * (1 - shares_[k]);
    }
    ++at.seen;
    ++totals_[context];
  }

  const std::array<double, concentrations>& logs() const { return log_e_; }
  /// Returns "token x in a state: n of the tokens there, expected m" for the cell that departs most; empty if there is
  /// none. Requires that each token is a separate class.
  template <class ContextText>
  std::string worst(const ContextText& text) const {
    double farthest = 0;
    std::size_t worst = cells_.size();
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      const double standard = std::sqrt(cells_[i].variance), distance = std::abs(cells_[i].seen - cells_[i].mean);
      if (!(standard > 0) || distance / standard <= farthest) continue;
      farthest = distance / standard;
      worst = i;
    }
    if (worst == cells_.size()) return "";
    return fmt::format("token {} {}: {:.0f} of {}, expected {:.0f}", worst % classes_, text(worst / classes_),
                       cells_[worst].seen, totals_[worst / classes_], cells_[worst].mean);
  }

 private:
  struct Cell {
    double seen = 0, mean = 0, variance = 0;
  };
  std::size_t classes_;
  std::vector<Cell> cells_;
  std::vector<std::uint64_t> totals_;
  std::vector<double> shares_{};
  std::array<double, concentrations> log_e_{};
};

/// Returns the tokens that a state stands for, as in "after (0 1)", or "in state 5".
std::string state_text(std::uint64_t state, const TextTable& target) {
  if (!target.next.empty()) return fmt::format("in state {}", state);
  const auto size = static_cast<std::uint64_t>(target.vocabulary);
  std::string text;
  for (int i = 0; i < target.memory; ++i, state /= size)
    text = fmt::format("{}{}{}", state % size, i > 0 ? " " : "", text);
  return target.memory == 1 ? "after " + text : "after (" + text + ")";
}

/// Returns a weight 1 .. 9 by counter-based random numbers.
double weight_at(std::uint64_t seed, std::uint32_t which, std::size_t cell) {
  return static_cast<double>(1 + philox_pair(seed, which, static_cast<std::uint32_t>(cell), purpose).first % 9);
}

/// Returns a model of weights(cell, state, x) with normalised rows. End tokens have total probability 1/32, or 1/128 if
/// penalties are declared, because faults of penalties show in longer texts. In a proposal their probability is four
/// times as large in every second state, and half as large in the others, so that both happen: an end token is drafted
/// and rejected, and an end token replaces a rejected draft. `states` is the number of states of a model whose state is
/// a function of the whole prefix; 0 if the state is the last tokens.
template <class Weight>
TextTable table_of(int vocabulary, const Declaration& declaration, bool proposal, int states, const Weight& weight) {
  TextTable table{.vocabulary = vocabulary, .memory = declaration.memory, .ends = declaration.end_tokens};
  const auto size = static_cast<std::size_t>(vocabulary);
  auto count = static_cast<std::size_t>(states);
  if (states == 0) {
    count = 1;
    for (int i = 0; i < table.memory; ++i) count *= size;
  }
  const bool penalties = declaration.takes(Setting::presence_penalty) ||
                         declaration.takes(Setting::frequency_penalty) ||
                         declaration.takes(Setting::repetition_penalty);
  // If entries were equal, engines could order their tokens differently and so truncate different tokens.
  const bool truncates =
      declaration.requests &&
      (declaration.takes(Setting::top_k) || declaration.takes(Setting::top_p) || declaration.takes(Setting::min_p));
  const double usual = penalties ? 1.0 / 128 : 1.0 / 32;
  for (std::size_t t = 0; t < count; ++t) {
    std::vector<double> row(size);
    const double of_ends = !proposal ? usual : t % 2 == 0 ? 4 * usual : usual / 2;
    const double rest = table.ends.empty() ? 1 : 1 - of_ends;
    double total = 0;
    for (std::size_t x = 0; x < size; ++x) {
      const bool end = table.is_end(static_cast<std::int32_t>(x));
      const double spread = truncates ? 1 + 0.01 * static_cast<double>(x) : 1;
      row[x] = end ? 0 : spread * weight(t * size + x, t, static_cast<int>(x));
      total += row[x];
      // The tables map different states to different states for each token, because doubling is invertible modulo an
      // odd number: an engine in a wrong state stays in a wrong state.
      if (states > 0) table.next.push_back(static_cast<std::int32_t>((2 * t + x + 1) % count));
    }
    for (double& share : row) share *= rest / total;
    for (const std::int32_t end : table.ends)
      row[static_cast<std::size_t>(end)] = (1 - rest) / static_cast<double>(table.ends.size());
    table.rows.insert(table.rows.end(), row.begin(), row.end());
  }
  return table;
}

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

/// Adds a grammar of three states. State 0 allows all tokens, state 1 those with an odd number and state 2 those with
/// an even number. End tokens have no number and are allowed in states 0 and 1.
void put_under_grammar(TablePair& pair) {
  TextGrammar& grammar = pair.grammar;
  const TextTable& target = pair.target;
  for (int g = 0; g < grammar_states; ++g)
    for (int x = 0, number = 0; x < target.vocabulary; ++x) {
      const bool end = target.is_end(x);
      grammar.legal.push_back((end ? g < 2 : g == 0 || number % 2 == g % 2) ? 1 : 0);
      grammar.next.push_back((2 * g + x + 1) % grammar_states);
      if (!end) ++number;
    }
  TextTable& judged = pair.judged;
  judged = {.vocabulary = target.vocabulary, .memory = target.memory, .rows = {}, .ends = target.ends, .next = {}};
  const auto size = static_cast<std::size_t>(target.vocabulary);
  for (std::uint64_t s = 0; s < target.states(); ++s)
    for (std::size_t g = 0; g < grammar_states; ++g) {
      double allowed = 0;
      for (std::size_t x = 0; x < size; ++x) allowed += grammar.legal[g * size + x] != 0 ? target.row(s)[x] : 0;
      for (std::size_t x = 0; x < size; ++x) {
        judged.rows.push_back(grammar.legal[g * size + x] != 0 ? target.row(s)[x] / allowed : 0);
        judged.next.push_back(target.next[s * size + x] * grammar_states + grammar.next[g * size + x]);
      }
    }
}

TablePair all_transitions(const Declaration& declaration, const TextCheckOptions& options, int vocabulary) {
  const auto table = [&](std::uint32_t which) {
    return table_of(vocabulary, declaration, which == 1, declaration.requests ? dense_states : 0,
                    [&](std::size_t cell, std::size_t, int) { return weight_at(options.seed, which, cell); });
  };
  return {table(0), table(1)};
}

/// Returns tables in which two tokens can follow each token. The first 14 tokens that are not end tokens are numbered
/// and put into layers; tokens of a layer have successors in the next layer. With a longer memory the layers of the
/// last tokens are added up, and the successors are in the layer after the sum. For several requests the first 26
/// tokens are numbered, and each state has two tokens that no other state has. Other tokens have probability 0 in the
/// target and weight 1/4 in the proposal.
TablePair two_successors(const Declaration& declaration, const TextCheckOptions& options, int vocabulary) {
  const int groups = declaration.requests ? sparse_states : layers;
  std::vector<int> group_of(static_cast<std::size_t>(vocabulary), -1);
  int number = 0;
  for (int x = 0; x < vocabulary; ++x)
    if (number < groups * of_a_layer &&
        std::find(declaration.end_tokens.begin(), declaration.end_tokens.end(), x) == declaration.end_tokens.end())
      group_of[static_cast<std::size_t>(x)] = number++ / of_a_layer;
  const auto follows = [&](std::size_t state, int x) {
    if (declaration.requests) return group_of[static_cast<std::size_t>(x)] == static_cast<int>(state);
    int from = 0;  // depends on all tokens of the state, so that a wrong older token is detected, too
    for (int i = 0; i < declaration.memory; ++i, state /= static_cast<std::size_t>(vocabulary))
      from += std::max(group_of[state % static_cast<std::size_t>(vocabulary)], 0);
    return group_of[static_cast<std::size_t>(x)] == (from + 1) % layers;
  };
  const auto table = [&](std::uint32_t which, double elsewhere) {
    return table_of(vocabulary, declaration, which == 3, declaration.requests ? sparse_states : 0,
                    [&, which, elsewhere](std::size_t cell, std::size_t state, int x) {
                      return follows(state, x) ? weight_at(options.seed, which, cell) : elsewhere;
                    });
  };
  return {table(2, 0), table(3, 0.25)};
}

/// Eight requests for `tokens` tokens in all. Prompts are drawn from the target's rows, in which end tokens are left
/// out.
struct Requests {
  std::vector<std::vector<std::int32_t>> prompts{};
  std::vector<TextStart> starts{};
  std::vector<int> lengths{};
};

Requests draw_requests(const TextTable& target, std::uint64_t seed, std::uint64_t number, std::int64_t tokens) {
  constexpr std::array<std::int64_t, requests_at_once> shares{16, 288, 32, 64, 256, 48, 128, 192};  // of 1024
  Requests requests;
  for (std::size_t r = 0; r < shares.size(); ++r) {
    const std::size_t which = (r + number) % shares.size();
    requests.lengths.push_back(static_cast<int>(std::max<std::int64_t>(1, tokens * shares[which] / 1024)));
    Philox random(seed, number * shares.size() + r, Philox::Role::verify);
    std::vector<std::int32_t> prompt;
    std::uint64_t state = 0;
    const auto read = [&](std::int32_t token) {
      prompt.push_back(token);
      state = target.after(state, token);
    };
    const auto draw_until = [&](std::size_t length) {
      while (prompt.size() < length) {
        std::vector<double> row(target.row(state).begin(), target.row(state).end());
        for (const std::int32_t end : target.ends) row[static_cast<std::size_t>(end)] = 0;
        read(InverseCdfTable<InverseCdfSteps>(row).draw(random.next(Purpose::flip)));
      }
    };
    // Of four prompts, the second and the fourth begin as the prompt before them does, and the third differs from the
    // second only in its first four tokens. A cache of blocks of tokens then has both right and wrong blocks to choose
    // from.
    const std::vector<std::int32_t> before = r > 0 ? requests.prompts.back() : std::vector<std::int32_t>();
    const std::size_t length = 1 + random.next(Purpose::flip) % (r % 4 == 0 ? longest_prompt : 12);
    if (r % 4 == 2) draw_until(4);
    const std::size_t taken = r % 4 == 2 ? before.size() : r % 2 == 1 ? before.size() / 2 : 0;
    for (std::size_t i = prompt.size(); i < taken; ++i) read(before[i]);
    draw_until(r % 4 == 1 ? 32 : length);
    requests.prompts.push_back(prompt);
    requests.starts.push_back({state, prompt});
  }
  return requests;
}

/// Whether `token` is the likeliest of a row; of equally likely tokens only the declared one (first, last, any) is
/// accepted.
bool is_greedy(std::span<const double> row, std::int32_t token, Greedy greedy) {
  const double most = *std::max_element(row.begin(), row.end());
  const auto likeliest = [&](std::size_t x) { return !(row[x] < most); };
  const auto at = static_cast<std::size_t>(token);
  if (!likeliest(at)) return false;
  for (std::size_t x = 0; x < row.size(); ++x)
    if (likeliest(x) && ((greedy == Greedy::first && x < at) || (greedy == Greedy::last && x > at))) return false;
  return true;
}

}  // namespace

TextEvidence evidence_of_texts(const GeneratedTexts& of, const TextTable& target) {
  const auto size = static_cast<std::uint64_t>(target.vocabulary), states = target.states();
  const bool settings = !of.settings.empty();
  const auto impossible = [](std::string what) {
    return TextEvidence{std::numeric_limits<double>::infinity(), std::move(what)};
  };
  // A context is a state and up to two tokens before it. Longer contexts are left out if their counts would take more
  // than 2^24 cells.
  std::vector<ContextBets> bets;
  std::uint64_t contexts = states;
  for (int more = 0; more == 0 || (more <= further_contexts && contexts * size <= 1u << 24); ++more, contexts *= size)
    bets.emplace_back(contexts, target.vocabulary);
  ClassBets by_state(of.requests * states, size);
  ClassBets by_history(RowsUnderSettings::penalties, RowsUnderSettings::classes);
  // The first tokens after a prompt and the last ones before the limit have separate bets, because they are few among
  // all tokens.
  constexpr std::size_t near = 7;
  const bool some_draw = of.greedy == Greedy::no || of.greedy_at_zero;
  const bool several = some_draw && (of.requests > 1 || !target.ends.empty());
  ClassBets by_start(near + 1, size), by_end(near + 1, size), by_request(of.requests, size);
  ClassBets ends_by_start(near + 1, 2), ends_by_end(near + 1, 2);
  const auto same = [](std::size_t x) { return x; };
  const auto is_end = [&target](std::size_t x) { return target.is_end(static_cast<std::int32_t>(x)) ? 1u : 0u; };
  const std::uint64_t longest = (target.next.empty() ? states : 1) * size * size;
  for (std::size_t number = 0; number < of.texts.size(); ++number) {
    const std::vector<std::int32_t>& text = of.texts[number];
    const TextStart start = of.starts.empty() ? TextStart{} : of.starts[number];
    std::optional<RowsUnderSettings> under;
    if (settings) under.emplace(of.settings[number], start.prompt, target);
    const bool draws = of.greedy == Greedy::no || (of.greedy_at_zero && !of.settings[number].at_zero());
    const bool many = several && draws;
    std::string what = start.prompt.empty() ? "" : fmt::format(" after a prompt of {} tokens", start.prompt.size());
    if (settings) what += to_text(of.settings[number]);
    std::uint64_t state = start.state, history = 0;  // the last tokens as digits; the last token is the lowest digit
    std::string ended;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (!ended.empty()) return impossible(fmt::format("token {} of the text{} follows {}", i, what, ended));
      const std::int32_t token = text[i];
      std::vector<double> changed;
      if (under) changed = under->row(target.row(state));
      const std::span<const double> row = under ? std::span<const double>(changed) : target.row(state);
      const double p = row[static_cast<std::size_t>(token)];
      if (!(p > 0))
        return impossible(fmt::format("token {} of the text{} is {} {}, which has p = 0", i, what, token,
                                      state_text(state, target)));
      if (!draws && !is_greedy(row, token, of.greedy))
        return impossible(fmt::format("token {} of the text{} is {} {}, which is not the likeliest", i, what, token,
                                      state_text(state, target)));
      std::uint64_t further = 1;
      for (ContextBets& one : bets) {
        if (!draws) break;
        one.add(target.next.empty() ? history % (states * further) : state + states * (history % further), token, p);
        further *= size;
      }
      by_state.add(number % of.requests * states + state, token, row, same, settings && draws);
      const std::size_t place = std::min(i, near);
      by_start.add(place, token, row, same, many);
      ends_by_start.add(place, token, row, is_end, many);
      if (many && number < of.lengths.size()) {
        const auto left = static_cast<std::size_t>(std::max(of.lengths[number] - 1 - static_cast<int>(i), 0));
        by_end.add(std::min(left, near), token, row, same, true);
        ends_by_end.add(std::min(left, near), token, row, is_end, true);
      }
      by_request.add(number % of.requests, token, row, same, draws && of.requests > 1);
      if (under && under->penalty() > 0 && draws)
        by_history.add(
            under->penalty(), token, row, [&](std::size_t x) { return under->class_of(x); }, true);
      state = target.after(state, token);
      history = (history * size + static_cast<std::uint64_t>(token)) % longest;
      if (under) under->read(token);
      if (target.is_end(token))
        ended = fmt::format("the end token {}", token);
      else if (under && under->stopped())
        ended = fmt::format("the stop sequence ({})", fmt::join(of.settings[number].stop, " "));
    }
    if (number >= of.lengths.size()) continue;
    if (ended.empty() && std::ssize(text) < of.lengths[number])
      return impossible(fmt::format("a text{} has {} tokens and no end token{}, expected {} tokens", what,
                                    text.size(), settings ? " or stop sequence" : "", of.lengths[number]));
    if (std::ssize(text) > of.lengths[number])
      return impossible(
          fmt::format("a text{} has {} tokens, expected at most {}", what, text.size(), of.lengths[number]));
  }
  std::vector<double> logs;
  for (const ContextBets& one : bets) logs.insert(logs.end(), one.logs().begin(), one.logs().end());
  const std::array<const ClassBets*, class_bets> of_classes{&by_start,   &by_end,   &ends_by_start, &ends_by_end,
                                                            &by_request, &by_state, &by_history};
  for (const ClassBets* one : of_classes) logs.insert(logs.end(), one->logs().begin(), one->logs().end());
  const std::vector<double> weights(logs.size(), 1.0 / static_cast<double>(logs.size()));
  return {log_weighted_mean_exp(logs, weights), by_state.worst([&](std::size_t context) {
            return state_text(context % states, target) +
                   (of.requests > 1 ? fmt::format(" of request {}", context / states) : "") +
                   (settings ? to_text(of.settings[context / states]) : "");
          })};
}

double text_distance(double tokens, double contexts, int vocabulary, double log_threshold) {
  constexpr double z = 2.33;  // upper 1 % quantile of a standard normal
  const double per_context = tokens / contexts;
  double smallest = 1;
  for (double c = 1; c <= 1e6; c *= 10) {
    const double cost = contexts * (vocabulary - 1) / 2 * std::log1p(per_context / c);
    const double root = (z * std::numbers::sqrt2 + std::sqrt(2 * z * z + 4 * (log_threshold + cost))) / 2;
    smallest = std::min(smallest, root * std::sqrt((1 + c / per_context) / (2 * tokens)));
  }
  return smallest;
}

std::vector<Finding> check_text(Served& program, const TextCheckOptions& options) {
  const Declaration& declaration = program.declaration();
  int beyond = 0;
  for (const std::int32_t end : declaration.end_tokens) beyond = std::max(beyond, end + 1);
  const int ends = static_cast<int>(declaration.end_tokens.size()), most = declaration.most_vocabulary;
  const int of_sparse = std::max((declaration.requests ? sparse_states : layers) * of_a_layer + ends, beyond);
  const bool sparse = most == 0 || of_sparse <= most;
  const int usual = std::max(options.vocabulary + ends, beyond);
  const int dense = most == 0 ? usual : std::max({std::min(usual, most), beyond, 2});
  std::array<TablePair, 2> tables{all_transitions(declaration, options, dense),
                                  two_successors(declaration, options, sparse ? of_sparse : beyond + 1)};
  const bool masked = declaration.grammar && declaration.requests;
  for (TablePair& pair : tables)
    if (masked) put_under_grammar(pair);
  const auto judged = [&](std::size_t at) -> const TextTable& {
    return masked ? tables[at].judged : tables[at].target;
  };
  const bool many = ends > 0 || declaration.requests;
  std::array<std::vector<TextSettings>, 2> settings;
  for (std::size_t at = 0; at < (sparse ? tables.size() : 1); ++at)
    settings[at] = draw_settings(declaration, tables[at].target, requests_at_once, options.seed);
  const std::int64_t planned = std::int64_t{1} << options.log2_tokens;
  const double threshold = ErrorBudget::numerics - std::log(options.alpha);
  Finding finding{.property = "generated_text", .tier = Tier::sampled, .status = Status::passed};
  std::array<GeneratedTexts, 2> texts;
  for (GeneratedTexts& of : texts) of.greedy = declaration.greedy, of.greedy_at_zero = declaration.greedy_at_zero();
  std::array<TextEvidence, 2> evidence;
  const std::array<double, 2> halves{0.5, 0.5};
  double log_e = 0;
  const auto weigh = [&](std::size_t at) {
    evidence[at] = evidence_of_texts(texts[at], judged(at));
    log_e = log_weighted_mean_exp(std::vector{evidence[0].log_e, evidence[1].log_e}, halves);
  };
  for (std::int64_t tokens = 0, number = 0; tokens < planned && log_e < threshold; ++number) {
    constexpr std::int64_t first = 1024;
    const auto at = static_cast<std::size_t>(sparse ? number % 2 : 0);
    // With end tokens or several requests there are many texts, and in sparse tables a few tokens suffice to show a
    // fault, so all texts are as long as the first.
    const std::int64_t wanted = many || at == 1 ? first : std::max(first, tokens);
    const auto length = static_cast<int>(std::min(wanted, planned - tokens));
    const auto seed = philox_pair(options.seed, static_cast<std::uint64_t>(number), 0, purpose_of_texts).first >> 1;
    const TablePair& pair = tables[at];
    GeneratedTexts& of = texts[at];
    ServedModels models{.vocabulary = pair.target.vocabulary,
                        .memory = declaration.memory,
                        .length = length,
                        .drafts = options.drafts,
                        .seed = static_cast<std::int64_t>(seed),
                        .target = pair.target.rows,
                        .proposal = pair.proposal.rows,
                        .next = pair.target.next,
                        .legal = pair.grammar.legal,
                        .legal_next = pair.grammar.next};
    std::vector<std::vector<std::int32_t>> answered;
    try {
      if (declaration.requests) {
        of.requests = requests_at_once;
        Requests drawn = draw_requests(pair.target, seed, static_cast<std::uint64_t>(number), length);
        models.prompts = std::move(drawn.prompts), models.lengths = std::move(drawn.lengths);
        models.length = *std::max_element(models.lengths.begin(), models.lengths.end());
        if (!declaration.settings.empty()) {
          for (std::size_t r = 0; r < requests_at_once; ++r) {
            TextSettings& given = of.settings.emplace_back(settings[at][r]);
            // Engines differ in whether a stop sequence may begin in the prompt, so such a stop sequence is not used.
            if (!given.stop.empty() && given.stop.front() == models.prompts[r].back()) given.stop.clear();
            models.settings.push_back(to_json(given, declaration));
          }
        }
        answered = program.generate_requests(models);
        for (const TextStart& start : drawn.starts)
          of.starts.push_back({start.state * (masked ? grammar_states : 1), start.prompt});
      } else {
        models.lengths = {length};
        answered.push_back(program.generate(models));
      }
    } catch (const ProgramSilent& silent) {
      finding.status = Status::undecided;
      finding.evidence = fmt::format("a text of {} tokens: {}; ", length, silent.what());
      break;
    }
    for (const std::vector<std::int32_t>& text : answered) tokens += std::max<std::int64_t>(1, std::ssize(text));
    std::move(answered.begin(), answered.end(), std::back_inserter(of.texts));
    of.lengths.insert(of.lengths.end(), models.lengths.begin(), models.lengths.end());
    finding.work = static_cast<std::uint64_t>(tokens);
    // weigh() reads all texts again, so it is called only when the number of texts has doubled.
    if (many && !std::has_single_bit(of.texts.size()) && tokens < planned) continue;
    weigh(at);
  }
  if (many)  // judges the texts generated since the last call of weigh()
    for (std::size_t at = 0; at < tables.size() && log_e < threshold; ++at) weigh(at);
  if (log_e >= threshold) finding.status = Status::failed;
  if (finding.status == Status::passed) {
    const auto tokens_on = [&texts](std::size_t at) {
      double sum = 0;
      for (const auto& text : texts[at].texts) sum += static_cast<double>(text.size());
      return sum;
    };
    const TextTable& target = judged(0);
    const double mixture = std::log(2.0 * concentrations * (1 + further_contexts + class_bets));
    std::vector<std::string> shown;
    // Rows under settings differ from request to request, so no common total variation is stated.
    if (declaration.greedy == Greedy::no && declaration.settings.empty())
      shown.push_back(
          sensitivity_of(text_distance(tokens_on(0), static_cast<double>(target.rows.size()) / target.vocabulary,
                                       target.vocabulary, threshold + mixture),
                         " in every row"));
    // A fault that changes each token with probability r is missed with probability (1 - r)^tokens.
    if (const double all = tokens_on(0) + tokens_on(1); declaration.always_greedy())
      shown.push_back(fmt::format("a token that is not the likeliest once in {:.0f} tokens", all / std::log(100.0)));
    else if (tokens_on(1) > 0)
      shown.push_back(
          fmt::format("a token lost, doubled or displaced once in {:.0f} tokens", tokens_on(1) / std::log(100.0)));
    std::erase(shown, "");
    finding.sensitivity = fmt::format("{}", fmt::join(shown, "; "));
    if (declaration.requests && !shown.empty())
      finding.sensitivity += fmt::format(", in texts of up to {} tokens",
                                         *std::max_element(texts[0].lengths.begin(), texts[0].lengths.end()));
  }
  const TextEvidence& stronger = evidence[evidence[1].log_e > evidence[0].log_e];
  finding.evidence += fmt::format("e = 10^{:.1f} after {} tokens{}{}", log_e / std::log(10.0), finding.work,
                                  stronger.worst.empty() ? "" : ", most at ", stronger.worst);
  finding.replay = replay_line(
      "check", "", {{"adapter", options.adapter}, {"tier", "sampled"}, {"seed", std::to_string(options.seed)}});
  return {std::move(finding)};
}

}  // namespace draftproof::adapters
