// Draws the drafts of one position of a batch in a kernel. The threads of a team draw them together.
#pragma once

#include <cstdint>

#include <draftproof/gpu/draft_batch.hpp>
#include <draftproof/gpu/teams/team_rows.cuh>
#include <draftproof/sim/random/philox.hpp>

namespace draftproof::gpu {

/// Runs in every thread of the team. Each thread keeps all drafts of the position in local memory, because drafters
/// without replacement read earlier drafts. Only the thread for which `writes` is true stores them in the batch.
template <class D, class Entry, Team T>
DRAFTPROOF_DEVICE void draft_position(const D& drafter, const DraftBatch<Entry>& batch, std::int64_t position,
                                      const T& team, bool writes) {
  const TeamRows distributions(batch.rows(position), team);
  Philox random(batch.seed, batch.first_trial + static_cast<std::uint64_t>(position), Philox::Role::draft);
  Token own[max_drafts];
  const int drawn = drafter.draw(distributions, batch.asked(position), random, own);
  if (!writes) return;
  Token* const out = batch.drafts + position * batch.draft_stride;
  int count = 0;
  while (count < drawn && own[count] >= 0) {
    out[count] = own[count];
    ++count;
  }
  batch.counts[position] = count;
}

}  // namespace draftproof::gpu
