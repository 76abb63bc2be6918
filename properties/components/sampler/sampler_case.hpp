// What a sampler is given: a short row of weights, a long Zipf row, or a head with a tail of rare tokens. Prints and
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
  std::vector<int> weights{};  ///< of a listed row
  int size = 0;                ///< of the others
  int gap = 0;                 ///< logits between head and tail

  int vocabulary() const { return form == Form::listed ? static_cast<int>(weights.size()) : size; }
  std::vector<double> row() const;
  bool valid() const;
  std::string text() const;
  /// Throws std::invalid_argument with what was found and wanted.
  static SamplerCase parse(std::string_view text);
  static constexpr std::string_view example = "w=(1 1 0)/2";

  bool operator==(const SamplerCase&) const = default;
};

/// The weights of a listed row, to be edited.
std::vector<std::vector<int>*> rows_of(SamplerCase& one);

/// One step shrinks; long rows are as simple as they are.
std::vector<SamplerCase> shrinks(const SamplerCase& one);

}  // namespace draftproof
