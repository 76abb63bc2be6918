// The histogram of a ladder's buckets by a team: p- and q-mass of the tokens in every bucket of p / q, as integers.
//
//   own    [2 (buckets + 1)]    sums of a partition, p and q in turn, in its memory
//   all    the same             sums of the team, in the memory of every partition
//
// Cost: one pass over the rows. A lane accumulates one bucket and adds to memory when the bucket changes, so rows
// with few distinct ratios cause little contention.
// Correctness: integer sums do not depend on the order of additions; they equal the sums of simd::RatioMasses.
#pragma once

#include <cstddef>
#include <cstdint>

#include <draftproof/gpu/teams/team_workspace.cuh>
#include <draftproof/sim/numeric/ratio_buckets.hpp>
#include <draftproof/sim/simd/ratio_histogram.hpp>

namespace draftproof::gpu {

/// Returns the bucket of p / q for rows with entries of type Entry. Entries no longer than float are divided in float,
/// which gives the same bucket as a division in double.
template <class Entry>
DRAFTPROOF_DEVICE std::size_t ratio_bucket(double p, double q) {
  if constexpr (sizeof(Entry) <= sizeof(float))
    return RatioBuckets::of(static_cast<float>(p) / static_cast<float>(q));
  else
    return RatioBuckets::of(p, q);
}

/// Writes to all[i] the sum of own[i] over the partitions. With one partition it does nothing; the caller then passes
/// the same memory as `own` and `all`.
template <Team T>
DRAFTPROOF_DEVICE void add_up_partitions(const T& team, Fixed* own, Fixed* all, int count) {
  if (team.partitions() == 1) return;
  if constexpr (requires { team.add_up(own, all, count); }) {
    team.add_up(own, all, count);
  } else if constexpr (requires { team.of_partition(own, 0); }) {
    team.barrier();  // all sums are complete
    for (int i = team.warp() * team.lanes() + team.lane(); i < count; i += team.warps() * team.lanes()) {
      Fixed sum = 0;
      for (int partition = 0; partition < team.partitions(); ++partition) sum += team.of_partition(own, partition)[i];
      all[i] = sum;
    }
    team.barrier();  // all sums are read and may be overwritten
  }
}

/// The p- and q-mass of every bucket. All threads of a team construct it together; the sums lie in the scratch of their
/// workspace.
class TeamMasses {
 public:
  static constexpr int buckets = static_cast<int>(RatioBuckets::outside) + 1;

  /// `for_own` calls its argument on this thread's tokens; `rows` has p(x) and q(x, 0).
  template <Team T, class Rows, class ForOwn>
  DRAFTPROOF_DEVICE TeamMasses(const T& team, const TeamWorkspace<PartitionOf<T>>& workspace, const Rows& rows,
                               const ForOwn& for_own) {
    auto own = workspace.template scratch<Fixed>(2 * buckets), all = own;
    if (team.partitions() > 1) all = workspace.template scratch<Fixed>(2 * buckets);
    workspace.each(2 * buckets, [&](int i) { own[static_cast<std::size_t>(i)] = 0; });
    std::size_t bucket = RatioBuckets::outside;
    Fixed target = 0, proposal = 0;
    const auto tell = [&] {
      if (target != 0) team.add_shared(own[2 * bucket], target);
      if (proposal != 0) team.add_shared(own[2 * bucket + 1], proposal);
    };
    for_own([&](Token x) {
      const double p = rows.p(x), q = rows.q(x, 0);
      const std::size_t here = q > 0 ? ratio_bucket<typename Rows::Entry>(p, q) : RatioBuckets::outside;
      if (here != bucket) {
        tell();
        bucket = here;
        target = proposal = 0;
      }
      target += to_fixed(p);
      proposal += to_fixed(q);
    });
    tell();
    workspace.meet();
    add_up_partitions(team, own.data(), all.data(), 2 * buckets);
    sums_ = all;
  }

  DRAFTPROOF_DEVICE simd::RatioMass of(std::size_t bucket) const {
    return {sums_[2 * bucket], sums_[2 * bucket + 1]};
  }

 private:
  ListsOfTeams::List<Fixed> sums_;
};

}  // namespace draftproof::gpu
