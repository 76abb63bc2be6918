#include <draftproof/properties/blocks/checkpoint.hpp>

#include <algorithm>
#include <atomic>
#include <ctime>
#include <exception>
#include <new>
#include <numeric>
#include <queue>
#include <set>
#include <span>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <draftproof/captures/array.hpp>
#include <draftproof/captures/input_error.hpp>
#include <draftproof/captures/json_input.hpp>
#include <draftproof/captures/written_file.hpp>

namespace draftproof {
namespace {

using Json = nlohmann::json;

constexpr std::string_view schema = "draftproof.blocks/3", heading = "draftproof blocks, checksum ";

std::string checksum(std::string_view bytes) {
  BlockChecksum sum;
  sum.process_bytes(bytes.data(), bytes.size());
  return fmt::format("{:016x}", sum.checksum());
}

std::string difference(const Json& ours, const Json& theirs) {
  std::set<std::string> keys;
  for (const Json* each : {&ours, &theirs})
    for (const auto& [key, value] : each->items()) keys.insert(key);
  std::vector<std::string> found;
  for (const std::string& key : keys) {
    const Json a = ours.value(key, Json()), b = theirs.value(key, Json());
    if (a != b) found.push_back(fmt::format("{} {} instead of {}", key, b.dump(), a.dump()));
  }
  return fmt::format("{}", fmt::join(found, ", "));
}

/// Adds `more` to `sums`, which grows to the larger number of counters.
void add(const Counters& more, Counters& sums) {
  if (sums.size() < more.size()) sums.resize(more.size());
  for (std::size_t i = 0; i < more.size(); ++i) sums[i] += more[i];
}

}  // namespace

BlockAssignment::BlockAssignment(const nlohmann::json& plan, std::uint64_t parts, const std::string& file) {
  struct Group {
    std::string name;
    std::uint64_t blocks;
    double seconds;
  };
  if (!plan.value("complete", true))
    throw InputError({.file = file, .got = "a plan that was stopped early", .expected = "a complete plan"});
  std::vector<Group> groups;
  for (const Json& group : plan.at("groups")) {
    const std::string name = group.at("group");
    const Json& blocks = group.at("blocks");
    if (!blocks.is_number_integer() || blocks < 0)
      throw InputError({.file = file,
                        .got = fmt::format("{} blocks of {}", blocks.dump(), name),
                        .expected = "a number of blocks"});
    groups.push_back({name, blocks, group.at("seconds")});
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) { return a.seconds > b.seconds; });
  using Load = std::pair<double, std::uint32_t>;
  std::priority_queue<Load, std::vector<Load>, std::greater<>> least;
  for (std::uint32_t part = 0; part < parts; ++part) least.emplace(0.0, part);
  boost::crc_32_type sum;
  for (const Group& group : groups) {
    std::vector<std::uint32_t>& owners = owners_[group.name];
    owners.clear();  // a group of this name may occur twice in a run; it is computed once
    for (std::uint64_t block = 0; block < group.blocks; ++block) {
      const auto [load, part] = least.top();
      least.pop();
      least.emplace(load + group.seconds, part);
      owners.push_back(part);
    }
    sum.process_bytes(group.name.data(), group.name.size());
    sum.process_bytes(owners.data(), owners.size() * sizeof owners[0]);
  }
  identity_ = fmt::format("{:08x} over {} parts", sum.checksum(), parts);
}

std::optional<std::uint64_t> BlockAssignment::owner(const std::string& group, std::uint64_t block) const {
  const auto found = owners_.find(group);
  if (found == owners_.end() || block >= found->second.size()) return std::nullopt;
  return found->second[block];
}

bool BlockGroup::complete() const { return std::find(done.begin(), done.end(), 0) == done.end(); }

void BlockGroup::add(std::uint64_t block, const BlockResult& result) {
  draftproof::add(result.sums, sums);
  if (!result.record.empty()) records[block] = result.record;
}

double Checkpoint::Planned::seconds() const {
  return std::accumulate(measured.begin(), measured.end(), 0.0) /
         static_cast<double>(std::max<std::size_t>(1, measured.size()));
}

double Checkpoint::Planned::longest() const {
  return measured.empty() ? 0 : *std::max_element(measured.begin(), measured.end());
}

