// Runs work in blocks: counts of trials are added over blocks, and records, one for each block, are listed. The
// checkpoint supplies blocks from this process, from a file or from other processes. If the checkpoint is null, this
// process computes all blocks.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <draftproof/properties/blocks/checkpoint.hpp>

namespace draftproof {

/// Runs the blocks of `plan`, as Checkpoint::run() does.
inline BlockGroup run_blocks(Checkpoint* known, const BlockPlan& plan, const Checkpoint::Compute& compute) {
  Checkpoint none;
  return (known ? *known : none).run(plan, compute);
}

/// Whether this process computes some of the blocks only, so that its results are incomplete.
inline bool computes_part(const Checkpoint* known) { return known && known->partial(); }

/// Returns the number of items in a block: `usual`, or `all` without a checkpoint; at least 1.
inline std::uint64_t block_size(const Checkpoint* known, std::uint64_t all, std::uint64_t usual) {
  return std::max<std::uint64_t>(1, known ? usual : all);
}

/// Returns the largest number of trials of a block: `usual`, or fewer if each trial reads rows of V =
/// `vocabulary` tokens (Info::shared_noise). The block then reads at most 2^32 tokens, which takes about two
/// minutes, but has at least two trials. The result is even if `usual` is, so that pairs of trials stay in one block.
inline std::uint64_t most_trials_of_block(std::uint64_t usual, bool reads_rows, std::size_t vocabulary) {
  constexpr std::uint64_t tokens = std::uint64_t{1} << 32;
  if (!reads_rows) return usual;
  return std::min<std::uint64_t>(usual,
                                 std::max<std::uint64_t>(2, tokens / std::max<std::size_t>(1, vocabulary) & ~1ULL));
}

/// Returns the number of trials of a block: `usual`, or more so that a run has at most 4096 blocks.
inline std::uint64_t trials_of_block(std::uint64_t trials, std::uint64_t usual) {
  constexpr std::uint64_t most_blocks = 4096;
  return std::max(usual, (trials + most_blocks - 1) / most_blocks);
}

/// Counts trials 0 .. `trials` - 1 in blocks of `usual`, one block after the other. `count(first, number)`
/// returns the counts of a range, with fewer trials after an interrupt. Returns the sum over all computed
/// blocks. Requires: `counts` is all zeros and has the shape of that sum.
template <class Counts, class Count>
Counts count_trials(Checkpoint* known, const std::string& name, std::uint64_t trials, std::uint64_t usual,
                    Counts counts, const Count& count) {
  const std::uint64_t size = block_size(known, trials, usual);
  const BlockPlan plan{name, trials / size + (trials % size != 0 ? 1 : 0),
                       static_cast<double>(std::min(trials, size))};
  const BlockGroup group = run_blocks(known, plan, [&](const BlockTask& task) -> std::optional<BlockResult> {
    const std::uint64_t first = task.block * size, number = std::min({size, trials - first, task.most_trials});
    const Counts here = count(first, number);
    BlockResult result{.whole = here.trials >= number};
    append_counters(here, result.sums);
    return result;
  });
  if (auto next = group.sums.begin(); !group.sums.empty()) add_counters(next, counts);
  return counts;
}

/// Makes one record for each block, until the stop flag is set. Returns the computed records in the order of
/// blocks, including records that an interrupt cut short. In a process that computes one shard, returns no records.
template <class Make>
auto map_blocks(Checkpoint* known, const BlockPlan& plan, const std::atomic<bool>* stop, const Make& make) {
  using Record = std::invoke_result_t<Make, const BlockTask&>;
  const auto stopped = [stop] { return stop && stop->load(std::memory_order_relaxed); };
  const BlockGroup group = run_blocks(known, plan, [&](const BlockTask& task) -> std::optional<BlockResult> {
    if (stopped()) return std::nullopt;
    BlockResult result{.record = to_bytes(make(task))};
    result.whole = !stopped();
    return result;
  });
  std::vector<Record> records;
  if (computes_part(known)) return records;
  for (const auto& [block, record] : group.records) records.push_back(from_bytes<Record>(record));
  return records;
}

}  // namespace draftproof
