// The program: global options, the registered subcommands, and the conversion of errors into exit codes.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <draftproof/adapters/declaration.hpp>
#include <draftproof/captures/input_error.hpp>
#include <draftproof/captures/nearest_names.hpp>
#include <draftproof/cli/arguments.hpp>
#include <draftproof/cli/ranks.hpp>
#include <draftproof/cli/register_command.hpp>
#include <draftproof/cli/report/registration.hpp>
#include <draftproof/cli/select.hpp>
#include <draftproof/cli/work_choice.hpp>
#include <draftproof/properties/proof/finding.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/properties/simulation/trial_device.hpp>

namespace draftproof::found {
void commands();  // generated
}

namespace {

/// A command line that cannot be read; the text is the whole message.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The exit code after CLI11 wrote help or a complaint.
int told(int code) {
  using namespace draftproof;
  if (!std::cout.flush()) throw WriteFailure("standard output cannot be written");
  return code == 0 ? exit_held : exit_bad_input;
}

/// Threads beyond it only wait for each other, and a system may refuse them.
int most_threads() { return std::max(64, 4 * static_cast<int>(std::thread::hardware_concurrency())); }

std::string known_commands(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& command : draftproof::found_commands()) names.emplace_back(command.name);
  return fmt::format("one of {}{}", fmt::join(names, ", "), draftproof::did_you_mean(names, name));
}

int run(std::vector<std::string> words, std::shared_ptr<draftproof::Checkpoint> known) {
  using namespace draftproof;
  registry();
  [[maybe_unused]] static const bool once = (found::commands(), true);  // also for a command inside another
  Session session;
  session.checkpoint = std::move(known);
  CLI::App app{"Proves, measures and times the verifiers of multi-draft speculative decoding.", "draftproof"};
  app.set_version_flag("--version", DRAFTPROOF_VERSION);
  app.require_subcommand(1);
  app.fallthrough();  // global options may follow the command
  app.footer("Exit codes: 0 held, 1 violated, 2 usage or bad input, 3 undecided, 4 internal error, 77 skipped.");
  std::vector<std::string> formats;
  for (const Writer& writer : found_writers()) formats.emplace_back(writer.name);
  app.add_option("--seed", session.seed, "seed of everything random")->check(not_negative())->capture_default_str();
  app.add_option("--threads", session.threads, "threads; 0 for all processors. Results do not depend on it")
      ->check(between(0, 4096))
      ->group(running_group);
  auto* format = app.add_option("--format", session.format, "how to write the result")
                     ->check(CLI::IsMember(formats))
                     ->capture_default_str()
                     ->type_name(no_file)
                     ->group(running_group);
  app.add_flag_callback(
         "--json", [&session] { session.format = "json"; }, "the same as --format json")
      ->excludes(format)
      ->group(running_group);
  app.add_option("--output,-o", session.output, "write the result to this file")
      ->type_name(written_file)
      ->group(running_group);
  app.add_flag("--timings", session.timings, "times in the JSON too, which then differs from run to run")
      ->group(running_group);
  app.add_flag("--quiet,-q", session.quiet, "no progress on standard error")->group(running_group);

  std::vector<std::string> doors;
  app.add_option(
         "--door", doors,
         "a verifier in a program of its own: exec:COMMAND speaks the protocol of docs/doors.md, a program that "
         "listens on socket:PATH speaks it too, lib:PATH exports draftproof_door; check, law, prove, replay, "
         "simulate, "
         "survey and survey-paths take it")
      ->allow_extra_args(false);
  adapters::WireOptions wire;
  double door_limit = std::chrono::duration<double>(wire.batch_limit).count();
  app.add_option("--door-limit", door_limit,
                 "seconds for one answer of a door; for its hello if that is more than 20")
      ->check(between(0.001, 1e6))
      ->capture_default_str();
  app.add_option("--door-dump", wire.dump_folder,
                 "folder for the requests to a door; those on which it was lost are kept");

  int code = exit_held;
  std::vector<std::pair<CLI::App*, std::function<int(const Session&)>>> commands;
  for (const Command& command : found_commands()) commands.push_back(command.add(app));
  read_numbers_strictly(app);
  try {
    std::reverse(words.begin(), words.end());  // as CLI11 wants them
    app.parse(std::move(words));
  } catch (const CLI::RequiredError& error) {
    // CLI11 reports a missing subcommand before it names the unknown word.
    if (const auto rest = app.remaining(); app.get_subcommands().empty() && !rest.empty())
      throw InputError({.file = "command", .found = in_quotes(rest.front()), .wanted = known_commands(rest.front())});
    return told(app.exit(error, std::cout, std::cerr));
  } catch (const CLI::ValidationError& error) {
    throw UsageError(error.what());
  } catch (const CLI::ParseError& error) {
    return told(app.exit(error, std::cout, std::cerr));
  }
  if (const int most = most_threads(); session.threads > most) {
    std::cerr << "draftproof: --threads: found " << session.threads << ", took " << most << " of this machine\n";
    session.threads = most;
  }
  check_registrations();
  session.check_output();
  check_written_files(app);
  if (rank_of_job().first == 0 && session.output.empty()) set_last_words(session.last_words());
  if (rank_of_job().first > 0) session.quiet = true;  // rank 0 alone prints
  wire.batch_limit = std::chrono::ceil<std::chrono::milliseconds>(std::chrono::duration<double>(door_limit));
  wire.hello_limit = std::max(wire.hello_limit, wire.batch_limit);
  session.open_doors(doors, wire);
  for (const auto& [parsed, execute] : commands) {
    if (!parsed->parsed()) continue;
    // A command without blocks runs on rank 0 alone.
    const bool divided = parsed->get_option_no_throw("--shard") != nullptr;
    if (divided || rank_of_job().first == 0) code = execute(session);
    if (code == exit_held && wrote_incomplete_result()) code = exit_undecided;
  }
  return code;
}

}  // namespace