void Checkpoint::measure(const BlockPlan& plan, const Compute& compute) {
  const auto& [name, blocks, trials, threads, divisible] = plan;
  Planned planned{name, blocks, trials, {}};
  const auto seconds = [&compute](std::uint64_t block, std::uint64_t most) {
    const std::clock_t start = std::clock();
    compute({block, most});
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  };
  constexpr std::uint64_t few = 16;
  if (blocks > 0 && trials > 0) {
    seconds(0, few);  // not measured, because the first block of a process also prepares rows and plans
    // Measures the fixed time of a block, then the time of a further trial.
    constexpr double enough = 0.05;
    const auto all = std::max(static_cast<std::uint64_t>(trials), few);
    const double once = seconds(0, few);
    double then = once;
    std::uint64_t more = few;
    while (more < all && then < once + enough) {
      // A trial takes from 100 ns to 20 ms (a pass over a large vocabulary). The first step multiplies the trials
      // by 4; a later step by 64 if the last step's time exceeds `once` by less than enough / 64, else by 4.
      const std::uint64_t wider = more > few && then < once + enough / 64 ? 64 : 4;
      then = seconds(0, more = std::min(all, wider * more));
    }
    const double slope = more > few ? std::max(0.0, then - once) / static_cast<double>(more - few) : 0;
    planned.measured.push_back(once + slope * trials);
  } else if (blocks > 0) {
    constexpr std::uint64_t most_measured = 4;
    const std::uint64_t count = std::min(blocks, most_measured);
    for (std::uint64_t i = 0; i < count; ++i) planned.measured.push_back(seconds(blocks * i / count, few));
  }
  planned_.push_back(std::move(planned));
}

BlockGroup Checkpoint::run(const BlockPlan& plan, const Compute& compute) {
  std::unique_lock lock(mutex_);
  BlockGroup& group = groups_[plan.name];
  group.done.resize(plan.blocks);
  const std::uint64_t first = std::exchange(planned_blocks_, planned_blocks_ + plan.blocks);
  std::vector<std::uint64_t> wanted;
  for (std::uint64_t b = 0; b < plan.blocks && kind_ != Kind::plan; ++b)
    if (!group.done[b] && assignment_.owner(plan.name, b).value_or((first + b) % shard_.count) == shard_.index)
      wanted.push_back(b);
  lock.unlock();
  if (kind_ == Kind::plan) measure(plan, compute);

  const auto each = plan.blocks / shard_.count;
  const bool by_block = !plan.divisible || each >= 2 * static_cast<std::uint64_t>(std::max(1, plan.threads));
  const int at_once = by_block ? plan.threads : 1, inside = by_block ? 1 : plan.threads;
  std::map<std::uint64_t, BlockResult> cut;
  std::exception_ptr failure;
  std::uint64_t failed = std::numeric_limits<std::uint64_t>::max();
  std::atomic<bool> stopped{false};
  const auto one = [&](std::uint64_t block) {
    if (stopped) return;
    try {
      std::optional<BlockResult> result = compute({.block = block, .threads = inside});
      const std::lock_guard locked(mutex_);
      if (!result || !result->whole) {
        stopped = true;
        if (result) cut[block] = std::move(*result);
        return;
      }
      group.add(block, *result);
      group.done[block] = 1;
    } catch (...) {
      const std::lock_guard locked(mutex_);
      if (block < failed) failed = block, failure = std::current_exception();
    }
#pragma omp critical(block_kept)
    try {
      if (on_kept) on_kept();  // called even if another block has failed, so that finished blocks are saved
    } catch (...) {
      const std::lock_guard locked(mutex_);
      failed = 0, failure = std::current_exception();
      stopped = true;
    }
  };
  if (at_once > 1) {
#pragma omp parallel for schedule(dynamic) num_threads(at_once)
    for (std::size_t i = 0; i < wanted.size(); ++i) one(wanted[i]);
  } else {
    // Starts no team of threads here, so that the threads inside a block are not a nested team.
    for (const std::uint64_t block : wanted) one(block);
  }
  if (failure) std::rethrow_exception(failure);
  lock.lock();
  BlockGroup known = group;
  for (const auto& [block, result] : cut) known.add(block, result);
  return known;
}

std::string Checkpoint::to_bytes() const {
  const std::lock_guard lock(mutex_);
  StoredWriter out;
  out.put(std::string(schema));
  out.put(request_.dump());
  out.put(assignment_.identity());
  out.put(parts_.empty() ? std::vector{std::pair(shard_, finished_)} : parts_);
  out.put(groups_);
  return std::move(out.bytes);
}

void Checkpoint::check_request(const nlohmann::json& request, const std::string& file) {
  if (request_.is_null()) request_ = request;
  if (request != request_)
    throw InputError({.file = file,
                      .got = "other arguments: " + difference(request_, request),
                      .expected = "the arguments with which the blocks were computed"});
}

