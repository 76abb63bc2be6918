// `draftproof audit`: a recording of a running engine, judged without running it again. `draftproof report`: stored
// results as one page, their data back, or what changed between two.
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
  static constexpr std::string_view about = "a recording of a running engine: bets on groups of tokens, one verdict";

  std::string file, rule;
  AuditOptions options;

  void declare(CLI::App& app) {
    app.add_option("trace", file, "a trace (.safetensors) of draftproof's recorder")->required();
    app.add_option("--share", options.share, "of the false-alarm probability of 1e-9 of a whole build")
        ->check(between(1e-6, 1.0))
        ->capture_default_str();
    app.add_option("--draft-law", options.draft_law, "how drafts are drawn; as the trace says if not given")
        ->check(CLI::IsMember({"iid", "without_replacement", "greedy", "unknown"}));
    app.add_option(
           "--rule", rule,
           "rejection: the engine verifies a chain of drafts by rejection sampling, so that its verdicts have a "
           "distribution too; greedy: it emits a most likely token of each row")
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
