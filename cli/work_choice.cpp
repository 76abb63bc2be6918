#include <draftproof/cli/work_choice.hpp>

#include <sys/resource.h>
#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include <draftproof/captures/array.hpp>
#include <draftproof/captures/capture.hpp>
#include <draftproof/captures/input_error.hpp>
#include <draftproof/captures/written_file.hpp>
#include <draftproof/cli/arguments.hpp>
#include <draftproof/cli/ranks.hpp>

namespace draftproof {
namespace {

BlockShard parse_shard(const std::string& text) {
  BlockShard shard{.index = 0, .count = 0};
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, shard.index);
  if (first.ec == std::errc() && first.ptr != end && *first.ptr == '/') {
    const auto second = std::from_chars(first.ptr + 1, end, shard.count);
    constexpr std::uint64_t most = 1'000'000;
    if (second.ec == std::errc() && second.ptr == end && shard.index >= 1 && shard.index <= shard.count &&
        shard.count <= most)
      return {shard.index - 1, shard.count};
  }
  throw InputError({.file = "--shard", .got = in_quotes(text), .expected = "i/n with 1 <= i <= n, as in 3/64"});
}

/// Returns the file of a source FILE or FILE:NAME; empty for a family.
std::string file_of(const std::string& source) {
  if (std::filesystem::is_regular_file(source)) return source;
  const std::string before = source.substr(0, source.rfind(':'));
  return std::filesystem::is_regular_file(before) ? before : "";
}

/// Returns the size and the checksum of a file. In a file above 256 MiB the checksum covers only 4096 evenly spread
/// pieces of 64 KiB.
/// Throws: InputError.
nlohmann::json fingerprint(const std::string& path) {
  constexpr std::uint64_t piece = 1 << 16, pieces = 4096;
  const std::uint64_t size = FileBytes(path).size();
  std::ifstream file(path, std::ios::binary);
  std::vector<char> bytes(piece);
  BlockChecksum sum;
  const std::uint64_t step = std::max(piece, size <= piece * pieces ? piece : size / pieces);
  for (std::uint64_t at = 0; at < size; at += step) {
    file.seekg(static_cast<std::streamoff>(at));
    file.read(bytes.data(), static_cast<std::streamsize>(std::min(piece, size - at)));
    sum.process_bytes(bytes.data(), static_cast<std::size_t>(file.gcount()));
  }
  return fmt::format("{} bytes, {:016x}", size, sum.checksum());
}

BlockAssignment deal_of(const std::string& path, std::uint64_t parts) {
  std::ifstream file(path);
  std::error_code failed;
  if (std::filesystem::is_directory(path, failed))
    throw InputError({.file = path, .got = "a folder", .expected = "the result of `draftproof plan --json`"});
  if (!file)
    throw InputError({.file = path, .got = "no such file", .expected = "the result of `draftproof plan --json`"});
  try {
    return BlockAssignment(nlohmann::json::parse(file), parts, path);
  } catch (const nlohmann::json::exception&) {
    throw InputError({.file = path, .got = "no plan", .expected = "the result of `draftproof plan --json`"});
  }
}

/// Saves a checkpoint after a block, at most four times a second, and so rarely that saving takes at most a hundredth
/// of the time.
class Saver {
 public:
  Saver(std::string path, const Checkpoint& known) : path_{std::move(path)}, known_{known} {}

  void operator()() {
    const auto start = Clock::now();
    if (start < next_) return;
    write_checkpoint(path_, known_);
    const auto end = Clock::now();
    next_ = end + std::max<Clock::duration>(std::chrono::milliseconds(250), 100 * (end - start));
  }

 private:
  using Clock = std::chrono::steady_clock;

