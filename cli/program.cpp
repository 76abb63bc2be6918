// The program: global options, the registered subcommands, and the conversion of errors into exit codes.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <new>
#include <sstream>
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
#include <draftproof/cli/renamed.hpp>
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

/// Returns the exit code after CLI11 wrote help or an error.
int after_cli11(int code) {
  using namespace draftproof;
  if (!std::cout.flush()) throw WriteFailure("standard output cannot be written");
  return code == 0 ? exit_passed : exit_bad_input;
}

/// Returns the largest number of threads that is accepted: further threads would idle or fail to start.
int most_threads() { return std::max(64, 4 * static_cast<int>(std::thread::hardware_concurrency())); }

std::string known_commands(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& command : draftproof::found_commands()) names.emplace_back(command.name);
  return fmt::format("one of {}{}", fmt::join(names, ", "), draftproof::did_you_mean(names, name));
}

int run(std::vector<std::string> words, std::shared_ptr<draftproof::Checkpoint> known) {
  using namespace draftproof;
  registry();
  [[maybe_unused]] static const bool once = (found::commands(), true);  // once: merge and plan call run() again
  Session session;
  session.checkpoint = std::move(known);
  CLI::App app{"Proves, measures and times the verifiers of multi-draft speculative decoding.", "draftproof"};
  app.set_version_flag("--version", DRAFTPROOF_VERSION);
  app.require_subcommand(1);
  app.fallthrough();  // global options may follow the command
  app.footer(
      "Options of every command, such as --json, --output and --adapter: draftproof --help\n"
      "Exit codes: 0 passed, 1 failed, 2 usage or bad input, 3 undecided, 4 internal error, 77 skipped.");
  std::vector<std::string> formats;
  for (const Writer& writer : found_writers()) formats.emplace_back(writer.name);
  app.add_option("--seed", session.seed, "seed of all random numbers")->check(not_negative())->capture_default_str();
  app.add_option("--threads", session.threads, "number of threads; 0: one per processor. Results do not depend on it")
      ->check(between(0, 4096))
      ->group(running_group);
  auto* format = app.add_option("--format", session.format, "output format")
                     ->check(CLI::IsMember(formats))
                     ->capture_default_str()
                     ->type_name(no_file)
                     ->group(running_group);
  app.add_flag_callback(
         "--json", [&session] { session.format = "json"; }, "short for --format json")
      ->excludes(format)
      ->group(running_group);
  app.add_option("--output,-o", session.output, "write the result to this file")
      ->type_name(written_file)
      ->group(running_group);
  app.add_flag("--timings", session.timings, "add times to the JSON, which then differs from run to run")
      ->group(running_group);
  app.add_flag("--quiet,-q", session.quiet, "print no progress on standard error")->group(running_group);

  std::vector<std::string> external;
  app.add_option("--adapter", external,
                 "an external verifier: exec:COMMAND starts a program that speaks the protocol of docs/adapters.md, "
                 "socket:PATH connects to one that listens there, lib:PATH loads a library that exports "
                 "draftproof_adapter; for check, distribution, prove, replay, simulate, survey and survey-paths")
      ->allow_extra_args(false);
  adapters::WireOptions wire;
  double adapter_limit = std::chrono::duration<double>(wire.batch_limit).count();
  app.add_option("--adapter-limit", adapter_limit,
                 "seconds to wait for an answer of an adapter; for its first message at least 20")
      ->check(between(0.001, 1e6))
      ->capture_default_str();
  app.add_option("--adapter-dump", wire.dump_folder,
                 "folder to which the last request to an adapter is written; requests of one row on which it crashed "
                 "or hung are kept");

  int code = exit_passed;
  std::vector<std::pair<CLI::App*, std::function<int(const Session&)>>> commands;
  for (const Command& command : found_commands()) commands.push_back(command.add(app));
  read_numbers_strictly(app);
  try {
    std::reverse(words.begin(), words.end());  // CLI11 reads arguments from the back
    parse_words(app, words);
  } catch (const CLI::RequiredError& error) {
    // If the first word is not a command, CLI11 reports only that a subcommand is missing. The InputError names the
    // word.
    if (const auto rest = app.remaining(); app.get_subcommands().empty() && !rest.empty())
      throw InputError({.file = "command", .got = in_quotes(rest.front()), .expected = known_commands(rest.front())});
    return after_cli11(app.exit(error, std::cout, std::cerr));
  } catch (const CLI::ValidationError& error) {
    throw UsageError(error.what());
  } catch (const CLI::ParseError& error) {
    std::ostringstream said;
    const int code_of_cli11 = app.exit(error, std::cout, said);
    std::cerr << draftproof::without_control_characters(said.str());
    return after_cli11(code_of_cli11);
  }
  if (const int most = most_threads(); session.threads > most) {
    std::cerr << "draftproof: --threads: got " << session.threads << ", using " << most
              << ", the most on this machine\n";
    session.threads = most;
  }
  check_registrations();
  session.check_output();
  check_written_files(app);
  if (rank_of_job().first == 0 && session.output.empty()) set_last_words(session.last_words());
  if (rank_of_job().first > 0) session.quiet = true;  // only rank 0 prints
  wire.batch_limit = std::chrono::ceil<std::chrono::milliseconds>(std::chrono::duration<double>(adapter_limit));
  wire.hello_limit = std::max(wire.hello_limit, wire.batch_limit);
  wire.stop = &stop_requested();
  session.open_adapters(external, wire);
  for (const auto& [parsed, execute] : commands) {
    if (!parsed->parsed()) continue;
    // Only commands with the option --shard divide their work among ranks; any other command runs on rank 0 alone.
    const bool divided = parsed->get_option_no_throw("--shard") != nullptr;
    if (divided || rank_of_job().first == 0) code = execute(session);
    if (code == exit_passed && wrote_incomplete_result()) code = exit_undecided;
  }
  return code;
}

}  // namespace

