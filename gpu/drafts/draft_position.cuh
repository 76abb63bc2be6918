// The work of one thread of a team on one position of a batch of drafts.
#pragma once

#include <cstdint>

#include <draftproof/gpu/draft_batch.hpp>
#include <draftproof/gpu/teams/team_rows.cuh>
#include <draftproof/sim/random/philox.hpp>

namespace draftproof::gpu {

/// Every thread draws all drafts into memory of its own, since drafters without replacement read the earlier ones.
/// The thread with `writes` stores them in the batch.
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
