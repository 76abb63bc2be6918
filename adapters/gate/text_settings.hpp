// The settings of the requests that a whole engine serves, and the rows that they make of its model's rows.
//
//   p(x)       row of the model
//   n(x)       occurrences of x in the text so far
//   r, a, f    repetition, presence and frequency penalty; r counts if x is in the prompt or in the text so far
//   b(x)       bias
//   w(x)       p(x)^r exp(b(x) - a [n(x) > 0] - f n(x)), and 0 for end tokens among the first `min_tokens` tokens
//
// The target is w, normalised, at the request's temperature, truncated by its top-k, top-p or min-p. Logits are log p
// and never positive, so that the repetition penalty multiplies them. A text also ends with its stop sequence.
//
// Correctness: penalties depend on the text that was emitted alone, so that a count which keeps a rejected draft, or
// which belongs to another request, gives another row. A request has at most one of penalties, bias and truncations,
// since engines differ in their order. Limits of truncations are at least a thousandth away from all entries of the
// rows, so that rounding in the engine does not decide.
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
  std::vector<std::int32_t> stop{};  ///< the text ends with its first occurrence in the text; empty: none
};

/// The declared settings as a JSON object by name.
nlohmann::json to_json(const TextSettings& settings, const Declaration& declaration);
/// The settings that change something as text, " with presence_penalty 1"; empty if there are none.
std::string to_text(const TextSettings& settings);

/// Returns settings for each of `requests` requests on texts of this table, of those that the program declares. All
/// texts of a request have the same settings.
std::vector<TextSettings> draw_settings(const Declaration& declaration, const TextTable& table, std::size_t requests,
                                        std::uint64_t seed);

/// The rows of one text under its settings, as its tokens are read one after another.
class RowsUnderSettings {
 public:
  RowsUnderSettings(const TextSettings& settings, std::span<const std::int32_t> prompt, const TextTable& table);

  /// The distribution of the next token where the model has row `p`.
  std::vector<double> row(std::span<const double> p) const;
  void read(std::int32_t token);
  /// The class of a token by its occurrences: in the prompt or not; the last token, one of the two before it, or neither;
  /// 0, 1, 2, or 3 or more in the text. Counts that are updated late are wrong for the last tokens.
  std::size_t class_of(std::size_t token) const {
    const int distance = tokens_ - last_at_[token];
    const std::size_t recent = counts_[token] == 0 || distance > 3 ? 0 : distance == 1 ? 2 : 1;
    return static_cast<std::size_t>(std::min(counts_[token], 3)) * 6 + recent * 2 + (in_prompt_[token] ? 1 : 0);
  }
  static constexpr std::size_t classes = 24;
  /// The penalty of the text: 0 for none, else 1 to 3.
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