namespace draftproof {

int run_words(std::vector<std::string> words, std::shared_ptr<Checkpoint> known) {
  return run(std::move(words), std::move(known));
}

namespace {

/// Runs `work`. Returns its exit code, or the exit code and message of the error that it throws.
std::pair<int, std::string> outcome(const std::function<int()>& work) {
  try {
    return {work(), ""};
  } catch (const InputError& error) {
    return {exit_bad_input, one_line(without_control_characters(error.what()), std::string::npos)};
  } catch (const UsageError& error) {
    return {exit_bad_input, error.what()};
  } catch (const adapters::ProgramSilent& silent) {
    return {exit_undecided, std::string("adapter: ") + silent.what()};
  } catch (const adapters::AdapterError& error) {
    return {exit_bad_input, std::string("adapter: ") + error.what()};
  } catch (const DeviceFailure& error) {
    return {exit_internal, std::string("device failed: ") + error.what()};
  } catch (const RankFailure& error) {
    return {error.code, error.what()};
  } catch (const WriteFailure& error) {
    return {exit_internal, error.what()};
  } catch (const std::ios_base::failure& error) {
    return {exit_bad_input, std::string("got a file that cannot be read: ") + error.what()};
  } catch (const std::filesystem::filesystem_error& error) {
    return {exit_bad_input, fmt::format("{}: got {}, expected a path that can be used", error.path1().string(),
                                        error.code().message())};
  } catch (const std::bad_alloc&) {
    return {exit_bad_input,
            "got a run that needs more memory than there is, expected fewer positions or tokens, or less --effort"};
  } catch (const std::exception& error) {
    return {exit_internal, std::string("internal error: ") + error.what()};
  }
}

/// Returns the message of an error, with the middle cut out if the message has more than 1000 characters.
std::string shortened(const std::string& error) {
  constexpr std::size_t most = 1000, half = most / 2;
  return error.size() <= most ? error : error.substr(0, half) + " ... " + error.substr(error.size() - half);
}

}  // namespace

int run_program(int argc, char** argv) {
  keep_standard_streams_apart();
  install_stop_handler();
  if (argc > 0 && std::filesystem::path(argv[0]).filename() != "draftproof") program_name() = argv[0];
  const auto [code, error] = outcome([&] {
    return run(with_new_names({argv + 1, argv + argc}, std::cerr), nullptr);
  });
  if (!error.empty() && rank_of_job().first > 0) {
    send_to_first({.code = code, .text = error});  // only rank 0 prints
  } else if (!error.empty()) {
    std::cerr << "draftproof: " << without_control_characters(shortened(error)) << '\n';
    abort_ranks(code);
  }
  leave_job();
  return code;
}

}  // namespace draftproof
