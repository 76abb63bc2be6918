// `draftproof merge` combines the parts of a divided run: it runs the command of the parts again with their finished
// blocks, so the merged result equals the result of an undivided run, byte by byte.
// `draftproof plan` lists the blocks of a command, with time and memory estimated from small pieces of them.
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

struct Merge {
  static constexpr std::string_view name = "merge";
  static constexpr std::string_view about = "combines the parts that --shard wrote into the result of the whole run";
  static constexpr std::string_view example = "merge part1 part2 part3 --output whole.json";

  std::vector<std::string> files;
  bool partial = false;

  void declare(CLI::App& app) {
    app.add_option("part", files, "files written by --shard or by merge --partial, in any order")->required();
    app.add_flag("--partial", partial, "merge these parts into one part file, to be merged with others later");
  }

  int run(const Session& session) {
    const auto all = std::make_shared<Checkpoint>();
    for (const std::string& file : files) all->add(read_checkpoint(file), file);
    if (partial) {
      if (session.output.empty())
        throw InputError(
            {.file = "--partial", .got = "no --output", .expected = "--output with the file for the parts"});
      write_checkpoint(session.output, *all);
      return exit_passed;
    }
    if (const std::string missing = all->missing(); !missing.empty())
      throw InputError({.file = "merge", .got = "no " + missing, .expected = "all parts of the run"});
    return run_request(all, session);
  }
};

struct Plan {
  static constexpr std::string_view name = "plan";
  static constexpr std::string_view about =
      "estimates time and memory of each block of work of a command; usage: draftproof plan COMMAND ARGUMENTS";
  static constexpr std::string_view example = "plan survey data/stories512_positions.npz";

  CLI::App* app = nullptr;

  void declare(CLI::App& sub) {
    app = &sub;
    sub.prefix_command();
    sub.fallthrough(false);  // the words after `plan` belong to the planned command
  }

  int run(const Session& session) {
    std::vector<std::string> words = app->remaining();
    std::vector<std::string> known;
    for (const CLI::App* const command : app->get_parent()->get_subcommands([](CLI::App*) { return true; }))
      if (command->get_option_no_throw("--shard") != nullptr) known.push_back(command->get_name());
    if (words.empty() || std::find(known.begin(), known.end(), words.front()) == known.end())
      throw InputError({.file = "plan",
                        .got = words.empty() ? "no command" : in_quotes(words.front()),
                        .expected = fmt::format("one of {}", fmt::join(known, ", "))});
    const auto listed = std::make_shared<Checkpoint>(nullptr, BlockShard{}, Checkpoint::Kind::plan);
    words.push_back("--threads=1");
    if (session.quiet) words.push_back("--quiet");
    return run_words(std::move(words), listed);  // writes the plan in place of the command's result
  }
};

}  // namespace draftproof::commands
