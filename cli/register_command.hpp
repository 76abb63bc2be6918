// Registration of the subcommands: each has a file in cli/commands/, which the build finds and registers.
//
// A command is a struct with `name`, `about`, `example` (arguments that work in a checkout), `void
// declare(CLI::App&)` for its options, and `int run(const Session&)`, which returns an ExitCode.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include <draftproof/cli/arguments.hpp>
#include <draftproof/cli/session.hpp>

namespace draftproof {

/// A command; `add` adds its subcommand to an app and returns it with the function that runs it.
struct Command {
  std::string_view name;
  std::function<std::pair<CLI::App*, std::function<int(const Session&)>>(CLI::App& app)> add;
};

inline std::vector<Command>& found_commands() {
  static std::vector<Command> all;
  return all;
}

/// One row of `draftproof list`.
struct Listed {
  std::string kind;  ///< heading, in the plural
  std::string name, about;
};

/// Returns the rows of `draftproof list` that libraries outside this tree have added.
inline std::vector<Listed>& more_to_list() {
  static std::vector<Listed> all;
  return all;
}

template <class C>
void register_command() {
  found_commands().push_back(
      {C::name, [](CLI::App& app) {
         auto command = std::make_shared<C>();
         CLI::App* sub = app.add_subcommand(std::string(C::name), std::string(C::about));
         command->declare(*sub);
         sub->footer("Example: draftproof " + std::string(C::example) + "\n\n" + app.get_footer());
         return std::pair{
             sub, std::function<int(const Session&)>([command](const Session& s) { return command->run(s); })};
       }});
}

}  // namespace draftproof
