// `draftproof demo`: a one-screen summary of exactness and acceptance, and one refuted bug.
#pragma once

#include <draftproof/cli/report/page/page.hpp>
#include <draftproof/cli/report/proof_report.hpp>
#include <draftproof/cli/report/survey_report.hpp>
#include <draftproof/cli/survey_choice.hpp>

namespace draftproof::commands {

struct Demo {
  static constexpr std::string_view name = "demo";
  static constexpr std::string_view about = "prints a one-screen summary: exactness, acceptance, one refuted bug";
  static constexpr std::string_view example = "demo data/stories512_positions.npz";

  std::vector<std::string> specs{"zipf:vocabulary=32000,positions=4", "gaussian_logits:vocabulary=10,positions=16"};
  std::string tables, page;
  int drafts = 4;
  int instances = 100;
  int path_instances = 24;
  std::uint64_t tuples = 1 << 17;

  void declare(CLI::App& app) {
    app.add_option("source", specs, source_help)->capture_default_str();
    app.add_option("--tables", tables, "write the complete tables to this file")->type_name(written_file);
    app.add_option("--page", page, "write an HTML page with plots to this file")->type_name(written_file);
    app.add_option("-K,--drafts", drafts, "number of drafts")->check(between(1, max_drafts))->capture_default_str();
    app.add_option("--tuples", tuples, "draft tuples (trials) per row of the table")
        ->check(many())
        ->capture_default_str();
  }

  int run(const Session& session) {
    Session whole = session;
    whole.output = tables;
    whole.format = "table";
    if (!tables.empty()) whole.check_output();
    Session with_plots = session;
    with_plots.output = page;
    with_plots.format = "html";
    if (!page.empty()) with_plots.check_output();
    SurveyOptions options{.drafts = {drafts}, .tuples = tuples};
    session.set(options);
    const SourceChoice rows{};
    const std::vector<Source> sources = rows.open_whole(specs, session.seed);
    std::uint64_t total = 0;
    for (const Source& source : sources) total += survey_size(source, options);
    SurveyProofs<TokenLevel> asked;
    const std::vector<SurveyedSource> surveyed = survey_all(sources, options, session, total, asked, false);
    const std::vector<Proof> proofs = asked.prove(instances, session);
    SurveyProofs<BlockLevel> asked_of_paths;
    for (const auto& verifier : path_registry().verifiers())
      if (const auto samplings = path_registry().drafters_of(verifier->info());
          verifier->kind() != Kind::mutant && !samplings.empty())
        asked_of_paths.ask(*verifier, *samplings.front());
    const std::vector<PathProof> path_proofs = asked_of_paths.prove(path_instances, session);
    KillOptions kills{.further = 0, .controls = 0};
    session.set(kills.proof);
    const KillMatrix bugs = kill_matrix(kills);
    if (!tables.empty() || !page.empty()) {
      Document document = report_survey(surveyed, proofs, options, 0.95, session.timings);
      Document matrix = report_kill_matrix(bugs, kills, session.timings);
      if (!page.empty()) with_plots.write({page::joined({{"survey", document.data}, {"mutants", matrix.data}}), {}});
      for (Section& section : matrix.sections) document.sections.push_back(std::move(section));
      if (!tables.empty()) whole.write(document);
    }
    session.write(report_demo({.surveyed = surveyed,
                               .proofs = proofs,
                               .path_proofs = path_proofs,
                               .bugs = &bugs,
                               .drafts = drafts,
                               .tables = tables,
                               .page = page}));
    if (stop_requested()) return exit_undecided;
    const bool missed =
        std::any_of(bugs.rows.begin(), bugs.rows.end(), [](const KillRow& row) { return !row.caught(); });
    return missed || status_of(proofs) == Status::failed || status_of(path_proofs) == Status::failed ? exit_failed
                                                                                                     : exit_passed;
  }
};

}  // namespace draftproof::commands
