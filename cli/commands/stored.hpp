// `draftproof audit` tests a recording of a running engine without running it again. `draftproof report` makes a page
// of stored results, extracts the data of a page, or compares two results.
#pragma once

#include <string>
#include <vector>

#include <draftproof/captures/input_error.hpp>
#include <draftproof/captures/trace.hpp>
#include <draftproof/cli/register_command.hpp>
#include <draftproof/cli/report/page/data.hpp>
#include <draftproof/cli/report/page/page.hpp>
#include <draftproof/cli/report/program_report.hpp>
#include <draftproof/cli/report/text.hpp>
#include <draftproof/properties/gate/trace_audit.hpp>

namespace draftproof::commands {

struct Audit {
  static constexpr std::string_view name = "audit";
  static constexpr std::string_view about =
      "tests a recording of a running engine against the target rows that it stored";
  static constexpr std::string_view example = "audit run.safetensors --rule rejection";

  std::string file, rule;
  AuditOptions options;

  void declare(CLI::App& app) {
    app.add_option("trace", file, "trace file (.safetensors) written by draftproof.capture.Recorder")->required();
    app.add_option(
           "--share", options.share,
           "fraction that this run may use of the false-alarm probability 1e-9, which all runs of a build share")
        ->check(between(1e-6, 1.0))
        ->capture_default_str();
    app.add_option("--draft-sampling", options.draft_sampling, "how drafts are drawn [as stored in the trace]")
        ->check(CLI::IsMember({"iid", "without_replacement", "greedy", "unknown"}));
    app.add_option(
           "--rule", rule,
           "rejection: the engine uses rejection sampling on chains, so accept decisions are tested too; greedy: it "
           "emits a most likely token of each row")
        ->check(CLI::IsMember({"rejection", "greedy"}));
  }

  int run(const Session& session) {
    const Trace trace = Trace::open(file);
    if (rule == "rejection") options.rule = AuditRule::rejection;
    if (rule == "greedy") options.rule = AuditRule::greedy;
    options.threads = session.threads;
    options.stop = &stop_requested();
    AuditResult result;
    {
      Progress progress("auditing", trace.blocks(), session.quiet);
      options.progress = [&progress](std::uint64_t blocks) { progress.update(blocks); };
      result = audit_trace(trace, options);
      options.progress = nullptr;
    }
    session.write(report_audit(result, trace, options, session.timings));
    return exit_code_of(result.status);
  }
};

struct Report {
  static constexpr std::string_view name = "report";
  static constexpr std::string_view about = "makes one page with plots from stored results, or compares two results";
  static constexpr std::string_view example = "report survey.json --output survey.html";

  std::vector<std::string> files;
  bool compare = false;

  void declare(CLI::App& app) {
    app.add_option("result", files,
                   "files written with --json or --format html; without --format, makes one HTML page of all")
        ->required();
    app.add_flag("--compare", compare,
                 "print the changes from the first result to the second; exit code 1 if a verdict got worse");
  }

  int run(const Session& session) {
    if (compare && files.size() != 2)
      throw InputError({.file = "--compare", .got = counted(files.size(), "result"), .expected = "two, old and new"});
    std::vector<page::Result> results;
    for (const std::string& file : files) results.push_back({file, page::read_result(file)});
    if (compare) {
      const page::Comparison comparison = page::compare(results[0], results[1]);
      session.write(comparison.document);
      return comparison.worse > 0 ? exit_failed : comparison.gone > 0 ? exit_undecided : exit_passed;
    }
    Session own = session;
    own.stored = true;
    if (own.format == "table") own.format = "html";
    const page::Json data = page::joined(std::move(results));
    own.write({data, page::sections_of_results(data)});
    return exit_passed;
  }
};

}  // namespace draftproof::commands
