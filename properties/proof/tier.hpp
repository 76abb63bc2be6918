// How a question about a verifier is decided, strongest first; also the label of its gates.
#pragma once

#include <array>
#include <string_view>

namespace draftproof {

enum class Tier {
  proof,    ///< in exact fractions, or the exact law of the program in double
  edge,     ///< by scripted words, ledgers and repetition: deterministic, without a law
  sampled,  ///< by trials, with a stated false-alarm rate
};

inline constexpr std::array<Tier, 3> all_tiers{Tier::proof, Tier::edge, Tier::sampled};

constexpr std::string_view to_text(Tier tier) {
  constexpr std::array<std::string_view, 3> names{"proof", "edge", "sampled"};
  return names[static_cast<std::size_t>(tier)];
}

}  // namespace draftproof
