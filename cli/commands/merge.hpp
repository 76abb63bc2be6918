// `draftproof merge`: the parts of a divided run put together. The command that made them runs again on their blocks
// and writes its report, so a merged result has the bytes of an undivided one.
#pragma once

#include <memory>

#include <draftproof/captures/input_error.hpp>
#include <draftproof/cli/register_command.hpp>
#include <draftproof/cli/work_choice.hpp>

namespace draftproof::commands {

struct Merge {
  static constexpr std::string_view name = "merge";
  static constexpr std::string_view about = "the result of a run from its parts, which --shard wrote";

  std::vector<std::string> files;
  bool partial = false;

  void declare(CLI::App& app) {
    app.add_option("part", files, "files of --shard, or of merge --partial, in any order")->required();
    app.add_flag("--partial", partial, "put these parts into one file, to be merged with others");
  }

  int run(const Session& session) {
    const auto all = std::make_shared<Checkpoint>();
    for (const std::string& file : files) all->add(read_checkpoint(file), file);
    if (partial) {
      if (session.output.empty())
        throw InputError({.file = "--partial", .found = "no --output", .wanted = "a file for the parts"});
      write_checkpoint(session.output, *all);
      return exit_held;
    }
    if (const std::string missing = all->missing(); !missing.empty())
      throw InputError({.file = "merge", .found = "no " + missing, .wanted = "every part of the plan"});
    return run_request(all, session);
  }
};

}  // namespace draftproof::commands
