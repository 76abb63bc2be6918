// `draftproof serve`: the other side of --door. Answers on its standard pipes for a compiled library, or for a registered
// verifier, mutant or lossy scheme.
#pragma once

#include <string>

#include <unistd.h>

#include <draftproof/cli/exit_code.hpp>
#include <draftproof/cli/register_command.hpp>
#include <draftproof/doors/open_door.hpp>
#include <draftproof/doors/wire/serve.hpp>

namespace draftproof::commands {

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
    if (output < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) throw doors::DoorError("standard output is not open");
    const auto served = doors::served_here(what);
    doors::serve(*served, STDIN_FILENO, output);
    return exit_held;
  }
};

}  // namespace draftproof::commands
