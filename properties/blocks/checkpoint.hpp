// The blocks of a long run and their results. A run splits its work into groups of numbered blocks by a rule that
// depends on the request alone. Processes share the blocks, checkpoint files carry their results, and the report is
// computed from the merged results, so it is the same whichever processes computed the blocks.
//
//   sums      counters of a block, integers; added over the blocks of a group in any order
//   record    bytes of one block (stored_value.hpp), kept as they are, for results that cannot be added
//
// One file holds all computed blocks. Because the counters of a group are added up, a file of `draftproof check` at V =
// 262,144 has one megabyte rather than one megabyte for each of its thousands of blocks.
//
// Correctness: each block is added once. Sums of integers do not depend on the order of additions, and records
// are read in the order of block numbers.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/crc.hpp>
#include <nlohmann/json.hpp>

#include <draftproof/properties/blocks/stored_value.hpp>

namespace draftproof {

/// A named group of blocks in a run.
struct BlockPlan {
  std::string name;
  std::uint64_t blocks = 0;
  double trials = 0;      ///< mean number of trials of a scheme at one position in a block, for `draftproof plan`
  int threads = 1;        ///< number of threads, which share each block if there are fewer than two blocks per thread
  bool divisible = true;  ///< whether threads can divide the work of a block
};

/// A block to compute.
struct BlockTask {
  std::uint64_t block = 0;
  /// Largest number of trials of each scheme; smaller than a whole block only while a plan is measured.
  std::uint64_t most_trials = std::numeric_limits<std::uint64_t>::max();
  int threads = 1;
};

struct BlockResult {
  Counters sums{};
  std::string record{};
  bool whole = true;  ///< false if an interrupt cut the block short: such a block is in this run's report only
};

/// The computed blocks of one group.
struct BlockGroup {
  std::vector<std::uint64_t> done{};  ///< by block: 1 if it was computed
  Counters sums{};
  std::map<std::uint64_t, std::string> records{};

  bool complete() const;
  void add(std::uint64_t block, const BlockResult& result);
  bool operator==(const BlockGroup&) const = default;
  static auto fields(auto& group) { return std::tie(group.done, group.sums, group.records); }
};

/// Shard `index` of `count`. Block b, counted through all groups of a run, belongs to shard b mod `count`, or
/// to the shard that a BlockAssignment assigns.
struct BlockShard {
  std::uint64_t index = 0, count = 1;
  bool operator==(const BlockShard&) const = default;
  static auto fields(auto& shard) { return std::tie(shard.index, shard.count); }
};

/// Load balancing: assigns blocks to the shards of a run by measured times, longest first, each to the shard
/// that has the least work so far. Every process computes the same assignment from the same plan.
///
/// Cost: n log m for n blocks and m shards. Correctness: a block has one owner. Groups that the plan lacks have
/// no owners; their blocks are assigned round robin.
class BlockAssignment {
 public:
  BlockAssignment() = default;
  /// `plan` is the output of `draftproof plan`, read from `file`, and `parts` > 0 is the number of shards. Throws:
  /// nlohmann::json::exception if `plan` is any other document; InputError if the plan was stopped early or a number of
  /// blocks is not an integer >= 0.
  BlockAssignment(const nlohmann::json& plan, std::uint64_t parts, const std::string& file);

  /// Returns the shard that computes this block, or nullopt if the plan lacks the block.
  std::optional<std::uint64_t> owner(const std::string& group, std::uint64_t block) const;
  /// Returns a text that is equal for equal assignments, and empty for a default-constructed one.
  const std::string& identity() const { return identity_; }

