#include <draftproof/cli/work_choice.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include <draftproof/captures/input_error.hpp>
#include <draftproof/captures/json_input.hpp>
#include <draftproof/captures/written_file.hpp>
#include <draftproof/cli/arguments.hpp>
#include <draftproof/cli/plan_report.hpp>
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
  throw InputError({.file = "--shard", .found = in_quotes(text), .wanted = "i/n with 1 <= i <= n, as in 3/64"});
}

/// The file of a source FILE or FILE:NAME; empty for a family.
std::string file_of(const std::string& source) {
  if (std::filesystem::is_regular_file(source)) return source;
  const std::string before = source.substr(0, source.rfind(':'));
  return std::filesystem::is_regular_file(before) ? before : "";
}

BlockDeal deal_of(const std::string& path, std::uint64_t parts) {
  std::ifstream file(path);
  if (!file) throw InputError({.file = path, .found = "no such file", .wanted = "the result of `draftproof plan`"});
  try {
    return BlockDeal(nlohmann::json::parse(file), parts);
  } catch (const nlohmann::json::exception&) {
    throw InputError({.file = path, .found = "no plan", .wanted = "the result of `draftproof plan` in JSON"});
  }
}

/// Saves a ledger after a block, at most four times a second, and so rarely that saving takes at most a hundredth of the time.
class Saver {
 public:
  Saver(std::string path, const BlockLedger& ledger) : path_{std::move(path)}, ledger_{ledger} {}

  void operator()() {
    const auto start = Clock::now();
    if (start < next_) return;
    write_ledger(path_, ledger_);
    const auto end = Clock::now();
    next_ = end + std::max<Clock::duration>(std::chrono::milliseconds(250), 100 * (end - start));
  }

 private:
  using Clock = std::chrono::steady_clock;

  std::string path_;
  const BlockLedger& ledger_;
  Clock::time_point next_ = Clock::time_point::min();
};

}  // namespace

void WorkChoice::declare(CLI::App& app) {
  app_ = &app;
  const CLI::Validator given([](const std::string& text) { return text.empty() ? "found \"\", wanted a value" : ""; },
                             "");
  app.add_option("--shard", shard_,
                 "compute part i of n, as in 3/64, and write it to --output for `draftproof merge`")
      ->check(given)
      ->group(running_group);
  app.add_option(
         "--deal", plan_,
         "result of `draftproof plan` in JSON, by whose times blocks are divided among shards or ranks; in turn "
         "if not given")
      ->check(given)
      ->group(running_group);
  auto* const checkpoint =
      app.add_option("--checkpoint", checkpoint_, "file to save the known blocks in while the command runs")
          ->check(given)
          ->type_name(written_file)
          ->group(running_group);
  app.add_flag("--resume", resume_, "go on from the checkpoint, if there is one")
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
    if (const std::string file = file_of(source); !file.empty()) request["capture " + file] = fingerprint(file);
  return request;
}

bool WorkChoice::partial(const Session& session) const {
  return !shard_.empty() || rank_of_job().second > 1 || (session.ledger && session.ledger->partial());
}

BlockLedger* WorkChoice::open(const Session& session, const std::vector<std::string>& sources) {
  if (session.ledger) {
    session.ledger->check_request(request(sources), "this run");
    return session.ledger.get();
  }
  const auto [rank, ranks] = rank_of_job();
  if (!plan_.empty() && shard_.empty())
    deal_of(plan_, static_cast<std::uint64_t>(ranks));  // a bad plan is refused on one rank too
  if (shard_.empty() && checkpoint_.empty() && ranks == 1) return nullptr;
  BlockShard shard{static_cast<std::uint64_t>(rank), static_cast<std::uint64_t>(ranks)};
  if (ranks > 1 && !shard_.empty())
    throw InputError({.file = "--shard", .found = "several ranks", .wanted = "shards or ranks"});
  if (ranks > 1 && !checkpoint_.empty()) checkpoint_ += fmt::format(".{}-of-{}", rank + 1, ranks);
  if (!shard_.empty()) {
    shard = parse_shard(shard_);
    if (session.output.empty())
      throw InputError({.file = "--shard", .found = "no --output", .wanted = "a file for the part"});
  }
  ledger_ = std::make_shared<BlockLedger>(
      request(sources), shard, shard_.empty() && ranks == 1 ? BlockLedger::Kind::whole : BlockLedger::Kind::shard);
  if (!plan_.empty()) ledger_->use(deal_of(plan_, shard.count));
  if (!checkpoint_.empty()) {
    if (const WriteTarget target = write_target(checkpoint_); !target.special.empty())
      throw InputError({.file = checkpoint_, .found = target.special, .wanted = "a checkpoint, or no file"});
    if (std::filesystem::exists(checkpoint_)) {  // a file of someone else's, or of another request, is not replaced
      ledger_->resume(read_ledger(checkpoint_), checkpoint_);
      if (!resume_)
        throw InputError(
            {.file = checkpoint_, .found = "a checkpoint of this request", .wanted = "--resume, or no file"});
    }
    ledger_->on_kept = Saver(checkpoint_, *ledger_);
    write_ledger(checkpoint_, *ledger_);  // refuses a folder without permission before the work
  }
  return ledger_.get();
}

std::optional<ExitCode> WorkChoice::finish(const Session& session) const {
  if (session.ledger && session.ledger->partial()) {
    session.write(report_plan(session.ledger->planned()));
    return exit_held;
  }
  if (!ledger_) return std::nullopt;
  if (!stop_requested()) ledger_->finish();
  if (!checkpoint_.empty()) write_ledger(checkpoint_, *ledger_);
  if (rank_of_job().second > 1) return static_cast<ExitCode>(finish_on_ranks(session));
  if (shard_.empty()) return std::nullopt;
  write_ledger(session.output, *ledger_);
  return stop_requested() ? exit_undecided : exit_held;
}

int run_request(std::shared_ptr<BlockLedger> ledger, const Session& session) {
  const nlohmann::json& request = ledger->request();
  std::vector<std::string> words{request.at("command").get<std::string>()};
  for (const std::string word : request.value("arguments", nlohmann::json::array())) words.push_back(word);
  for (const auto& [key, value] : request.items())
    if (key.starts_with("--"))
      for (const std::string each : value) words.push_back(key + "=" + each);
  words.insert(words.end(), {"--format=" + session.format, "--threads=" + std::to_string(session.threads)});
  if (!session.output.empty()) words.push_back("--output=" + session.output);
  if (session.quiet) words.push_back("--quiet");
  if (session.timings) words.push_back("--timings");
  return run_words(std::move(words), std::move(ledger));
}

int WorkChoice::finish_on_ranks(const Session& session) const {
  if (rank_of_job().first > 0) {
    send_to_first({.text = ledger_->to_json().dump()});
    return exit_held;
  }
  const auto all = std::make_shared<BlockLedger>(nullptr);
  all->add(ledger_->to_json(), "rank 0");
  receive_from_all([&](int rank, const RankMessage& message) {
    if (message.code != exit_held) throw RankFailure(message.code, message.text);
    all->add(parse_own_json(message.text), "rank " + std::to_string(rank));
  });
  return run_request(all, session);
}

}  // namespace draftproof
