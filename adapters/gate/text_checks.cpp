#include <draftproof/adapters/gate/text_checks.hpp>
#include <draftproof/properties/statistics/log_mean_exp.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <numbers>

#include <fmt/format.h>

#include <draftproof/properties/proof/finding.hpp>

#include <draftproof/adapters/gate/text_models.hpp>
#include <draftproof/adapters/wire/result_reader.hpp>
#include <draftproof/properties/statistics/error_budget.hpp>
#include <draftproof/properties/statistics/gate_suite.hpp>
#include <draftproof/properties/statistics/sample_size.hpp>
#include <draftproof/sim/random/philox4x32.hpp>

namespace draftproof::adapters {

namespace {

constexpr int further_contexts = 2, concentrations = 7;
/// Calls that may fail before the first text; a program that fails on all of them has no text to judge.
constexpr int most_failing_calls = 8;
constexpr int class_bets = 9;  ///< number of class bets in evidence_of_texts
constexpr std::uint32_t purpose_of_texts = 0x203;

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

/// Returns the tokens that a state stands for, as in "after (0 1)", or "in state 5", "in state 6, grammar state 2".
std::string state_text(std::uint64_t state, const TextTable& target) {
  if (const std::uint64_t of = target.grammar_states; of > 0)
    return fmt::format("in state {}, grammar state {}", state / of, state % of);
  if (!target.next.empty()) return fmt::format("in state {}", state);
  const auto size = static_cast<std::uint64_t>(target.vocabulary);
  std::string text;
  for (int i = 0; i < target.memory; ++i, state /= size)
    text = fmt::format("{}{}{}", state % size, i > 0 ? " " : "", text);
  return target.memory == 1 ? "after " + text : "after (" + text + ")";
}

/// Returns a row as text: all entries of a short row, and the possible tokens of a long one.
std::string row_text(std::span<const double> row) {
  constexpr std::size_t short_row = 8;
  std::vector<std::string> entries;
  for (std::size_t x = 0; x < row.size(); ++x)
    if (row.size() <= short_row)
      entries.push_back(fmt::format("{:.4g}", row[x]));
    else if (row[x] > 0)
      entries.push_back(fmt::format("{}: {:.4g}", x, row[x]));
  return fmt::format("({})", fmt::join(entries, row.size() <= short_row ? " " : ", "));
}

/// Returns a description of the call for a text or for requests.
std::string call_text(const ServedModels& models) {
  const std::string what =
      models.prompts.empty()
          ? fmt::format("a text of {} tokens", models.length)
          : fmt::format("{} requests for texts of ({}) tokens, the first prompt ({})", models.prompts.size(),
                        fmt::join(models.lengths, " "), fmt::join(models.prompts.front(), " "));
  return fmt::format("{}, V = {}, {} drafts a step, seed {}", what, models.vocabulary, models.drafts, models.seed);
}

/// Returns "; p before the settings (..), p after them (..)", which follows a text that names the settings.
std::string rows_text(std::span<const double> before, std::span<const double> after) {
  return fmt::format("; p before the settings {}, p after them {}", row_text(before), row_text(after));
}

/// Returns the token that a greedy program must emit in place of `token`: the likeliest of a row, and of equally likely
/// tokens the declared one (first, last, or any, for which it is `token` itself).
std::size_t greedy_token(std::span<const double> row, std::int32_t token, Greedy greedy) {
  const auto first = std::max_element(row.begin(), row.end());
  const auto at = static_cast<std::size_t>(token);
  if (greedy == Greedy::any && !(row[at] < *first)) return at;
  if (greedy == Greedy::last)
    return static_cast<std::size_t>(std::find(row.rbegin(), row.rend(), *first).base() - row.begin()) - 1;
  return static_cast<std::size_t>(first - row.begin());
}

/// Returns "is not the likeliest: p = 0.23682, and token 0 has p = 0.23683", with the digits that tell the two apart.
std::string greedy_text(std::span<const double> row, std::int32_t token, Greedy greedy) {
  const std::size_t wanted = greedy_token(row, token, greedy);
  const double p = row[static_cast<std::size_t>(token)], most = row[wanted];
  if (p == most)
    return fmt::format("is not the {} of the likeliest: token {} has the same p = {}",
                       greedy == Greedy::first ? "first" : "last", wanted, p);
  return fmt::format("is not the likeliest: p = {}, and token {} has p = {}", p, wanted, most);
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
  ClassBets ends_by_start(near + 1, 2), ends_by_end(near + 1, 2), ends_by_least(2, 2);
  // Classes of tokens by probability: 1 to 1/2, 1/2 to 1/4, .., 1/128 to 0. A row that is flatter or steeper than the
  // target's changes the counts of few classes.
  constexpr std::size_t halvings = 8;
  ClassBets by_likelihood(of.requests, halvings);
  const auto same = [](std::size_t x) { return x; };
  const auto is_end = [&target](std::size_t x) { return target.is_end(static_cast<std::int32_t>(x)) ? 1u : 0u; };
  const std::uint64_t longest = (target.next.empty() ? states : 1) * size * size;
  std::vector<double> log_p;
  for (std::size_t number = 0; number < of.texts.size(); ++number) {
    const std::vector<std::int32_t>& text = of.texts[number];
    const TextStart start = of.starts.empty() ? TextStart{} : of.starts[number];
    std::optional<RowsUnderSettings> under;
    if (settings) under.emplace(of.settings[number], start.prompt, target);
    const bool draws = of.greedy == Greedy::no || (of.greedy_at_zero && !of.settings[number].at_zero());
    const bool many = several && draws;
    log_p.push_back(0);
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
      const bool possible = p > 0;
      if (!possible || (!draws && greedy_token(row, token, of.greedy) != static_cast<std::size_t>(token)))
        return impossible(fmt::format("token {} of the text{} is {} {}, which {}{}", i, what, token,
                                      state_text(state, target),
                                      possible ? greedy_text(row, token, of.greedy) : "has p = 0",
                                      under ? rows_text(target.row(state), row) : ""));
      if (draws) log_p.back() += std::log(p);
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
      const auto likelihood = [&row](std::size_t x) {
        int exponent = 0;
        std::frexp(row[x], &exponent);  // of a probability at least 1/2: 0 or 1
        return row[x] > 0 ? std::min(static_cast<std::size_t>(std::max(-exponent, 0)), halvings - 1) : halvings - 1;
      };
      by_likelihood.add(number % of.requests, token, row, likelihood, many);
      if (const int least = under ? of.settings[number].min_tokens : 0; least > 0 && static_cast<int>(i) >= least)
        // An engine may add one token for each draft after `min_tokens` in the same step.
        ends_by_least.add(static_cast<int>(i) - least < drafts_of_a_step ? 0 : 1, token, row, is_end, many);
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
  const std::array<const ClassBets*, class_bets> of_classes{&by_start,    &by_end,        &ends_by_start,
                                                            &ends_by_end, &ends_by_least, &by_request,
                                                            &by_state,    &by_history,    &by_likelihood};
  for (const ClassBets* one : of_classes) logs.insert(logs.end(), one->logs().begin(), one->logs().end());
  const std::vector<double> weights(logs.size(), 1.0 / static_cast<double>(logs.size()));
  const auto place = [&](std::size_t context) {
    const std::uint64_t state = context % states, request = context / states;
    std::string text = state_text(state, target) + (of.requests > 1 ? fmt::format(" of request {}", request) : "");
    if (!settings) return text;
    const TextSettings& given = of.settings[request];
    text += to_text(given);
    // Penalties and a least length change the row while the text grows, so there is no single row after them.
    const bool fixed = RowsUnderSettings(given, {}, target).penalty() == 0 && given.min_tokens == 0;
    const std::span<const double> row = target.row(state);
    return text + (fixed ? rows_text(row, RowsUnderSettings(given, {}, target).row(row))
                         : fmt::format("; p before the settings {}", row_text(row)));
  };
  return {log_weighted_mean_exp(logs, weights), by_state.worst(place), std::move(log_p)};
}

namespace {

/// Whether the last tokens of the prompt are the first tokens of the stop sequence.
bool begins_in(const std::vector<std::int32_t>& prompt, const std::vector<std::int32_t>& stop) {
  for (std::size_t n = 1; n <= std::min(prompt.size(), stop.size()); ++n)
    if (std::equal(stop.begin(), stop.begin() + static_cast<std::ptrdiff_t>(n),
                   prompt.end() - static_cast<std::ptrdiff_t>(n)))
      return true;
  return false;
}

/// Whether `b` begins with `a`.
bool begins_with(const std::vector<std::int32_t>& b, const std::vector<std::int32_t>& a) {
  return b.size() >= a.size() && std::equal(a.begin(), a.end(), b.begin());
}

/// Returns the logarithm of an e-value against the equality of pairs (a, b) of texts that must be independent: if each
/// b begins with its a, one over the probability of all a that are drawn, else 0. `log_p` are the logarithms of the
/// texts' probabilities. Given the texts a, a lossless engine emits texts b that begin with them with this probability
/// or less, so the e-value has mean at most 1.
double evidence_of_equal(const GeneratedTexts& of, std::span<const double> log_p,
                         std::span<const std::pair<std::size_t, std::size_t>> pairs) {
  double sum = 0;
  for (const auto& [a, b] : pairs) {
    if (!begins_with(of.texts[b], of.texts[a])) return -std::numeric_limits<double>::infinity();
    sum += log_p[a];
  }
  return -sum;
}

/// The evidence of equal random numbers: in two calls with different seeds, and in two requests of a call with equal
/// prompts. `within_calls` is the mean over all pairs of requests.
struct EqualTexts {
  double between_calls = 0, within_calls = 0;
  std::pair<std::size_t, std::size_t> requests{};  ///< the pair with the strongest evidence
};

EqualTexts equal_texts(const GeneratedTexts& of, std::span<const double> log_p) {
  if (log_p.size() != of.texts.size()) return {};  // the texts were not all read
  using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;
  EqualTexts found;
  Pairs calls;
  // A program for one request has the same prompt in all calls. Others have it in the first two calls.
  const std::size_t last = of.requests == 1 ? of.texts.size() : std::min(of.texts.size(), 2 * of.requests);
  for (std::size_t b = of.requests; b < last; ++b)
    if (const std::size_t a = b - of.requests; of.lengths[b] >= of.lengths[a]) calls.emplace_back(a, b);
  found.between_calls = evidence_of_equal(of, log_p, calls);
  if (of.requests != requests_at_once || !of.settings.empty()) return found;
  std::map<std::pair<std::size_t, std::size_t>, Pairs> of_requests;
  for (std::size_t a = 0; a < requests_at_once; ++a)
    for (std::size_t b = a + 1; b < requests_at_once; ++b)
      for (std::size_t first = 0; first < of.texts.size(); first += of.requests) {
        std::pair<std::size_t, std::size_t> texts{first + a, first + b};
        if (of.starts[texts.first].prompt != of.starts[texts.second].prompt) continue;
        if (of.lengths[texts.first] > of.lengths[texts.second]) std::swap(texts.first, texts.second);
        of_requests[{a, b}].push_back(texts);
      }
  std::vector<double> logs;
  for (const auto& [requests, texts] : of_requests) {
    logs.push_back(evidence_of_equal(of, log_p, texts));
    if (logs.back() >= *std::ranges::max_element(logs)) found.requests = requests;
  }
  const std::vector<double> weights(logs.size(), 2.0 / (requests_at_once * (requests_at_once - 1)));
  found.within_calls = log_weighted_mean_exp(logs, weights);
  return found;
}

}  // namespace

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
  const int of_sparse =
      std::max((declaration.requests ? sparse_states : text_layers) * tokens_of_a_layer + ends, beyond);
  const bool sparse = most == 0 || of_sparse <= most;
  const int usual = std::max(options.vocabulary + ends, beyond);
  const int dense = most == 0 ? usual : std::max({std::min(usual, most), beyond, 2});
  std::array<TablePair, 2> tables{all_transitions(declaration, options.seed, dense),
                                  two_successors(declaration, options.seed, sparse ? of_sparse : beyond + 1)};
  const bool masked = declaration.grammar && declaration.requests;
  for (TablePair& pair : tables)
    if (masked) put_under_grammar(pair);
  const auto judged = [&](std::size_t at) -> const TextTable& {
    return masked ? tables[at].judged : tables[at].target;
  };
  const bool many = ends > 0 || declaration.requests;
  std::array<std::vector<TextSettings>, 2> settings;
  for (std::size_t at = 0; at < (sparse ? tables.size() : 1); ++at)
    // The seeds differ, so that the requests of the two tables have different settings.
    settings[at] = draw_settings(declaration, judged(at), requests_at_once, options.seed + 2 * at);
  const std::int64_t planned = std::int64_t{1} << options.log2_tokens;
  const double threshold = ErrorBudget::numerics - std::log(options.alpha);
  Finding finding{.property = "generated_text", .tier = Tier::sampled, .status = Status::passed};
  std::array<GeneratedTexts, 2> texts;
  for (GeneratedTexts& of : texts) of.greedy = declaration.greedy, of.greedy_at_zero = declaration.greedy_at_zero();
  std::array<TextEvidence, 2> evidence;
  // Equal texts are no rare accident of a fault but evidence of hundreds of tokens, so a small weight suffices.
  constexpr double of_equal = 0x1p-30;
  const std::array<double, 4> weights{0.5 - of_equal, 0.5 - of_equal, of_equal, of_equal};
  EqualTexts equal;
  double log_e = 0;
  const auto weigh = [&](std::size_t at) {
    evidence[at] = evidence_of_texts(texts[at], judged(at));
    if (at == 0) equal = equal_texts(texts[0], evidence[0].log_p);
    log_e = log_weighted_mean_exp(
        std::vector{evidence[0].log_e, evidence[1].log_e, equal.between_calls, equal.within_calls}, weights);
  };
  std::pair<std::uint64_t, std::uint64_t> first_call;  // seed and number of the first requests
  std::string failure;                                 // the first call that failed
  int failures = 0;
  const auto weigh_all = [&] {
    for (std::size_t at = 0; at < tables.size() && log_e < threshold; ++at) weigh(at);
  };
  GateSchedule schedule(static_cast<std::uint64_t>(planned), static_cast<std::uint64_t>(planned), threshold);
  std::int64_t goal = planned;  // number of tokens after which the schedule reads the evidence
  for (std::int64_t tokens = 0, number = 0; log_e < threshold; ++number) {
    if (tokens >= goal) {
      weigh_all();
      schedule.observe(log_e);
      if (schedule.next() == 0) break;
      goal += static_cast<std::int64_t>(schedule.next());
    }
    constexpr std::int64_t first = 1024;
    const auto at = static_cast<std::size_t>(sparse ? number % 2 : 0);
    // With end tokens or several requests there are many texts, and in sparse tables a few tokens suffice to show a
    // fault, so all texts are as long as the first.
    const std::int64_t wanted = many || at == 1 ? first : std::clamp(tokens, first, planned);
    const auto length = static_cast<int>(std::min(wanted, goal - tokens));
    const auto seed = philox_pair(options.seed, static_cast<std::uint64_t>(number), 0, purpose_of_texts).first >> 1;
    const TablePair& pair = tables[at];
    GeneratedTexts& of = texts[at];
    ServedModels models{.vocabulary = pair.target.vocabulary,
                        .memory = declaration.memory,
                        .length = length,
                        .drafts = drafts_of_a_step,
                        .seed = static_cast<std::int64_t>(seed),
                        .target = pair.target.rows,
                        .proposal = pair.proposal.rows,
                        .next = pair.target.next,
                        .legal = pair.grammar.legal,
                        .legal_next = pair.grammar.next};
    std::vector<std::vector<std::int32_t>> answered;
    Requests drawn;
    std::vector<TextSettings> of_call;
    try {
      if (declaration.requests) {
        of.requests = requests_at_once;
        // The second call on the tables with all transitions repeats the requests of the first one, with another seed.
        const bool repeats = at == 0 && of.texts.size() == requests_at_once;
        if (at == 0 && of.texts.empty()) first_call = {seed, static_cast<std::uint64_t>(number)};
        drawn = repeats ? draw_requests(pair.target, first_call.first, first_call.second, length)
                        : draw_requests(pair.target, seed, static_cast<std::uint64_t>(number), length);
        models.prompts = std::move(drawn.prompts), models.lengths = std::move(drawn.lengths);
        models.length = *std::max_element(models.lengths.begin(), models.lengths.end());
        if (!declaration.settings.empty()) {
          for (std::size_t r = 0; r < requests_at_once; ++r) {
            TextSettings& given = of_call.emplace_back(settings[at][r]);
            // Engines differ in whether a stop sequence may begin in the prompt, so such a stop sequence is not used.
            if (begins_in(models.prompts[r], given.stop)) given.stop.clear();
            models.settings.push_back(to_json(given, declaration));
          }
        }
        answered = program.generate_requests(models);
      } else {
        models.lengths = {length};
        answered.push_back(program.generate(models));
      }
    } catch (const ProgramSilent& silent) {
      finding.status = Status::undecided;
      finding.evidence = fmt::format("a text of {} tokens: {}; ", length, silent.what());
      break;
    } catch (const RequestFailed& failed) {
      if (failures++ == 0) failure = fmt::format("{}: {}", call_text(models), failed.what());
      if (texts[0].texts.empty() && texts[1].texts.empty()) {
        if (failures == most_failing_calls) throw ProgramFails(declaration.name, failed.what());
        continue;
      }
      finding.status = Status::undecided;
      finding.evidence = "a call failed; before it ";
      break;
    }
    for (const TextStart& start : drawn.starts)
      of.starts.push_back({start.state * (masked ? grammar_states : 1), start.prompt});
    std::move(of_call.begin(), of_call.end(), std::back_inserter(of.settings));
    for (const std::vector<std::int32_t>& text : answered) tokens += std::max<std::int64_t>(1, std::ssize(text));
    std::move(answered.begin(), answered.end(), std::back_inserter(of.texts));
    of.lengths.insert(of.lengths.end(), models.lengths.begin(), models.lengths.end());
    finding.work = static_cast<std::uint64_t>(tokens);
    // weigh() reads all texts again, so it is called only when the number of texts has doubled.
    if (!many || std::has_single_bit(of.texts.size())) weigh(at);
  }
  if (finding.status == Status::undecided) weigh_all();  // the texts before the call that failed
  if (log_e >= threshold) finding.status = Status::failed;
  if (finding.status == Status::passed && schedule.undecided()) {
    finding.status = Status::undecided;
    finding.evidence =
        fmt::format("neither passed nor failed, with e from 10^2 to 10^{:.1f}; ", threshold / std::log(10.0));
  }
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
  if (equal.between_calls + std::log(of_equal) >= threshold)
    finding.evidence +=
        "texts of equal prompts are equal in two calls with different seeds, so the engine's random numbers do not "
        "depend on the seed; ";
  if (equal.within_calls + std::log(of_equal) >= threshold)
    finding.evidence += fmt::format(
        "where requests {} and {} of a call have equal prompts, their texts are equal, too, so they have equal "
        "random numbers; ",
        equal.requests.first, equal.requests.second);
  const TextEvidence& stronger = evidence[evidence[1].log_e > evidence[0].log_e];
  finding.evidence += fmt::format("e = 10^{:.1f} after {} tokens{}{}", log_e / std::log(10.0), finding.work,
                                  stronger.worst.empty() ? "" : ", most at ", stronger.worst);
  finding.replay = replay_line(
      "check", "", {{"adapter", options.adapter}, {"tier", "sampled"}, {"seed", std::to_string(options.seed)}});
  std::vector<Finding> findings{std::move(finding)};
  if (!failure.empty())
    findings.push_back(finding_of("answers", Tier::sampled, Answer::failed(failure), findings.front().work, {},
                                  findings.front().replay));
  return findings;
}

}  // namespace draftproof::adapters
