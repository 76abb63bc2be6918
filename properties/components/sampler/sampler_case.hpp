// The row for a sampler: a short row of weights, a long Zipf row, or a head with a tail of rare tokens. It prints and
// parses as "w=(1 1 0)/2", "zipf V=32000" or "tail V=129280 gap=18".
//
//   zipf    weights (rank + 2.7)^-1.1 in shuffled order
//   tail    token 0 of weight 1, V - 1 tokens of weight exp(-gap)
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace draftproof {

struct SamplerCase {
  enum class Form { listed, zipf, tail };

  Form form = Form::listed;
  std::vector<int> weights{};  ///< for a listed row
  int size = 0;                ///< V, for the other forms
  int gap = 0;                 ///< logits between head and tail, for a tail

  int vocabulary() const { return form == Form::listed ? static_cast<int>(weights.size()) : size; }
  /// The weights; they need not sum to 1.
  std::vector<double> row() const;
  bool valid() const;
  std::string text() const;
  /// The inverse of text(). Throws: std::invalid_argument, which says what was found and what was expected.
  static SamplerCase parse(std::string_view text);
  static constexpr std::string_view example = "w=(1 1 0)/2";

  bool operator==(const SamplerCase&) const = default;
};

/// Pointer to the weights of a listed row, for editing.
std::vector<std::vector<int>*> rows_of(SamplerCase& one);

/// The cases one step smaller; none for a Zipf row or a tail.
std::vector<SamplerCase> shrinks(const SamplerCase& one);

}  // namespace draftproof
