// A long run as blocks, and the results of the blocks that are known. A run splits its work into groups of numbered
// blocks by a rule that depends on the request alone. Processes divide the blocks, files carry their results, and the
// run itself makes its report from them, so every way to compute the blocks gives the same report.
//
//   sums      counters of a block, added over the blocks of a group: integers, in any order
//   record    bytes of one block (stored_value.hpp), kept as they are: what no sum can carry
//
// One file holds all known blocks. Because the counters of a group are added, a gate at V = 262,144 needs one
// megabyte, and not one for each of its thousands of blocks.
//
// Correctness: each block is added once. Sums of integers do not depend on the order of additions, and records are
// read in the order of block numbers.
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

/// The blocks of one name in a run.
struct BlockPlan {
  std::string name;
  std::uint64_t blocks = 0;
  double trials = 0;      ///< mean of the trials of a scheme at one position in a block, for `draftproof plan`
  int threads = 1;        ///< divide the blocks, or the work of each where a process has fewer than two a thread
  bool divisible = true;  ///< whether threads can divide the work of a block
};

/// A block to compute.
struct BlockTask {
  std::uint64_t block = 0;
  /// Most trials of each scheme; fewer than all of a block only while a plan is measured.
  std::uint64_t most_trials = std::numeric_limits<std::uint64_t>::max();
  int threads = 1;
};

struct BlockResult {
  Counters sums{};
  std::string record{};
  bool whole = true;  ///< false if a stop cut the block short: only the report of this run has such a block
};

/// The results of one group: the blocks that are known.
struct BlockGroup {
  std::vector<std::uint64_t> done{};  ///< by block: 1 if it is known
  Counters sums{};
  std::map<std::uint64_t, std::string> records{};

  bool complete() const;
  void add(std::uint64_t block, const BlockResult& result);
  bool operator==(const BlockGroup&) const = default;
  static auto fields(auto& group) { return std::tie(group.done, group.sums, group.records); }
};

/// Part `index` of `count`. Block b, counted through all groups of a run, belongs to part b mod `count`, or to the
/// part that a BlockDeal names.
struct BlockShard {
  std::uint64_t index = 0, count = 1;
  bool operator==(const BlockShard&) const = default;
  static auto fields(auto& shard) { return std::tie(shard.index, shard.count); }
};

/// Blocks divided among the parts of a run by their measured times: the longest first, each to the part with the
/// least work so far. Every process computes the same division from the same plan.
///
/// Cost: n log m for n blocks and m parts. Correctness: a block has one owner. A group that the plan lacks has none,
/// and its blocks are divided in turn.
class BlockDeal {
 public:
  BlockDeal() = default;
  /// `plan` is the document of `draftproof plan`, from `file`; `parts` > 0. Throws: nlohmann::json::exception if it
  /// is no such document; InputError if the plan was stopped early or a number of blocks is negative or no integer.
  BlockDeal(const nlohmann::json& plan, std::uint64_t parts, const std::string& file);

  /// The part that computes this block, if the plan has it.
  std::optional<std::uint64_t> owner(const std::string& group, std::uint64_t block) const;
  /// Equal for equal deals; empty without one.
  const std::string& identity() const { return identity_; }

 private:
  std::map<std::string, std::vector<std::uint32_t>> owners_{};
  std::string identity_{};
};

class Checkpoint {
 public:
  /// Computes a block; nothing after a stop.
  using Compute = std::function<std::optional<BlockResult>(const BlockTask& task)>;
  /// `whole` computes blocks and reports, `shard` computes its share of the blocks, `plan` lists and measures them.
  enum class Kind { whole, shard, plan };
  /// The planned blocks of a group, with the processor seconds of those that were measured; of `plan`.
  struct Planned {
    std::string group;
    std::uint64_t blocks;
    double trials;
    std::vector<double> measured;

    /// Mean seconds of a block, and those of the longest measured one.
    double seconds() const;
    double longest() const;
  };

  /// `request` identifies the plan: two checkpoints with equal requests have the same blocks.
  explicit Checkpoint(nlohmann::json request = nullptr, BlockShard shard = {}, Kind kind = Kind::whole)
      : request_(std::move(request)), shard_{shard}, kind_{kind} {}  // braces would make a list

  const nlohmann::json& request() const { return request_; }
  /// Whether this run computes or lists blocks and reports nothing.
  bool partial() const { return kind_ != Kind::whole; }
  const std::vector<Planned>& planned() const { return planned_; }
  /// Divides the blocks by `deal` and no longer in turn. Requires that no group was run.
  void use(BlockDeal deal) { deal_ = std::move(deal); }

  /// Computes the unknown blocks of this process. Returns the known blocks of the group and, for this report only,
  /// the blocks that a stop cut short, which are not `done`. Throws: the exception of on_kept() if it threw, else of
  /// the lowest block that failed.
  BlockGroup run(const BlockPlan& plan, const Compute& compute);
  const std::map<std::string, BlockGroup>& groups() const { return groups_; }

  /// Called after each block, whether it was kept or failed, by one thread at a time.
  std::function<void()> on_kept{};

  /// The request, the parts and all known blocks.
  std::string to_bytes() const;
  /// Adds the blocks of `stored`. Returns the identity of their BlockDeal. Throws: InputError, which names `file` and
  /// what differs, if to_bytes() did not write `stored`, if its request, number of shards or number of blocks is
  /// another one, or if it has a shard or a block that is known already.
  std::string add(const std::string& stored, const std::string& file);
  /// Sets the request if there is none yet. Throws: InputError, with what differs, if `request` is another one.
  void check_request(const nlohmann::json& request, const std::string& file);
  /// The same as add() for a checkpoint of this very process. Throws: InputError if it is of another shard or
  /// BlockDeal.
  void resume(const std::string& stored, const std::string& file);
  /// Returns the missing and the interrupted shards; if there are none, the groups with unknown blocks. Empty if
  /// nothing is missing.
  std::string missing() const;
  /// Marks this process's share as computed to its end.
  void finish() { finished_ = true; }

 private:
  /// Measures some blocks of a group for a plan.
  void measure(const BlockPlan& plan, const Compute& compute);
  /// Adds a part: a shard, and whether it was computed to its end.
  void add_part(BlockShard shard, bool finished, const std::string& file);

  nlohmann::json request_;
  BlockShard shard_;
  Kind kind_;
  bool finished_ = false;
  std::uint64_t planned_blocks_ = 0;  ///< of the groups that were run: blocks are numbered through all groups
  std::map<std::string, BlockGroup> groups_{};
  std::vector<std::pair<BlockShard, bool>> parts_{};  ///< the parts that were added
  std::vector<Planned> planned_{};
  BlockDeal deal_{};
  mutable std::mutex mutex_{};
};

/// CRC-64 of ECMA-182, reflected.
using BlockChecksum = boost::crc_optimal<64, 0x42F0E1EBA9EA3693, ~0ull, ~0ull, true, true>;

/// All of a checkpoint as one file with a checksum of its bytes.
void write_checkpoint(const std::string& path, const Checkpoint& checkpoint);
/// The bytes in the file. Throws: InputError if it is truncated, edited or no such file.
std::string read_checkpoint(const std::string& path);

}  // namespace draftproof
