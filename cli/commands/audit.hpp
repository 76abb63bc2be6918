// `draftproof audit`: a recording of a running engine, judged without running it again.
#pragma once

#include <string>

#include <draftproof/captures/trace.hpp>
#include <draftproof/cli/exit_code.hpp>
#include <draftproof/cli/progress.hpp>
#include <draftproof/cli/register_command.hpp>
#include <draftproof/properties/gate/trace_audit.hpp>
#include <draftproof/report/program_report.hpp>

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
           "rejection: the engine verifies a chain of drafts by rejection sampling, so that its verdicts have "
           "a law too")
        ->check(CLI::IsMember({"rejection"}));
  }

  int run(const Session& session) {
    const Trace trace = Trace::open(file);
    options.rejection = rule == "rejection";
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

}  // namespace draftproof::commands
