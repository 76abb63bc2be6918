// `draftproof law` computes the exact output distribution of a program behind a door on given inputs, without a
// verdict. `draftproof serve` answers the requests of a door on its standard pipes, for a compiled library or for a
// registered verifier, mutant or lossy scheme.
#pragma once

#include <unistd.h>
#include <algorithm>
#include <fstream>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include <draftproof/adapters/gate/law_checks.hpp>
#include <draftproof/adapters/gate/law_request.hpp>
#include <draftproof/adapters/open_door.hpp>
#include <draftproof/adapters/wire/served.hpp>
#include <draftproof/captures/input_error.hpp>
#include <draftproof/cli/register_command.hpp>
#include <draftproof/cli/report/program_report.hpp>

namespace draftproof::commands {

struct Law {
  static constexpr std::string_view name = "law";
  static constexpr std::string_view about = "the exact law of a program behind a door, on inputs in JSON";

  std::string file = "-";
  std::optional<int> predictions;

  void declare(CLI::App& app) {
    app.add_option("file", file,
                   "JSON, {\"inputs\": [{\"p\": [[..]], \"q\": [[..]], \"drafts\": [..], \"parents\": [..]}]}, and "
                   "\"predictions\" and \"seed\" if they are to be others; - is standard input")
        ->capture_default_str();
    app.add_option("--predictions", predictions, adapters::predictions_help)
        ->check(between(adapters::fewest_predictions, adapters::most_predictions));
  }

  int run(const Session& session) const {
    end_at_first_signal();
    if (session.doors.size() != 1)
      throw InputError(
          {.file = "law", .found = std::to_string(session.doors.size()) + " doors", .wanted = "one --door"});
    const adapters::OpenDoor& door = session.doors.front();
    const adapters::Declaration& declaration = door.served->declaration();
    const adapters::LawRequest request = read(declaration);
    adapters::ExploreOptions options = adapters::exploration_of(declaration);
    options.seed = request.seed.value_or(session.seed);
    if (request.predictions) options.predictions = *request.predictions;
    if (predictions) options.predictions = *predictions;
    const std::vector<adapters::ProgramLaw> laws = adapters::explore_program(*door.program, request.inputs, options);
    session.write(adapters::report_laws(laws, request.inputs, declaration, options.seed));
    const auto any = [&laws](auto is) { return std::any_of(laws.begin(), laws.end(), is); };
    if (any([](const auto& law) { return law.state == adapters::LawState::not_a_function; })) return exit_violated;
    if (any([](const auto& law) { return law.state != adapters::LawState::settled; })) return exit_undecided;
    return exit_held;
  }

 private:
  adapters::LawRequest read(const adapters::Declaration& declaration) const {
    if (file == "-") return adapters::read_law_request(std::cin, "standard input", declaration);
    std::ifstream stream(file);
    if (!stream) throw InputError({.file = file, .found = "no file", .wanted = "JSON, or - for standard input"});
    return adapters::read_law_request(stream, file, declaration);
  }
};

struct Serve {
  static constexpr std::string_view name = "serve";
  static constexpr std::string_view about = "answers a --door on its pipes: a library, or a verifier of draftproof's";

  std::string what;

  void declare(CLI::App& app) {
    app.add_option("program", what, "lib:PATH, a library that exports draftproof_door, or the name of a verifier")
        ->required();
  }

  int run(const Session&) {
    end_at_first_signal();
    // What a library prints while it is loaded must not get into the frames.
    const int output = ::dup(STDOUT_FILENO);
    if (output < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
      throw adapters::DoorError("standard output is not open");
    const auto served = adapters::served_here(what);
    adapters::serve(*served, STDIN_FILENO, output);
    return exit_held;
  }
};

}  // namespace draftproof::commands
