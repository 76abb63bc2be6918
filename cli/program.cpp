// The program: global options, the registered subcommands, and the conversion of errors into exit codes.
#include <algorithm>
#include <chrono>
#include <iostream>
#include <new>

#include <draftproof/captures/input_error.hpp>
#include <draftproof/cli/register_command.hpp>
#include <draftproof/doors/declaration.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/properties/simulation/trial_device.hpp>
#include <draftproof/report/register_writer.hpp>

namespace draftproof::found {
void commands();  // generated
}

namespace {

std::string command_names() {
  std::string names;
  for (const auto& command : draftproof::found_commands())
    names += (names.empty() ? "one of " : ", ") + std::string(command.name);
  return names;
}

int run(int argc, char** argv) {
  using namespace draftproof;
  registry();
  found::commands();
  Session session;
  CLI::App app{"Proves, measures and times the verifiers of multi-draft speculative decoding.", "draftproof"};
  app.set_version_flag("--version", DRAFTPROOF_VERSION);
  app.require_subcommand(1);
  app.fallthrough();  // global options may follow the command
  app.footer("Exit codes: 0 held, 1 violated, 2 usage or bad input, 3 undecided, 4 internal error, 77 skipped.");
  std::vector<std::string> formats;
  for (const Writer& writer : found_writers()) formats.emplace_back(writer.name);
  app.add_option("--seed", session.seed, "seed of everything random")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--threads", session.threads, "threads; 0 for all processors. Results do not depend on it")
      ->check(CLI::Range(0, 4096));
  auto* format = app.add_option("--format", session.format, "how to write the result")
                     ->check(CLI::IsMember(formats))
                     ->capture_default_str();
  app.add_flag_callback(
         "--json", [&session] { session.format = "json"; }, "the same as --format json")
      ->excludes(format);
  app.add_option("--output,-o", session.output, "write the result to this file");
  app.add_flag("--timings", session.timings, "times in the JSON too, which then differs from run to run");
  app.add_flag("--quiet,-q", session.quiet, "no progress on standard error");

  std::vector<std::string> doors;
  app.add_option(
         "--door", doors,
         "a verifier in a program of its own: exec:COMMAND speaks the protocol of docs/doors.md, a program that "
         "listens on socket:PATH speaks it too, lib:PATH exports draftproof_door; check, law, prove, replay, "
         "simulate, "
         "survey and survey-paths take it")
      ->allow_extra_args(false);
  doors::WireOptions wire;
  double door_limit = std::chrono::duration<double>(wire.batch_limit).count();
  app.add_option("--door-limit", door_limit,
                 "seconds for one answer of a door; for its hello if that is more than 20")
      ->check(CLI::Range(0.001, 1e6))
      ->capture_default_str();
  app.add_option("--door-dump", wire.dump_folder,
                 "folder for the requests to a door; those on which it was lost are kept");

  int code = exit_held;
  std::vector<std::pair<CLI::App*, std::function<int(const Session&)>>> commands;
  for (const Command& command : found_commands()) commands.push_back(command.add(app));
  try {
    app.parse(argc, argv);
  } catch (const CLI::RequiredError& error) {
    // CLI11 reports a missing subcommand before it names the unknown word.
    if (const auto words = app.remaining(); app.get_subcommands().empty() && !words.empty())
      throw InputError({.file = "command", .found = in_quotes(words.front()), .wanted = command_names()});
    return app.exit(error, std::cout, std::cerr) == 0 ? exit_held : exit_bad_input;
  } catch (const CLI::ParseError& error) {
    return app.exit(error, std::cout, std::cerr) == 0 ? exit_held : exit_bad_input;
  }
  session.check_output();
  install_stop_handler();
  wire.batch_limit = std::chrono::ceil<std::chrono::milliseconds>(std::chrono::duration<double>(door_limit));
  wire.hello_limit = std::max(wire.hello_limit, wire.batch_limit);
  session.open_doors(doors, wire);
  for (const auto& [parsed, execute] : commands)
    if (parsed->parsed()) code = execute(session);
  return code;
}

}  // namespace

namespace draftproof {

int run_program(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const draftproof::InputError& error) {
    std::cerr << "draftproof: " << error.what() << '\n';
    return draftproof::exit_bad_input;
  } catch (const draftproof::doors::DoorError& error) {
    std::cerr << "draftproof: door: " << error.what() << '\n';
    return draftproof::exit_bad_input;
  } catch (const draftproof::DeviceFailure& error) {
    std::cerr << "draftproof: device failed: " << error.what() << '\n';
    return draftproof::exit_internal;
  } catch (const std::bad_alloc&) {
    std::cerr << "draftproof: found a source larger than memory, wanted fewer positions or tokens\n";
    return draftproof::exit_bad_input;
  } catch (const std::exception& error) {
    std::cerr << "draftproof: internal error: " << error.what() << '\n';
    return draftproof::exit_internal;
  }
}

}  // namespace draftproof
