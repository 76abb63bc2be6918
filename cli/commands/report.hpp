// `draftproof report`: stored results as one page, their data back, or what changed between two.
#pragma once

#include <string>
#include <vector>

#include <draftproof/captures/input_error.hpp>
#include <draftproof/cli/register_command.hpp>
#include <draftproof/report/page/page.hpp>
#include <draftproof/report/page/data.hpp>
#include <draftproof/report/text.hpp>

namespace draftproof::commands {

struct Report {
  static constexpr std::string_view name = "report";
  static constexpr std::string_view about = "stored results: one page with plots, their data, or what changed";

  std::vector<std::string> files;
  bool compare = false;

  void declare(CLI::App& app) {
    app.add_option("result", files, "what --json or --format html wrote; without --format, one page of all")
        ->required();
    app.add_flag("--compare", compare,
                 "what changed from the first to the second; exit code 1 if a verdict got worse");
  }

  int run(const Session& session) {
    if (compare && files.size() != 2)
      throw InputError({.file = "--compare", .found = counted(files.size(), "result"), .wanted = "two, old and new"});
    std::vector<page::Result> results;
    for (const std::string& file : files) results.push_back({file, page::read_result(file)});
    if (compare) {
      const page::Comparison comparison = page::compare(results[0], results[1]);
      session.write(comparison.document);
      return comparison.worse > 0 ? exit_violated : comparison.gone > 0 ? exit_undecided : exit_held;
    }
    Session own = session;
    own.stored = true;
    if (own.format == "table") own.format = "html";
    const page::Json data = page::joined(std::move(results));
    own.write({data, page::sections_of_results(data)});
    return exit_held;
  }
};

}  // namespace draftproof::commands
