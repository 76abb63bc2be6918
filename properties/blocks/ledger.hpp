// The plan of a long run as blocks, and the results of the blocks that are known. A run splits its work into groups of
// numbered blocks by a rule that depends on the request alone. Processes divide the blocks, files carry them, and the
// run itself makes its report from them, so every way to compute the blocks gives the same report.
//
//   sums      counters of a block, added over the blocks of a group: integers, in any order
//   record    text of one block, kept as it is: what no sum can carry
//
// Correctness: a block is added once. Integers make sums independent of order, and records are read in the order of
// block numbers.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <draftproof/properties/blocks/deal.hpp>

namespace draftproof {

struct BlockResult {
  std::vector<std::uint64_t> sums{};
  std::string record{};
};

/// The blocks of one name. `first` is the number of blocks of the groups that were opened before.
struct BlockGroup {
  std::uint64_t first = 0;
  std::vector<bool> done{};
  std::vector<std::uint64_t> sums{};
  std::map<std::uint64_t, std::string> records{};

  bool complete() const;
};

/// Block number b of the plan belongs to part b mod `count`, or to the part that a deal names.
struct BlockShard {
  std::uint64_t index = 0, count = 1;
  bool operator==(const BlockShard&) const = default;
};

class BlockLedger {
 public:
  /// Computes a block with at most `most_trials` trials of each scheme, all of them in a run that is no plan; nothing
  /// after a stop.
  using Compute = std::function<std::optional<BlockResult>(std::uint64_t block, std::uint64_t most_trials)>;
  /// A run that reports, one that computes its shard of the blocks, or one that lists them.
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

  /// `request` identifies the plan: two ledgers with equal requests have the same blocks.
  explicit BlockLedger(nlohmann::json request, BlockShard shard = {}, Kind kind = Kind::whole)
      : request_(std::move(request)), shard_{shard}, kind_{kind} {}  // braces would make a list

  const nlohmann::json& request() const { return request_; }
  const BlockShard& shard() const { return shard_; }
  /// Whether this run computes or lists blocks and reports nothing.
  bool partial() const { return kind_ != Kind::whole; }
  const std::vector<Planned>& planned() const { return planned_; }
  /// Divides the blocks by `deal` and no longer in turn. Requires that no group was opened.
  void use(BlockDeal deal) { deal_ = std::move(deal); }

  /// Computes the blocks of this process that are not known, `at_once` at a time; `trials` is the mean of the trials of a
  /// scheme at one position in a block, for a plan. Returns whether all blocks of the group are known. Throws: the
  /// exception of the lowest block.
  bool run(const std::string& name, std::uint64_t blocks, double trials, int at_once, const Compute& compute);
  /// The number of blocks of `at_once` that a run of so many blocks computes together: all where this process has at
  /// least two for each, else one, whose threads then divide its work.
  int together(std::uint64_t blocks, int at_once) const {
    return blocks / shard_.count >= 2 * static_cast<std::uint64_t>(at_once) ? at_once : 1;
  }
  /// The group of that name, with the number of blocks of its run.
  const BlockGroup& group(const std::string& name) const { return groups_.at(name); }

  /// Called after each kept block, and not concurrently.
  std::function<void()> on_kept{};

  /// The request, the parts and all known blocks.
  nlohmann::json to_json() const;
  /// Adds the blocks of `stored`. `file` names it in errors. Throws: InputError if it is no such document, has another
  /// request, which the error names, or has a block that is known already.
  void add(const nlohmann::json& stored, const std::string& file);
  /// Sets the request if there is none yet. Throws: InputError, with what differs, if `request` is another one.
  void check_request(const nlohmann::json& request, const std::string& file);
  /// The same as add() for a checkpoint of this very process. Throws: InputError if it is of another shard.
  void resume(const nlohmann::json& stored, const std::string& file);
  /// What is missing for a whole: shards, or blocks of interrupted ones; empty if nothing is.
  std::string missing() const;
  /// Marks this process's share as computed to its end.
  void finish() { finished_ = true; }

 private:
  BlockGroup& open(const std::string& name, std::uint64_t blocks);
  /// Measures some blocks of a group for a plan.
  void measure(const std::string& name, std::uint64_t blocks, double trials, const Compute& compute);
  /// Whether block b of this group belongs to this process.
  bool mine(const std::string& name, const BlockGroup& group, std::uint64_t block) const;

  nlohmann::json request_;
  BlockShard shard_;
  Kind kind_;
  bool finished_ = false;
  std::uint64_t opened_ = 0;
  std::map<std::string, BlockGroup> groups_{};
  std::vector<std::pair<BlockShard, bool>> parts_{};  ///< the shards that were added, and whether each was finished
  std::vector<Planned> planned_{};
  BlockDeal deal_{};
  mutable std::mutex mutex_{};
};

/// A ledger's document as one file with a checksum of its text.
void write_ledger(const std::string& path, const BlockLedger& ledger);
/// The document in the file. Throws: InputError if it is truncated, edited or no such file.
nlohmann::json read_ledger(const std::string& path);

/// Identity of a file: its size and a checksum; of a file beyond 256 MiB the checksum covers 4096 evenly spread pieces
/// of 64 KiB. Throws: InputError.
nlohmann::json fingerprint(const std::string& path);

}  // namespace draftproof
