// The memory through which the blocks of a split team synchronize and exchange sums.
#pragma once

#include <draftproof/gpu/teams/team.hpp>
#include <draftproof/sim/numeric/ratio_buckets.hpp>

namespace draftproof::gpu {

/// The scratch of one team, in device memory. It must be zero before the first use.
struct SplitScratch {
  static constexpr int most_sums = 2 * (RatioBuckets::count + 1);
  TeamScratch told;
  unsigned arrived;
  Fixed sums[most_sums];  ///< sums over the partitions: p- and q-mass of every bucket of p / q
};

}  // namespace draftproof::gpu