 private:
  std::map<std::string, std::vector<std::uint32_t>> owners_{};
  std::string identity_{};
};

class Checkpoint {
 public:
  /// Computes a block; nullopt after an interrupt.
  using Compute = std::function<std::optional<BlockResult>(const BlockTask& task)>;
  /// `whole` computes all blocks and prints the report, `shard` computes only its own blocks, `plan` lists and measures
  /// blocks.
  enum class Kind { whole, shard, plan };
  /// The planned blocks of a group, with the processor seconds of the blocks that were measured; for `plan`.
  struct Planned {
    std::string group;
    std::uint64_t blocks;
    double trials;
    std::vector<double> measured;

    /// Mean seconds of a block, and seconds of the longest measured block.
    double seconds() const;
    double longest() const;
  };

  /// `request` identifies the blocks: two checkpoints with equal requests have the same blocks.
  explicit Checkpoint(nlohmann::json request = nullptr, BlockShard shard = {}, Kind kind = Kind::whole)
      : request_(std::move(request)), shard_{shard}, kind_{kind} {}  // request_{..} would make a JSON array

  const nlohmann::json& request() const { return request_; }
  /// Whether this run only computes or lists blocks, without a report.
  bool partial() const { return kind_ != Kind::whole; }
  const std::vector<Planned>& planned() const { return planned_; }
  /// Assigns the blocks by `assignment` rather than round robin. Requires that no group was run.
  void use(BlockAssignment assignment) { assignment_ = std::move(assignment); }

  /// Computes the missing blocks of this process. Returns the computed blocks of the group and, for this report
  /// only, the blocks that an interrupt cut short, which are not `done`. Throws: the exception of on_kept() if
  /// it threw, else the exception of the failed block with the lowest number.
  BlockGroup run(const BlockPlan& plan, const Compute& compute);
  const std::map<std::string, BlockGroup>& groups() const { return groups_; }

  /// Called after each block, also a failed one, by one thread at a time.
  std::function<void()> on_kept{};

  /// Serialises the request, the shards and all computed blocks.
  std::string to_bytes() const;
  /// Adds the blocks of `stored`. Returns the identity of their BlockAssignment. Throws: InputError, which names
  /// `file` and the difference, if to_bytes() did not write `stored`, if its request, number of shards or
  /// number of blocks differs, or if it has a shard or a block that was added before.
  std::string add(const std::string& stored, const std::string& file);
  /// Sets the request at the first call. Throws: InputError, with the difference, if `request` differs from it.
  void check_request(const nlohmann::json& request, const std::string& file);
  /// Like add(), for a checkpoint of this shard. Throws: InputError if it is of another shard or BlockAssignment.
  void resume(const std::string& stored, const std::string& file);
  /// Returns the missing and the interrupted shards; if there are none, the groups with missing blocks. Empty
  /// if nothing is missing.
  std::string missing() const;
  /// Marks this shard as computed to its end.
  void finish() { finished_ = true; }

 private:
  /// Measures some blocks of a group for a plan.
  void measure(const BlockPlan& plan, const Compute& compute);
  /// Adds a shard, and whether it was computed to its end.
  void add_part(BlockShard shard, bool finished, const std::string& file);

  nlohmann::json request_;
  BlockShard shard_;
  Kind kind_;
  bool finished_ = false;
  /// Number of blocks in the groups run so far; block numbers continue from group to group.
  std::uint64_t planned_blocks_ = 0;
  std::map<std::string, BlockGroup> groups_{};
  std::vector<std::pair<BlockShard, bool>> parts_{};  ///< the shards that were added
  std::vector<Planned> planned_{};
  BlockAssignment assignment_{};
  mutable std::mutex mutex_{};
};

/// CRC-64 of ECMA-182, reflected.
using BlockChecksum = boost::crc_optimal<64, 0x42F0E1EBA9EA3693, ~0ull, ~0ull, true, true>;

/// Writes a checkpoint as one file with a checksum of its bytes.
void write_checkpoint(const std::string& path, const Checkpoint& checkpoint);
/// Returns the bytes in the file. Throws: InputError if it is truncated, edited or not a checkpoint.
std::string read_checkpoint(const std::string& path);

}  // namespace draftproof
