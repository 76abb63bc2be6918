// Uniform laws on intervals of tokens. The results of a verifier on them can be computed by hand. Supports that
// overlap in part give zero probabilities on both sides.
//
//   p   uniform on tokens [0, target_support)
//   q   uniform on tokens [shift, shift + draft_support), which wraps at V
//
// A support of 0 is the whole vocabulary. Example: supports V and V/2 overlap by sum min(p, q) = 1/2.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <draftproof/captures/family.hpp>
#include <draftproof/captures/row.hpp>

namespace draftproof::families {

struct Uniform {
  static constexpr std::string_view name = "uniform";
  static constexpr std::string_view about = "uniform laws on overlapping intervals of tokens";

  double vocabulary = 1000, target_support = 0, draft_support = 500, shift = 0;

  static constexpr auto parameters() {
    using enum ParameterKind;
    return std::array{
        Parameter<Uniform>{"vocabulary", &Uniform::vocabulary, 1, 1 << 20, "tokens", Whole},
        Parameter<Uniform>{"target_support", &Uniform::target_support, 0, 1 << 20, "tokens; 0 is all", Whole},
        Parameter<Uniform>{"draft_support", &Uniform::draft_support, 0, 1 << 20, "tokens; 0 is all", Whole},
        Parameter<Uniform>{"shift", &Uniform::shift, 0, 1 << 20, "first token of the draft", Whole}};
  }

  RowPair pair(std::uint64_t, std::size_t) const {
    return {on_interval(target_support, 0), {on_interval(draft_support, shift)}};
  }

 private:
  std::vector<double> on_interval(double support, double first) const {
    const auto size = static_cast<std::size_t>(vocabulary);
    const std::size_t count = support == 0 ? size : std::min(size, static_cast<std::size_t>(support));
    std::vector<double> law(size, 0.0);
    for (std::size_t k = 0; k < count; ++k)
      law[(static_cast<std::size_t>(first) + k) % size] = 1 / static_cast<double>(count);
    return law;
  }
};

}  // namespace draftproof::families
