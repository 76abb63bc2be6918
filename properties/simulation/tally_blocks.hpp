// Trials as blocks of a ledger (properties/blocks): ranges of trial numbers, whose counters are added.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <draftproof/properties/blocks/ledger.hpp>
#include <draftproof/sim/tally.hpp>

namespace draftproof {

/// Most trials of a block: `usual`, or fewer where a trial reads rows of V = `vocabulary` tokens (Info::shared_noise): those
/// that read 2^32 tokens, about two minutes. An even number, so that pairs of trials stay together.
inline std::uint64_t most_trials_of_block(std::uint64_t usual, bool reads_rows, std::size_t vocabulary) {
  constexpr std::uint64_t tokens = std::uint64_t{1} << 32;
  if (!reads_rows) return usual;
  return std::min<std::uint64_t>(usual, std::max<std::uint64_t>(2, tokens / std::max<std::size_t>(1, vocabulary) & ~1ULL));
}

/// Number of trials of a block: `usual`, or more where a run would have more than 4096 blocks.
inline std::uint64_t trials_of_block(std::uint64_t trials, std::uint64_t usual) {
  constexpr std::uint64_t most_blocks = 4096;
  return std::max(usual, (trials + most_blocks - 1) / most_blocks);
}

/// Runs trials 0 .. `trials` - 1 as blocks of `size`, one after the other. `count(first, number)` returns the counters
/// of a range, or nothing after a stop. Returns whether all blocks are known.
inline bool run_trial_blocks(
    BlockLedger& ledger, const std::string& group, std::uint64_t trials, std::uint64_t size,
    const std::function<std::optional<std::vector<std::uint64_t>>(std::uint64_t first, std::uint64_t number)>&
        count) {
  const std::uint64_t blocks = (trials + size - 1) / size;
  return ledger.run(group, blocks, static_cast<double>(std::min(trials, size)), 1,
                    [&](std::uint64_t block, std::uint64_t most) -> std::optional<BlockResult> {
                      const std::uint64_t first = block * size;
                      auto sums = count(first, std::min({size, trials - first, most}));
                      if (!sums) return std::nullopt;
                      return BlockResult{.sums = std::move(*sums)};
                    });
}

/// Appends the counters of `tally` for this number of drafts.
inline void append(const Tally& tally, int drafts, std::vector<std::uint64_t>& sums) {
  sums.insert(sums.end(), {tally.trials, tally.flagged, tally.members, tally.impossible});
  sums.insert(sums.end(), tally.by_draft.begin(), tally.by_draft.begin() + drafts);
  sums.insert(sums.end(), tally.histogram.begin(), tally.histogram.end());
}

/// Adds counters that append() wrote for a tally of this shape; returns where the next begin.
inline std::vector<std::uint64_t>::const_iterator add(std::vector<std::uint64_t>::const_iterator next, int drafts,
                                                      Tally& tally) {
  for (std::uint64_t* to : {&tally.trials, &tally.flagged, &tally.members, &tally.impossible}) *to += *next++;
  for (int k = 0; k < drafts; ++k) tally.by_draft[static_cast<std::size_t>(k)] += *next++;
  for (std::uint64_t& count : tally.histogram) count += *next++;
  return next;
}

}  // namespace draftproof
