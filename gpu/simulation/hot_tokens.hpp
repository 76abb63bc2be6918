// The tokens that get counters in a block's memory: the most probable ones under p, which a lossless verifier emits
// most often.
//
// Cost: one pass and a selection per table. Any choice of tokens gives the same counts; the most probable ones avoid
// most additions in device memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <draftproof/gpu/tables/trial_counts.cuh>
#include <draftproof/sim/distributions/ratio_table_view.hpp>
#include <draftproof/sim/sampling/without_replacement.hpp>

namespace draftproof::gpu {

/// Arrays of HotTokens in host memory.
struct ChosenHotTokens {
  std::vector<Token> tokens;
  std::vector<std::uint16_t> slot;

  HotTokens view() const { return {static_cast<int>(tokens.size()), tokens.data(), slot.data()}; }
};

/// Chooses the `most` most probable tokens under p; lower ids first among equals.
inline ChosenHotTokens chosen_hot_tokens(const TableView& distributions, std::size_t most = HotTokens::most) {
  const auto target = [&distributions](Token x) { return distributions.target(x); };
  ChosenHotTokens chosen;
  chosen.tokens = first_tokens(
      distributions.vocabulary(), std::min<std::size_t>(most, HotTokens::most), target,
      [&target](Token a, Token b) { return target(a) > target(b) || (!(target(a) < target(b)) && a < b); },
      [](Token) { return true; });
  chosen.slot.assign(static_cast<std::size_t>(distributions.vocabulary()), HotTokens::cold);
  for (std::size_t i = 0; i < chosen.tokens.size(); ++i)
    chosen.slot[static_cast<std::size_t>(chosen.tokens[i])] = static_cast<std::uint16_t>(i);
  return chosen;
}

}  // namespace draftproof::gpu