  std::string path_;
  const Checkpoint& known_;
  Clock::time_point next_ = Clock::time_point::min();
};

/// Returns the blocks of a command as a table and as data, and the memory that this process has used.
Document report_plan(const std::vector<Checkpoint::Planned>& planned) {
  Document document;
  document.data = {{"schema", "draftproof.plan/1"}};
  Section table{.title = "Blocks"};
  double seconds = 0, longest = 0;
  std::uint64_t blocks = 0;
  for (const auto& group : planned) {
    const double all = group.seconds() * static_cast<double>(group.blocks);
    seconds += all;
    blocks += group.blocks;
    longest = std::max(longest, group.longest());
    ResultRow row;
    row.text("group", "group", {group.group}).count("blocks", "blocks", group.blocks);
    row.data("trials", group.trials).number("trials each", {fmt::format("{:.4g}", group.trials)});
    row.data("seconds", group.seconds()).number("seconds each", {fmt::format("{:.3g}", group.seconds())});
    row.number("seconds", {fmt::format("{:.3g}", all)}).data("measured", group.measured);
    table.table.add(document.data["groups"], std::move(row));
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const double megabytes = static_cast<double>(usage.ru_maxrss) / 1024;
  table.after.push_back(fmt::format("{} blocks, {:.3g} s on one core, the longest {:.3g} s; {:.0f} MiB of memory",
                                    blocks, seconds, longest, megabytes));
  document.data["blocks"] = blocks;
  document.data["seconds"] = seconds;
  document.data["longest_seconds"] = longest;
  document.data["peak_mebibytes"] = megabytes;
  document.sections.push_back(std::move(table));
  return document;
}

}  // namespace

void WorkChoice::declare(CLI::App& app) {
  app_ = &app;
  const CLI::Validator given([](const std::string& text) { return text.empty() ? "got \"\", expected a value" : ""; },
                             "");
  app.add_option("--shard", shard_,
                 "compute part i of n, such as 3/64, and write it to --output for `draftproof merge`")
      ->check(given)
      ->group(running_group);
  app.add_option(
         "--balance", plan_,
         "file written by `draftproof plan --json`; its times balance the blocks of work over shards or MPI ranks "
         "[blocks in turn]")
      ->check(given)
      ->group(running_group);
  auto* const checkpoint =
      app.add_option("--checkpoint", checkpoint_, "save finished blocks of work in this file while the command runs")
          ->check(given)
          ->type_name(written_file)
          ->group(running_group);
  app.add_flag("--resume", resume_, "continue from the checkpoint file, if it exists")
      ->needs(checkpoint)
      ->group(running_group);
}

nlohmann::json WorkChoice::request(const std::vector<std::string>& sources) const {
  nlohmann::json request{{"draftproof", DRAFTPROOF_VERSION}, {"command", app_->get_name()}};
  for (const CLI::App* app : {static_cast<const CLI::App*>(app_), static_cast<const CLI::App*>(app_->get_parent())})
    for (const CLI::Option* option : app->get_options()) {
      const std::string name = option->get_single_name();
      if (option->count() == 0 || option->get_group() == running_group) continue;
      const bool positional = option->get_lnames().empty() && option->get_snames().empty();
      if (!positional) request["--" + name] = option->results();
      for (const std::string& word : positional ? option->results() : std::vector<std::string>{})
        request["arguments"].push_back(word);  // in their order
    }
  for (const std::string& source : sources)
    if (const std::string file = file_of(source); !file.empty()) {
      request["capture " + file] = fingerprint(file);
      if (const auto metadata = metadata_file(file))
        request["metadata " + metadata->string()] = fingerprint(metadata->string());
    }
  return request;
}

bool WorkChoice::partial(const Session& session) const {
  return !shard_.empty() || rank_of_job().second > 1 || (session.checkpoint && session.checkpoint->partial());
}

Checkpoint* WorkChoice::open(const Session& session, const std::vector<std::string>& sources) {
  if (session.checkpoint) {
    session.checkpoint->check_request(request(sources), "this run");
    return session.checkpoint.get();
  }
  const auto [rank, ranks] = rank_of_job();
  if (!plan_.empty() && shard_.empty())
    deal_of(plan_, static_cast<std::uint64_t>(ranks));  // throws for an invalid plan, on a single rank too
  if (shard_.empty() && checkpoint_.empty() && ranks == 1) return nullptr;
  BlockShard shard{static_cast<std::uint64_t>(rank), static_cast<std::uint64_t>(ranks)};
  if (ranks > 1 && !shard_.empty())
    throw InputError({.file = "--shard", .got = "several ranks", .expected = "either --shard or several ranks"});
  if (ranks > 1 && !checkpoint_.empty()) checkpoint_ += fmt::format(".{}-of-{}", rank + 1, ranks);
  if (!shard_.empty()) {
    shard = parse_shard(shard_);
    if (session.output.empty())
      throw InputError({.file = "--shard", .got = "no --output", .expected = "--output with the file for the part"});
  }
  known_ = std::make_shared<Checkpoint>(
      request(sources), shard, shard_.empty() && ranks == 1 ? Checkpoint::Kind::whole : Checkpoint::Kind::shard);
  if (!plan_.empty()) known_->use(deal_of(plan_, shard.count));
  if (!checkpoint_.empty()) {
    if (const WriteTarget target = write_target(checkpoint_); !target.special.empty())
      throw InputError({.file = checkpoint_, .got = target.special, .expected = "a regular file, or no file"});
    if (std::filesystem::exists(checkpoint_)) {  // resume() throws if the file belongs to another request
      known_->resume(read_checkpoint(checkpoint_), checkpoint_);
      if (!resume_)
        throw InputError(
            {.file = checkpoint_, .got = "a checkpoint of this request", .expected = "--resume, or no file"});
    }
    known_->on_kept = Saver(checkpoint_, *known_);
    if (const auto folder = std::filesystem::path(checkpoint_).parent_path();
        !folder.empty() && !is_directory(folder))
      throw InputError({.file = checkpoint_, .got = "no such folder", .expected = "a path in a folder that exists"});
    write_checkpoint(checkpoint_, *known_);  // if the folder is not writable, this throws before the work starts
  }
  return known_.get();
}

std::optional<ExitCode> WorkChoice::finish(const Session& session) const {
  if (session.checkpoint && session.checkpoint->partial()) {
    session.write(report_plan(session.checkpoint->planned()));
    return exit_passed;
  }
  if (!known_) return std::nullopt;
  if (!stop_requested()) known_->finish();
  if (!checkpoint_.empty()) write_checkpoint(checkpoint_, *known_);
  if (rank_of_job().second > 1) return static_cast<ExitCode>(finish_on_ranks(session));
  if (shard_.empty()) return std::nullopt;
  write_checkpoint(session.output, *known_);
  return stop_requested() ? exit_undecided : exit_passed;
}

int run_request(std::shared_ptr<Checkpoint> known, const Session& session) {
  const nlohmann::json& request = known->request();
  std::vector<std::string> words{request.at("command").get<std::string>()};
  for (const std::string word : request.value("arguments", nlohmann::json::array())) words.push_back(word);
  for (const auto& [key, value] : request.items())
    if (key.starts_with("--"))
      for (const std::string each : value) words.push_back(key + "=" + each);
  words.insert(words.end(), {"--format=" + session.format, "--threads=" + std::to_string(session.threads)});
  if (!session.output.empty()) words.push_back("--output=" + session.output);
  if (session.quiet) words.push_back("--quiet");
  if (session.timings) words.push_back("--timings");
  return run_words(std::move(words), std::move(known));
}

int WorkChoice::finish_on_ranks(const Session& session) const {
  if (rank_of_job().first > 0) {
    send_to_first({.text = known_->to_bytes()});
    return exit_passed;
  }
  const auto all = std::make_shared<Checkpoint>();
  all->add(known_->to_bytes(), "rank 0");
  receive_from_all([&](int rank, const RankMessage& message) {
    if (message.code != exit_passed) throw RankFailure(message.code, message.text);
    all->add(message.text, "rank " + std::to_string(rank));
  });
  return run_request(all, session);
}

}  // namespace draftproof
