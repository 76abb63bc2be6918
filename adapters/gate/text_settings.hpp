// Settings of the requests that a whole engine serves, and the target rows that result from them.
//
//   p(x)       row of the model; under a grammar its row without the forbidden tokens, divided by its sum
//   n(x)       occurrences of x in the text so far
//   r          repetition penalty for tokens of the prompt and of the text so far, 1 for other tokens
//   a, f       presence and frequency penalty
//   b(x)       bias
//   w(x)       p(x)^r exp(b(x) - a [n(x) > 0] - f n(x)), and 0 for end tokens among the first `min_tokens` tokens
//
// The target is w, normalised at the request's temperature and truncated by its top-k, top-p or min-p; at temperature 0
// it is the likeliest token of w, chosen among equally likely tokens as `greedy` declares. Logits are log p and never
// positive, so the repetition penalty multiplies (and never divides) them. A text also ends with its stop sequence.
//
// Correctness: penalties depend only on emitted tokens. So a count that keeps a rejected draft, or a count of another
// request, gives a wrong row. A request has at most one of penalties, bias and truncations, since engines differ in the
// order in which they apply these. A limit of a truncation is used only if it keeps the same tokens when the entries or
// the limit change by up to 1e-3, so that rounding in the engine does not decide. The repetition penalty is 1.7,
// because w then has no ties that p does not have, unless a ratio of entries is a 10th power. No request has
// min_tokens if a state of the model, under its grammar, allows end tokens only: its row would have no mass.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <draftproof/adapters/declaration.hpp>
#include <draftproof/captures/filter.hpp>

namespace draftproof::adapters {

struct TextTable;

struct TextSettings {
  Filter filter{};
  double repetition_penalty = 1, presence_penalty = 0, frequency_penalty = 0;
  std::map<std::int32_t, double> logit_bias{};
  int min_tokens = 0;
  std::vector<std::int32_t> stop{};  ///< tokens after whose first occurrence the text ends; empty: none
  /// Whether the request is greedy in a program that is greedy at temperature 0.
  bool at_zero() const { return filter.temperature == 0; }
};

/// Returns the declared settings as a JSON object, by name.
nlohmann::json to_json(const TextSettings& settings, const Declaration& declaration);
/// Returns as text the settings that differ from their defaults, such as " with presence_penalty 1"; empty if there are
/// none.
std::string to_text(const TextSettings& settings);

/// Draws settings for each of `requests` requests, from the declared ones, for texts of this table.
std::vector<TextSettings> draw_settings(const Declaration& declaration, const TextTable& table, std::size_t requests,
                                        std::uint64_t seed);

/// The target rows of one text under its settings, while its tokens are appended one at a time.
class RowsUnderSettings {
 public:
  RowsUnderSettings(const TextSettings& settings, std::span<const std::int32_t> prompt, const TextTable& table);

  /// Returns the distribution of the next token if the model's row is `p`; for a greedy request, returns w normalised.
  std::vector<double> row(std::span<const double> p) const;
  void read(std::int32_t token);
  /// Returns the class of a token by three features: whether it is in the prompt; whether it is the last token, among
  /// the two before it, or neither; whether it occurred 0, 1, 2, or at least 3 times. A program that updates counts too
  /// late has wrong counts for the last tokens, which the second feature shows.
  std::size_t class_of(std::size_t token) const {
    const int distance = tokens_ - last_at_[token];
    const std::size_t recent = counts_[token] == 0 || distance > 3 ? 0 : distance == 1 ? 2 : 1;
    return static_cast<std::size_t>(std::min(counts_[token], 3)) * 6 + recent * 2 + (in_prompt_[token] ? 1 : 0);
  }
  static constexpr std::size_t classes = 24;
  static constexpr std::size_t penalties = 4;
  /// Returns the kind of penalty: 0 for none, 1 for repetition, 2 for presence, 3 for frequency.
  std::size_t penalty() const {
    return settings_->repetition_penalty != 1  ? 1
           : settings_->presence_penalty != 0  ? 2
           : settings_->frequency_penalty != 0 ? 3
                                               : 0;
  }
  /// Whether the tokens that were read end with the stop sequence.
  bool stopped() const;

 private:
  const TextSettings* settings_;
  const TextTable* table_;
  std::vector<bool> in_prompt_;
  std::vector<int> counts_, last_at_;
  std::vector<std::int32_t> last_{};
  int tokens_ = 0;
};

}  // namespace draftproof::adapters
