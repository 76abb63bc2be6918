#include <draftproof/properties/blocks/ledger.hpp>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <ctime>
#include <exception>
#include <limits>
#include <numeric>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <draftproof/captures/input_error.hpp>

namespace draftproof {
namespace {

using Json = nlohmann::json;

constexpr std::string_view schema = "draftproof.blocks/2";

/// Counters as text, which is read ten times as fast as an array: their number, then for each counter that is not 0 the
/// number of zeros before it and the counter.
std::string sparse(const std::vector<std::uint64_t>& sums) {
  std::string out = fmt::format_int(sums.size()).str();
  const auto put = [&out](std::uint64_t value) {
    const fmt::format_int text(value);
    out += ' ';
    out.append(text.data(), text.size());
  };
  std::uint64_t gap = 0;
  for (const std::uint64_t sum : sums) {
    if (sum == 0) {
      ++gap;
      continue;
    }
    put(std::exchange(gap, 0));
    put(sum);
  }
  return out;
}

void add_sparse(const std::string& stored, std::vector<std::uint64_t>& sums) {
  const char *next = stored.data(), *const end = next + stored.size();
  const auto number = [&next, end] {
    std::uint64_t value = 0;
    const auto [after, error] = std::from_chars(next, end, value);
    if (error != std::errc{} || (after != end && *after != ' ')) throw std::out_of_range("no counters");
    next = after == end ? end : after + 1;
    return value;
  };
  const std::uint64_t size = number();
  if (sums.size() < size) sums.resize(size);
  std::size_t at = 0;
  while (next != end) {
    at += number();
    sums.at(at++) += number();
  }
}

/// The first and the number of each run of known blocks.
Json runs(const std::vector<bool>& done) {
  Json out = Json::array();
  for (std::size_t i = 0; i < done.size(); ++i) {
    if (!done[i]) continue;
    const std::size_t first = i;
    while (i < done.size() && done[i]) ++i;
    out.push_back({first, i - first});
  }
  return out;
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

}  // namespace

bool BlockGroup::complete() const { return std::find(done.begin(), done.end(), false) == done.end(); }

BlockGroup& BlockLedger::open(const std::string& name, std::uint64_t blocks) {
  const std::lock_guard lock(mutex_);
  BlockGroup& group = groups_[name];
  group.done.resize(blocks);
  group.first = opened_;
  opened_ += blocks;
  return group;
}

bool BlockLedger::mine(const std::string& name, const BlockGroup& group, std::uint64_t block) const {
  return deal_.owner(name, block).value_or((group.first + block) % shard_.count) == shard_.index;
}

double BlockLedger::Planned::seconds() const {
  return std::accumulate(measured.begin(), measured.end(), 0.0) /
         static_cast<double>(std::max<std::size_t>(1, measured.size()));
}

double BlockLedger::Planned::longest() const {
  return measured.empty() ? 0 : *std::max_element(measured.begin(), measured.end());
}

void BlockLedger::measure(const std::string& name, std::uint64_t blocks, double trials, const Compute& compute) {
  Planned planned{name, blocks, trials, {}};
  const auto seconds = [&](std::uint64_t block, std::uint64_t most) {
    const std::clock_t start = std::clock();
    compute(block, most);
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  };
  constexpr std::uint64_t few = 16;
  if (blocks > 0 && trials > 0) {
    seconds(0, few);  // what the first block of a process pays: rows, plans
    // What every block pays once, and the slope of its trials.
    constexpr double enough = 0.05;
    const auto all = std::max(static_cast<std::uint64_t>(trials), few);
    const double once = seconds(0, few);
    double then = once;
    std::uint64_t more = few;
    while (more < all && then < once + enough) {
      // A trial of a scheme that walks a large vocabulary takes 20 ms, another one 100 ns: steps are wide once that is known.
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

bool BlockLedger::run(const std::string& name, std::uint64_t blocks, double trials, int at_once,
                      const Compute& compute) {
  constexpr auto all = std::numeric_limits<std::uint64_t>::max();
  BlockGroup& group = open(name, blocks);
  if (kind_ == Kind::plan) {
    measure(name, blocks, trials, compute);
    return false;
  }
  std::vector<std::uint64_t> wanted;
  for (std::uint64_t b = 0; b < blocks; ++b)
    if (!group.done[b] && mine(name, group, b)) wanted.push_back(b);
  std::exception_ptr failure;
  std::uint64_t failed = all;
  std::atomic<bool> stopped{false};
#pragma omp parallel for schedule(dynamic) num_threads(std::max(1, at_once))
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (stopped) continue;
    try {
      const std::optional<BlockResult> result = compute(wanted[i], all);
      if (!result) {
        stopped = true;
        continue;
      }
      const std::lock_guard lock(mutex_);
      group.done[wanted[i]] = true;
      if (group.sums.size() < result->sums.size()) group.sums.resize(result->sums.size());
      for (std::size_t s = 0; s < result->sums.size(); ++s) group.sums[s] += result->sums[s];
      if (!result->record.empty()) group.records[wanted[i]] = result->record;
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (wanted[i] < failed) failed = wanted[i], failure = std::current_exception();
    }
#pragma omp critical(block_kept)
    try {
      if (on_kept && !failure) on_kept();
    } catch (...) {
      failed = 0, failure = std::current_exception();
      stopped = true;
    }
  }
  if (failure) std::rethrow_exception(failure);
  return group.complete();
}

nlohmann::json BlockLedger::to_json() const {
  const std::lock_guard lock(mutex_);
  Json groups = Json::object();
  for (const auto& [name, group] : groups_) {
    Json records = Json::array();
    for (const auto& [block, record] : group.records) records.push_back({block, record});
    groups[name] = {{"blocks", group.done.size()},
                    {"done", runs(group.done)},
                    {"sums", sparse(group.sums)},
                    {"records", records}};
  }
  Json parts = Json::array();
  for (const auto& [shard, whole] : parts_) parts.push_back({shard.index + 1, shard.count, whole});
  if (parts_.empty()) parts.push_back({shard_.index + 1, shard_.count, finished_});
  Json out{{"schema", schema}, {"request", request_}, {"parts", parts}, {"groups", groups}};
  if (!deal_.empty()) out["deal"] = deal_.identity();
  return out;
}

void BlockLedger::check_request(const nlohmann::json& request, const std::string& file) {
  if (request_.is_null()) request_ = request;
  if (request != request_)
    throw InputError({.file = file,
                      .found = "another request: " + difference(request_, request),
                      .wanted = "the request of the blocks"});
}

void BlockLedger::resume(const nlohmann::json& stored, const std::string& file) {
  if (const std::string deal = stored.value("deal", ""); deal != deal_.identity())
    throw InputError({.file = file, .found = "blocks of another deal", .wanted = "the plan of --deal as it was"});
  add(stored, file);
  if (parts_.size() != 1 || parts_.front().first != shard_)
    throw InputError({.file = file,
                      .found = "blocks of another shard",
                      .wanted = fmt::format("those of shard {}/{}", shard_.index + 1, shard_.count)});
  parts_.clear();
}

void BlockLedger::add(const nlohmann::json& stored, const std::string& file) {
  const std::lock_guard lock(mutex_);
  try {
    if (const auto found = stored.at("schema").get<std::string>(); found != schema)
      throw InputError({.file = file, .found = "blocks of schema " + found, .wanted = std::string(schema)});
    check_request(stored.at("request"), file);
    for (const Json& part : stored.at("parts")) {
      const BlockShard shard{part.at(0).get<std::uint64_t>() - 1, part.at(1).get<std::uint64_t>()};
      const std::string name = fmt::format("{}/{}", shard.index + 1, shard.count);
      for (const auto& [known, whole] : parts_) {
        if (known == shard)
          throw InputError({.file = file, .found = "shard " + name + " a second time", .wanted = "every shard once"});
        if (known.count != shard.count)
          throw InputError({.file = file,
                            .found = "shard " + name,
                            .wanted = fmt::format("shards of {}, as in the files before it", known.count)});
      }
      parts_.emplace_back(shard, part.at(2).get<bool>());
    }
    for (const auto& [name, from] : stored.at("groups").items()) {
      BlockGroup& group = groups_[name];
      const auto blocks = from.at("blocks").get<std::size_t>();
      if (!group.done.empty() && group.done.size() != blocks)
        throw InputError({.file = file,
                          .found = fmt::format("{} blocks of {}", blocks, name),
                          .wanted = fmt::format("{} blocks", group.done.size())});
      group.done.resize(blocks);
      for (const Json& run : from.at("done"))
        for (std::size_t b = run.at(0), end = b + run.at(1).get<std::size_t>(); b < end; ++b) {
          if (group.done.at(b))
            throw InputError({.file = file,
                              .found = fmt::format("block {} of {} a second time", b, name),
                              .wanted = "every block once"});
          group.done[b] = true;
        }
      add_sparse(from.at("sums").get_ref<const std::string&>(), group.sums);
      for (const Json& record : from.at("records")) group.records[record.at(0)] = record.at(1);
    }
  } catch (const Json::exception&) {
    throw InputError({.file = file, .found = "a document without blocks", .wanted = "a part or a checkpoint"});
  } catch (const std::logic_error&) {  // a position or a number of counters that no vector has
    throw InputError(
        {.file = file, .found = "blocks or counters beyond their number", .wanted = "a part or a checkpoint"});
  }
}

std::string BlockLedger::missing() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  const std::uint64_t count = parts_.empty() ? 0 : parts_.front().first.count;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto found = std::find_if(parts_.begin(), parts_.end(), [i](const auto& p) { return p.first.index == i; });
    if (found == parts_.end()) names.push_back(fmt::format("shard {}/{}", i + 1, count));
    if (found != parts_.end() && !found->second)
      names.push_back(fmt::format("shard {}/{}, which was interrupted,", i + 1, count));
  }
  if (names.empty())
    for (const auto& [name, group] : groups_)
      if (!group.complete()) names.push_back("blocks of " + name);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace draftproof
