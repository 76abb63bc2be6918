// `draftproof mutants`: the kill matrix. Every mutant must be caught, and no control may have a violation.
#pragma once

#include <draftproof/cli/register_command.hpp>
#include <draftproof/cli/work_choice.hpp>
#include <draftproof/properties/mutation/kill_matrix.hpp>
#include <draftproof/report/proof_report.hpp>

namespace draftproof::commands {

struct Mutants {
  static constexpr std::string_view name = "mutants";
  static constexpr std::string_view about = "every mutant against every property, correct verifiers as controls";

  KillOptions options;
  WorkChoice work;

  void declare(CLI::App& app) {
    app.add_option("--instances", options.instances, "instances offered to a mutant, small first")
        ->check(between(1, 1'000'000))
        ->capture_default_str();
    app.add_option("--controls", options.controls, "instances of each correct verifier and draft law")
        ->check(between(1, 1'000'000))
        ->capture_default_str();
    app.add_option("--further", options.further, "instances a caught mutant is still asked on, for the other marks")
        ->check(between(0, 1'000'000))
        ->capture_default_str();
    app.add_option("--shares", options.shares,
                   "count which share of so many instances shows each mutant; exit code 1 below one in ten")
        ->check(between(0, 1'000'000))
        ->capture_default_str();
    work.declare(app);
  }

  int run(const Session& session) {
    options.proof.seed = session.seed;
    options.proof.threads = session.threads;
    options.proof.stop = &stop_requested();
    options.ledger = work.open(session, {});
    const KillMatrix matrix = kill_matrix(options);
    if (options.ledger)
      if (const auto code = work.finish(session)) return *code;
    session.write(report_kill_matrix(matrix, options, session.timings));
    if (stop_requested()) return exit_undecided;
    return matrix.clean() ? exit_held : exit_violated;
  }
};

}  // namespace draftproof::commands
