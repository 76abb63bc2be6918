#include <draftproof/adapters/gate/text_checks.hpp>
#include <draftproof/properties/statistics/log_mean_exp.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

#include <fmt/format.h>

#include <draftproof/properties/proof/finding.hpp>

#include <draftproof/properties/statistics/error_budget.hpp>
#include <draftproof/properties/statistics/sample_size.hpp>
#include <draftproof/sim/random/philox4x32.hpp>

namespace draftproof::adapters {

namespace {

constexpr int further_contexts = 2, concentrations = 7;
constexpr int layers = 7, of_a_layer = 2;  ///< layers of a sparse table, and tokens per layer
constexpr std::uint32_t purpose = 0x202, purpose_of_texts = 0x203;

/// Counts of tokens after contexts of one length, and the logarithms of the bets on them.
class ContextBets {
 public:
  ContextBets(int length, int vocabulary) : vocabulary_{static_cast<std::size_t>(vocabulary)} {
    std::size_t contexts = 1;
    for (; length > 0; --length) contexts *= vocabulary_;
    counts_.resize(contexts * vocabulary_);
    totals_.resize(contexts);
  }

  /// `history` has the earlier tokens as digits, the last token lowest.
  void add(std::uint64_t history, std::int32_t token, double probability) {
    const std::size_t context = history % totals_.size(),
                      cell = context * vocabulary_ + static_cast<std::size_t>(token);
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
  std::uint64_t count(std::size_t context, std::size_t token) const { return counts_[context * vocabulary_ + token]; }
  std::uint64_t total(std::size_t context) const { return totals_[context]; }

 private:
  std::size_t vocabulary_;
  std::vector<std::uint64_t> counts_, totals_;
  std::array<double, concentrations> log_e_{};
};

std::string context_text(std::uint64_t history, std::uint64_t size, int length) {
  std::string text;
  for (int i = 0; i < length; ++i, history /= size)
    text = fmt::format("{}{}{}", history % size, i > 0 ? " " : "", text);
  return length == 1 ? text : "(" + text + ")";
}

std::string worst_transition(const ContextBets& bets, const TextTable& target) {
  const auto size = static_cast<std::size_t>(target.vocabulary);
  double farthest = 0;
  std::string worst;
  for (std::size_t t = 0; t < target.rows.size() / size; ++t)
    for (std::size_t x = 0; x < size; ++x) {
      const auto n = static_cast<double>(bets.total(t));
      const double p = target.rows[t * size + x], expected = n * p, seen = static_cast<double>(bets.count(t, x));
      const double standard = std::sqrt(expected * (1 - p));
      if (!(standard > 0) || std::abs(seen - expected) / standard <= farthest) continue;
      farthest = std::abs(seen - expected) / standard;
      worst = fmt::format("token {} after {}: {} of {}, expected {:.0f}", x, context_text(t, size, target.memory),
                          seen, n, expected);
    }
  return worst;
}

/// Returns a weight 1 .. 9 by counter-based random numbers.
double weight_at(std::uint64_t seed, std::uint32_t which, std::size_t cell) {
  return static_cast<double>(1 + philox_pair(seed, which, static_cast<std::uint32_t>(cell), purpose).first % 9);
}

/// A table of weights(cell, last, x) with normalised rows; end tokens have total probability 1/32.
template <class Weight>
TextTable table_of(int vocabulary, const Declaration& declaration, const Weight& weight) {
  TextTable table{.vocabulary = vocabulary, .memory = declaration.memory, .ends = declaration.end_tokens};
  const auto size = static_cast<std::size_t>(vocabulary);
  std::size_t contexts = 1;
  for (int i = 0; i < table.memory; ++i) contexts *= size;
  const double rest = table.ends.empty() ? 1 : 1 - 1.0 / 32;
  for (std::size_t t = 0; t < contexts; ++t) {
    std::vector<double> row(size);
    double total = 0;
    for (std::size_t x = 0; x < size; ++x) {
      const bool ends = std::find(table.ends.begin(), table.ends.end(), static_cast<int>(x)) != table.ends.end();
      row[x] = ends ? 0 : weight(t * size + x, static_cast<int>(t % size), static_cast<int>(x));
      total += row[x];
    }
    for (double& share : row) share *= rest / total;
    for (const std::int32_t end : table.ends)
      row[static_cast<std::size_t>(end)] = (1 - rest) / static_cast<double>(table.ends.size());
    table.rows.insert(table.rows.end(), row.begin(), row.end());
  }
  return table;
}

/// Target and proposal, with all transitions or with two successors of each token.
struct TablePair {
  TextTable target, proposal;
};

TablePair all_transitions(const Declaration& declaration, const TextCheckOptions& options, int vocabulary) {
  const auto table = [&](std::uint32_t which) {
    return table_of(vocabulary, declaration,
                    [&](std::size_t cell, int, int) { return weight_at(options.seed, which, cell); });
  };
  return {table(0), table(1)};
}

/// The first 14 tokens that are not end tokens are numbered; tokens of a layer have successors in the next layer;
/// other tokens have probability 0 in the target and weight 1/4 in the proposal.
TablePair two_successors(const Declaration& declaration, const TextCheckOptions& options, int vocabulary) {
  std::vector<int> layer_of(static_cast<std::size_t>(vocabulary), -1);
  int number = 0;
  for (int x = 0; x < vocabulary; ++x)
    if (number < layers * of_a_layer &&
        std::find(declaration.end_tokens.begin(), declaration.end_tokens.end(), x) == declaration.end_tokens.end())
      layer_of[static_cast<std::size_t>(x)] = number++ / of_a_layer;
  const auto table = [&](std::uint32_t which, double elsewhere) {
    return table_of(vocabulary, declaration, [&, which, elsewhere](std::size_t cell, int last, int x) {
      const int from = std::max(layer_of[static_cast<std::size_t>(last)], 0);
      const bool follows = layer_of[static_cast<std::size_t>(x)] == (from + 1) % layers;
      return follows ? weight_at(options.seed, which, cell) : elsewhere;
    });
  };
  return {table(2, 0), table(3, 0.25)};
}

}  // namespace

TextEvidence evidence_of_texts(std::span<const std::vector<std::int32_t>> texts, const TextTable& target,
                               std::span<const int> lengths) {
  const auto size = static_cast<std::uint64_t>(target.vocabulary);
  const auto impossible = [](std::string what) {
    return TextEvidence{std::numeric_limits<double>::infinity(), std::move(what)};
  };
  std::vector<ContextBets> bets;
  std::uint64_t longest = 1;  // number of contexts, the last token left out
  // Longer contexts are left out if their counts would take more than 2^24 cells.
  double cells = std::pow(static_cast<double>(size), target.memory + 1);
  for (int length = target.memory;
       length == target.memory || (length <= target.memory + further_contexts && cells <= 0x1p24);
       ++length, cells *= static_cast<double>(size))
    bets.emplace_back(length, target.vocabulary);
  for (int i = 1; i < target.memory + further_contexts; ++i) longest *= size;
  for (std::size_t number = 0; number < texts.size(); ++number) {
    const std::vector<std::int32_t>& text = texts[number];
    std::uint64_t history = 0;
    bool ended = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (ended) return impossible(fmt::format("token {} of the text follows the end token {}", i, text[i - 1]));
      const double p = target.after(history)[static_cast<std::size_t>(text[i])];
      if (!(p > 0))
        return impossible(fmt::format("token {} of the text is {} after {}, which has p = 0", i, text[i],
                                      context_text(history, size, target.memory)));
      for (ContextBets& one : bets) one.add(history, text[i], p);
      history = history % longest * size + static_cast<std::uint64_t>(text[i]);
      ended = std::find(target.ends.begin(), target.ends.end(), text[i]) != target.ends.end();
    }
    if (!ended && number < lengths.size() && std::ssize(text) < lengths[number])
      return impossible(
          fmt::format("a text of {} tokens has no end token, expected {} tokens", text.size(), lengths[number]));
  }
  std::vector<double> logs;
  for (const ContextBets& one : bets) logs.insert(logs.end(), one.logs().begin(), one.logs().end());
  const std::vector<double> weights(logs.size(), 1.0 / static_cast<double>(logs.size()));
  return {log_weighted_mean_exp(logs, weights), worst_transition(bets.front(), target)};
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
  const int of_sparse = std::max(layers * of_a_layer + ends, beyond);
  const bool sparse = most == 0 || of_sparse <= most;
  const std::array<TablePair, 2> tables{
      all_transitions(declaration, options, std::max(options.vocabulary + ends, beyond)),
      two_successors(declaration, options, sparse ? of_sparse : beyond + 1)};
  const std::int64_t planned = std::int64_t{1} << options.log2_tokens;
  const double threshold = ErrorBudget::numerics - std::log(options.alpha);
  Finding finding{.property = "generated_text", .tier = Tier::sampled, .status = Status::passed};
  std::array<std::vector<std::vector<std::int32_t>>, 2> texts;
  std::array<std::vector<int>, 2> lengths;
  std::array<TextEvidence, 2> evidence;
  const std::array<double, 2> halves{0.5, 0.5};
  double log_e = 0;
  const auto weigh = [&](std::size_t at) {
    evidence[at] = evidence_of_texts(texts[at], tables[at].target, lengths[at]);
    log_e = log_weighted_mean_exp(std::vector{evidence[0].log_e, evidence[1].log_e}, halves);
  };
  for (std::int64_t tokens = 0, number = 0; tokens < planned && log_e < threshold; ++number) {
    constexpr std::int64_t first = 1024;
    const auto at = static_cast<std::size_t>(sparse ? number % 2 : 0);
    // With end tokens there are many texts, and in sparse tables few tokens show a fault: all are as long as the
    // first.
    const std::int64_t wanted = ends > 0 || at == 1 ? first : std::max(first, tokens);
    const auto length = static_cast<int>(std::min(wanted, planned - tokens));
    const auto seed = philox_pair(options.seed, static_cast<std::uint64_t>(number), 0, purpose_of_texts).first >> 1;
    try {
      texts[at].push_back(program.generate({.vocabulary = tables[at].target.vocabulary,
                                            .memory = declaration.memory,
                                            .length = length,
                                            .drafts = options.drafts,
                                            .seed = static_cast<std::int64_t>(seed),
                                            .target = tables[at].target.rows,
                                            .proposal = tables[at].proposal.rows}));
    } catch (const ProgramSilent& silent) {
      finding.status = Status::undecided;
      finding.evidence = fmt::format("a text of {} tokens: {}; ", length, silent.what());
      break;
    }
    lengths[at].push_back(length);
    tokens += std::ssize(texts[at].back());
    finding.work = static_cast<std::uint64_t>(tokens);
    // All texts are counted again each time, so this is done at each doubling of their number only.
    const auto count = static_cast<std::uint64_t>(texts[at].size());
    if (ends > 0 && !std::has_single_bit(count) && tokens < planned) continue;
    weigh(at);
  }
  if (ends > 0)  // texts since the last doubling
    for (std::size_t at = 0; at < tables.size() && log_e < threshold; ++at) weigh(at);
  if (log_e >= threshold) finding.status = Status::failed;
  if (finding.status == Status::passed) {
    const auto tokens_on = [&texts](std::size_t at) {
      double sum = 0;
      for (const auto& text : texts[at]) sum += static_cast<double>(text.size());
      return sum;
    };
    const TextTable& target = tables[0].target;
    const double mixture = std::log(2.0 * concentrations * (1 + further_contexts));
    finding.sensitivity =
        sensitivity_of(text_distance(tokens_on(0), static_cast<double>(target.rows.size()) / target.vocabulary,
                                     target.vocabulary, threshold + mixture),
                       " in every row");
    // A fault of rate r is missed with probability (1 - r)^tokens.
    if (const double sparse_tokens = tokens_on(1); sparse_tokens > 0)
      finding.sensitivity += fmt::format("{}a token lost, doubled or displaced once in {:.0f} tokens",
                                         finding.sensitivity.empty() ? "" : "; ", sparse_tokens / std::log(100.0));
  }
  const TextEvidence& stronger = evidence[evidence[1].log_e > evidence[0].log_e];
  finding.evidence += fmt::format("e = 10^{:.1f} after {} tokens{}{}", log_e / std::log(10.0), finding.work,
                                  stronger.worst.empty() ? "" : ", most at ", stronger.worst);
  finding.replay = replay_line(
      "check", "", {{"adapter", options.adapter}, {"tier", "sampled"}, {"seed", std::to_string(options.seed)}});
  return {std::move(finding)};
}

}  // namespace draftproof::adapters