void Checkpoint::resume(const std::string& stored, const std::string& file) {
  if (add(stored, file) != assignment_.identity())
    throw InputError({.file = file,
                      .got = "blocks that were divided by another plan",
                      .expected = "the file of --balance that divided them"});
  if (parts_.size() != 1 || parts_.front().first != shard_)
    throw InputError({.file = file,
                      .got = "blocks of another shard",
                      .expected = fmt::format("blocks of shard {}/{}", shard_.index + 1, shard_.count)});
  parts_.clear();
}

void Checkpoint::add_part(BlockShard shard, bool finished, const std::string& file) {
  const std::string name = fmt::format("{}/{}", shard.index + 1, shard.count);
  for (const auto& [known, whole] : parts_) {
    if (known == shard)
      throw InputError({.file = file, .got = "shard " + name + " a second time", .expected = "every shard once"});
    if (known.count != shard.count)
      throw InputError({.file = file,
                        .got = "shard " + name,
                        .expected = fmt::format("shards of {}, as in the files before it", known.count)});
  }
  parts_.emplace_back(shard, finished);
}

std::string Checkpoint::add(const std::string& stored, const std::string& file) {
  const std::lock_guard lock(mutex_);
  std::string assignment;
  try {
    StoredReader in(stored);
    if (const auto found = in.stored<std::string>(); found != schema)
      throw InputError({.file = file, .got = "blocks of schema " + found, .expected = std::string(schema)});
    check_request(parse_own_json(in.stored<std::string>()), file);
    in.get(assignment);
    for (const auto& [shard, finished] : in.stored<decltype(parts_)>()) add_part(shard, finished, file);
    for (auto& [name, from] : in.stored<decltype(groups_)>()) {
      BlockGroup& group = groups_[name];
      if (!group.done.empty() && group.done.size() != from.done.size())
        throw InputError({.file = file,
                          .got = fmt::format("{} blocks of {}", from.done.size(), name),
                          .expected = fmt::format("{} blocks", group.done.size())});
      group.done.resize(from.done.size());
      for (std::size_t b = 0; b < from.done.size(); ++b)
        if (from.done[b] && std::exchange(group.done[b], 1))
          throw InputError({.file = file,
                            .got = fmt::format("block {} of {} a second time", b, name),
                            .expected = "every block once"});
      draftproof::add(from.sums, group.sums);
      group.records.merge(from.records);
    }
    if (!in.done()) throw std::out_of_range("bytes after the end");
  } catch (const Json::exception&) {
    throw InputError({.file = file,
                      .got = "arguments that cannot be read",
                      .expected = "a file written by --shard or --checkpoint"});
  } catch (const std::logic_error&) {
    throw InputError({.file = file,
                      .got = "a file that ends before its blocks",
                      .expected = "a file written by --shard or --checkpoint"});
  }
  return assignment;
}

std::string Checkpoint::missing() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  const std::uint64_t count = parts_.empty() ? 0 : parts_.front().first.count;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto found = std::find_if(parts_.begin(), parts_.end(), [i](const auto& p) { return p.first.index == i; });
    if (found == parts_.end()) names.push_back(fmt::format("shard {}/{}", i + 1, count));
    if (found != parts_.end() && !found->second)
      names.push_back(fmt::format("shard {}/{} (interrupted)", i + 1, count));
  }
  if (names.empty())
    for (const auto& [name, group] : groups_)
      if (!group.complete()) names.push_back("blocks of " + name);
  return fmt::format("{}", fmt::join(names, ", "));
}

void write_checkpoint(const std::string& path, const Checkpoint& checkpoint) {
  const std::string bytes = checkpoint.to_bytes();
  write_whole(path, fmt::format("{}{}\n{}", heading, checksum(bytes), bytes));
}

std::string read_checkpoint(const std::string& path) {
  FileBytes file(path);
  std::string text(file.size(), '\0');
  file.read(std::as_writable_bytes(std::span(text)));
  const auto end = text.find('\n');
  if (!text.starts_with(heading) || end == std::string::npos)
    throw InputError(
        {.file = path, .got = "a file without blocks", .expected = "a file written by --shard or --checkpoint"});
  const std::string stated = text.substr(heading.size(), end - heading.size());
  text.erase(0, end + 1);
  if (const std::string found = checksum(text); found != stated)
    throw InputError({.file = path,
                      .got = "a truncated or edited file: checksum " + found,
                      .expected = "checksum " + in_quotes(stated)});
  return text;
}

}  // namespace draftproof