namespace draftproof {

int run_words(std::vector<std::string> words, std::shared_ptr<Checkpoint> known) {
  return run(std::move(words), std::move(known));
}

namespace {

/// Runs `work`; an error becomes its message and its exit code.
std::pair<int, std::string> outcome(const std::function<int()>& work) {
  try {
    return {work(), ""};
  } catch (const InputError& error) {
    return {exit_bad_input, error.what()};
  } catch (const UsageError& error) {
    return {exit_bad_input, error.what()};
  } catch (const adapters::ProgramSilent& silent) {
    return {exit_undecided, std::string("door: ") + silent.what()};
  } catch (const adapters::DoorError& error) {
    return {exit_bad_input, std::string("door: ") + error.what()};
  } catch (const DeviceFailure& error) {
    return {exit_internal, std::string("device failed: ") + error.what()};
  } catch (const RankFailure& error) {
    return {error.code, error.what()};
  } catch (const WriteFailure& error) {
    return {exit_internal, error.what()};
  } catch (const std::ios_base::failure& error) {
    return {exit_bad_input, std::string("found a file that cannot be read: ") + error.what()};
  } catch (const std::filesystem::filesystem_error& error) {
    return {exit_bad_input, std::string("found a file that cannot be read: ") + error.what()};
  } catch (const std::bad_alloc&) {
    return {exit_bad_input, "found a source larger than memory, wanted fewer positions or tokens"};
  } catch (const std::exception& error) {
    return {exit_internal, std::string("internal error: ") + error.what()};
  }
}

/// An error without the middle of what it quotes at length.
std::string in_one_breath(const std::string& error) {
  constexpr std::size_t most = 1000, half = most / 2;
  return error.size() <= most ? error : error.substr(0, half) + " ... " + error.substr(error.size() - half);
}

}  // namespace

int run_program(int argc, char** argv) {
  keep_standard_streams_apart();
  install_stop_handler();
  if (argc > 0 && std::filesystem::path(argv[0]).filename() != "draftproof") program_name() = argv[0];
  const auto [code, error] = outcome([&] { return run({argv + 1, argv + argc}, nullptr); });
  if (!error.empty() && rank_of_job().first > 0) {
    send_to_first({.code = code, .text = error});  // rank 0 alone prints
  } else if (!error.empty()) {
    std::cerr << "draftproof: " << in_one_breath(error) << '\n';
    abort_ranks(code);
  }
  leave_job();
  return code;
}

}  // namespace draftproof
