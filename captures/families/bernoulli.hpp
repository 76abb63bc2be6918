// Two tokens; each model's law is one number. It is the smallest case in which target and draft can differ, and all
// results have formulas. Acceptance of one draft is 1 - |target - draft|.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <draftproof/captures/family.hpp>
#include <draftproof/captures/row.hpp>

namespace draftproof::families {

struct Bernoulli {
  static constexpr std::string_view name = "bernoulli";
  static constexpr std::string_view about = "two tokens, token 1 with a given probability";
  static constexpr double vocabulary = 2;

  double target = 0.7, draft = 0.4;

  static constexpr auto parameters() {
    return std::array{Parameter<Bernoulli>{"target", &Bernoulli::target, 0, 1, "target's probability of token 1"},
                      Parameter<Bernoulli>{"draft", &Bernoulli::draft, 0, 1, "draft's probability of token 1"}};
  }

  RowPair pair(std::uint64_t, std::size_t) const { return {{1 - target, target}, {{1 - draft, draft}}}; }
};

}  // namespace draftproof::families
