// `draftproof plan`: the blocks of a command, with time and memory measured on small pieces of them, before the work.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <draftproof/captures/input_error.hpp>
#include <draftproof/cli/register_command.hpp>
#include <draftproof/cli/work_choice.hpp>

namespace draftproof::commands {

struct Plan {
  static constexpr std::string_view name = "plan";
  static constexpr std::string_view about =
      "what a command that is divided into blocks will cost: plan COMMAND ARGUMENTS";

  CLI::App* app = nullptr;

  void declare(CLI::App& sub) {
    app = &sub;
    sub.prefix_command();
    sub.fallthrough(false);  // all that follows belongs to the command
  }

  int run(const Session& session) {
    std::vector<std::string> words = app->remaining();
    std::vector<std::string> known;
    for (const CLI::App* const command : app->get_parent()->get_subcommands([](CLI::App*) { return true; }))
      if (command->get_option_no_throw("--shard") != nullptr) known.push_back(command->get_name());
    if (words.empty() || std::find(known.begin(), known.end(), words.front()) == known.end())
      throw InputError({.file = "plan",
                        .found = words.empty() ? "no command" : in_quotes(words.front()),
                        .wanted = fmt::format("one of {}", fmt::join(known, ", "))});
    const auto listed = std::make_shared<Checkpoint>(nullptr, BlockShard{}, Checkpoint::Kind::plan);
    words.push_back("--threads=1");
    if (session.quiet) words.push_back("--quiet");
    return run_words(std::move(words), listed);  // which writes the plan where that command would write its result
  }
};

}  // namespace draftproof::commands
