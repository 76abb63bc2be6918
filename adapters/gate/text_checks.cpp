#include <draftproof/adapters/gate/text_checks.hpp>
#include <draftproof/properties/statistics/log_mean_exp.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include <draftproof/properties/proof/finding.hpp>

#include <draftproof/properties/statistics/error_budget.hpp>
#include <draftproof/sim/random/philox4x32.hpp>

namespace draftproof::adapters {

namespace {

constexpr int longest_context = 3, concentrations = 7;

/// Counts of tokens after contexts of one length, and the logarithms of the bets on them.
class ContextBets {
 public:
  ContextBets(int length, int vocabulary) : vocabulary_{static_cast<std::size_t>(vocabulary)} {
    std::size_t contexts = 1;
    for (; length > 0; --length) contexts *= vocabulary_;
    counts_.resize(contexts * vocabulary_);
    totals_.resize(contexts);
  }

  /// `history` holds the tokens before as digits, the last one lowest.
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

std::string worst_transition(const ContextBets& bets, std::span<const double> target, std::size_t vocabulary) {
  double farthest = 0;
  std::string worst;
  for (std::size_t t = 0; t < vocabulary; ++t)
    for (std::size_t x = 0; x < vocabulary; ++x) {
      const auto n = static_cast<double>(bets.total(t));
      const double p = target[t * vocabulary + x], expected = n * p, seen = static_cast<double>(bets.count(t, x));
      const double standard = std::sqrt(expected * (1 - p));
      if (!(standard > 0) || std::abs(seen - expected) / standard <= farthest) continue;
      farthest = std::abs(seen - expected) / standard;
      worst = fmt::format("token {} after {}: {} of {}, expected {:.0f}", x, t, seen, n, expected);
    }
  return worst;
}

/// A table of positive weights 1 .. 9 by counters, rows normalised.
std::vector<double> markov_table(int vocabulary, std::uint64_t seed, std::uint32_t which) {
  std::vector<double> table;
  for (int t = 0; t < vocabulary; ++t) {
    std::vector<double> row;
    double total = 0;
    for (int x = 0; x < vocabulary; ++x) {
      constexpr std::uint32_t purpose = 0x202;
      const auto slot = static_cast<std::uint32_t>(t * vocabulary + x);
      row.push_back(static_cast<double>(1 + philox_pair(seed, which, slot, purpose).first % 9));
      total += row.back();
    }
    for (const double weight : row) table.push_back(weight / total);
  }
  return table;
}

}  // namespace

TextEvidence evidence_of_texts(std::span<const std::vector<std::int32_t>> texts, std::span<const double> target,
                               int vocabulary) {
  const auto size = static_cast<std::size_t>(vocabulary);
  std::vector<ContextBets> bets;
  for (int length = 1; length <= longest_context; ++length) bets.emplace_back(length, vocabulary);
  for (const std::vector<std::int32_t>& text : texts) {
    std::uint64_t history = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const auto last = static_cast<std::size_t>(history % size);
      const double p = target[last * size + static_cast<std::size_t>(text[i])];
      if (!(p > 0))
        return {std::numeric_limits<double>::infinity(),
                fmt::format("token {} of the text is {} after {}, which has p = 0", i, text[i], last)};
      for (ContextBets& one : bets) one.add(history, text[i], p);
      history = (history % (size * size)) * size + static_cast<std::uint64_t>(text[i]);
    }
  }
  std::vector<double> logs;
  for (const ContextBets& one : bets) logs.insert(logs.end(), one.logs().begin(), one.logs().end());
  const std::vector<double> weights(logs.size(), 1.0 / static_cast<double>(logs.size()));
  return {log_weighted_mean_exp(logs, weights), worst_transition(bets.front(), target, size)};
}

std::vector<Finding> check_text(Served& program, const TextCheckOptions& options) {
  const std::vector<double> target = markov_table(options.vocabulary, options.seed, 0),
                            proposal = markov_table(options.vocabulary, options.seed, 1);
  const std::int64_t planned = std::int64_t{1} << options.log2_tokens;
  const double threshold = ErrorBudget::numerics - std::log(options.alpha);
  Finding finding{.property = "generated_text", .tier = Tier::sampled, .status = Status::passed};
  TextEvidence evidence;
  std::vector<std::vector<std::int32_t>> texts;
  for (std::int64_t tokens = 0; tokens < planned && evidence.log_e < threshold;) {
    constexpr std::int64_t first = 1024;
    constexpr std::uint32_t purpose = 0x203;
    const auto length = static_cast<int>(std::min(std::max(first, tokens), planned - tokens));
    const auto seed = philox_pair(options.seed, texts.size(), 0, purpose).first >> 1;
    try {
      texts.push_back(program.generate({.vocabulary = options.vocabulary,
                                        .length = length,
                                        .drafts = options.drafts,
                                        .seed = static_cast<std::int64_t>(seed),
                                        .target = target,
                                        .proposal = proposal}));
    } catch (const ProgramSilent& silent) {
      finding.status = Status::undecided;
      finding.evidence = fmt::format("a text of {} tokens: {}; ", length, silent.what());
      break;
    }
    tokens += length;
    finding.work = static_cast<std::uint64_t>(tokens);
    evidence = evidence_of_texts(texts, target, options.vocabulary);
  }
  if (evidence.log_e >= threshold) finding.status = Status::failed;
  finding.evidence += fmt::format("e = 10^{:.1f} after {} tokens{}{}", evidence.log_e / std::log(10.0), finding.work,
                                  evidence.worst.empty() ? "" : ", most at ", evidence.worst);
  finding.replay = replay_line(
      "check", "", {{"adapter", options.adapter}, {"tier", "sampled"}, {"seed", std::to_string(options.seed)}});
  return {std::move(finding)};
}

}  // namespace draftproof::adapters
