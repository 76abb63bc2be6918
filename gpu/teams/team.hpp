// A team: the threads that verify one position together. A block, a cluster of blocks and blocks all over
// the device are teams; the algorithms of team_rows.cuh depend on this concept only.
//
//   symbol        code                         meaning
//   lanes         lanes(), lane()              threads of a warp; the number of this thread among them
//   warps         warps(), warp()              warps of a partition; the number of this warp among them
//   partitions    partitions(), partition()    parts of the vocabulary, each held by warps of one block; own number
//                 barrier()                    returns when all threads of the team have called it
//                 put(i, sum), get(i)          sum i, one of two per segment: one warp puts it, all read it later
//                 put_first(a), first(w)       put and get of each warp's first arrival; w counts over all partitions
//                 add_to_sum(i, sum)           adds to sum i, by any thread, between barriers; for teams of steps
//                 lane_sum(v) ..               collective over a warp (warp_lanes.cuh)
//                 own_partition()              the threads of this partition, which make plans (team_workspace.cuh)
//                 add_shared(sum, more)        adds to a sum in memory of the partition, by any threads at once
//
// All lanes of a warp call put() and put_first() together, with the same value.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <draftproof/sim/numeric/exp.hpp>
#include <draftproof/sim/numeric/fixed_point.hpp>
#include <draftproof/sim/sampling/exponential_race.hpp>
#include <draftproof/sim/token.hpp>

namespace draftproof::gpu {

/// Threads of the largest block of any team.
inline constexpr int most_block_threads = 512;

/// The memory through which the warps of a team exchange values.
struct TeamScratch {
  static constexpr int most_segments = 256, most_warps = 256;
  Fixed partial[2 * most_segments];  ///< sums of the last pass; its second sums, if any, in the second half
  struct First {
    double time;
    Token token;
  } first[most_warps];  ///< the first arrival (earliest time of a race) of each warp
};

/// Memory that all threads of a partition can access. A kernel reserves plan_bytes (workspace.hpp) of it, which is 0
/// for verifiers that need no such memory.
struct TeamMemory {
  unsigned char* data = nullptr;  ///< 16-byte aligned
  std::size_t bytes = 0;
};

/// The threads of a partition, for any kind of team.
template <class S>
concept Partition = requires(const S& partition, Fixed value, int i) {
  { partition.lanes() } -> std::convertible_to<int>;
  { partition.lane() } -> std::convertible_to<int>;
  { partition.warps() } -> std::convertible_to<int>;
  { partition.warp() } -> std::convertible_to<int>;
  { partition.lane_get(value, i) } -> std::same_as<Fixed>;
  { partition.first_lane(true) } -> std::same_as<int>;
  { partition.memory() } -> std::same_as<TeamMemory>;
  partition.partition_barrier();
};

template <class T>
concept Team = requires(const T& team, int i, Fixed sum, Fixed& in_memory, Candidate arrival) {
  { team.lanes() } -> std::convertible_to<int>;
  { team.lane() } -> std::convertible_to<int>;
  { team.warps() } -> std::convertible_to<int>;
  { team.warp() } -> std::convertible_to<int>;
  { team.partitions() } -> std::convertible_to<int>;
  { team.partition() } -> std::convertible_to<int>;
  team.barrier();
  team.put(i, sum);
  { team.get(i) } -> std::same_as<Fixed>;
  team.put_first(arrival);
  { team.first(i) } -> std::same_as<Candidate>;
  { team.lane_sum(sum) } -> std::same_as<Fixed>;
  { team.lane_running_sum(sum) } -> std::same_as<Fixed>;
  { team.lane_max(i) } -> std::same_as<int>;
  { team.lane_get(sum, i) } -> std::same_as<Fixed>;
  { team.first_lane(true) } -> std::same_as<int>;
  { team.own_partition() } -> Partition;
  team.add_shared(in_memory, sum);
};

template <Team T>
using PartitionOf = std::remove_cvref_t<decltype(std::declval<const T&>().own_partition())>;

/// The division of V tokens: `partitions` runs of `per_partition` segments of `length` consecutive tokens. `length`
/// is a multiple of four tokens per lane, so a warp reads whole memory lines, 16 bytes per lane, if a row of floats is
/// aligned. There are at most most_segments segments. A partition has V / partitions tokens, rounded up to whole
/// segments and then to a multiple of `whole` tokens, a power of two, so that no block of `whole` tokens is cut.
struct TeamLayout {
  int vocabulary, length, segments, per_partition;

  DRAFTPROOF_DEVICE TeamLayout(int tokens, int lanes, int partitions, int whole = 1) : vocabulary{tokens} {
    const int most = TeamScratch::most_segments / partitions;
    int unit = 4 * lanes;
    while (most * unit % whole != 0) unit *= 2;
    length = parts(vocabulary, most * partitions * unit) * unit;
    segments = parts(vocabulary, length);
    // The loop below ends at `most` or before, because most * length is a multiple of `whole`.
    per_partition = parts(parts(vocabulary, partitions), length);
    while (per_partition * length % whole != 0) ++per_partition;
  }

  DRAFTPROOF_DEVICE int begin(int segment) const { return segment * length; }
  DRAFTPROOF_DEVICE int end(int segment) const {
    const int first = begin(segment);
    return vocabulary - first < length ? vocabulary : first + length;
  }
  DRAFTPROOF_DEVICE int first_segment(int partition) const { return partition * per_partition; }
  DRAFTPROOF_DEVICE int last_segment(int partition) const {
    const int after = first_segment(partition) + per_partition;
    return after < segments ? after : segments;
  }
  /// Returns the number of tokens of a partition; the last partitions may have fewer or be empty.
  DRAFTPROOF_DEVICE int slice() const { return per_partition * length; }

 private:
  /// Returns the number of parts of `size` tokens that `tokens` tokens need; the last part may be shorter.
  DRAFTPROOF_DEVICE static int parts(int tokens, int size) { return tokens / size + (tokens % size != 0); }
};

}  // namespace draftproof::gpu
