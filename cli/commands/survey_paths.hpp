// `draftproof survey-paths`: every verifier of paths and trees on captured trees or on models.
#pragma once

#include <draftproof/cli/register_command.hpp>
#include <draftproof/cli/survey_choice.hpp>
#include <draftproof/report/survey_report.hpp>

namespace draftproof::commands {

struct SurveyPaths {
  static constexpr std::string_view name = "survey-paths";
  static constexpr std::string_view about =
      "exactness, accepted tokens per call and optimum of every verifier of paths and trees";

  /// A fifth of the default of `prove`: the proofs of the whole table then take a few seconds.
  SurveyChoice choice{.instances = BlockLevel::instances / 5};
  PathSurveyOptions options;
  std::vector<int> lengths{options.length};

  void declare(CLI::App& app) {
    choice.declare(app, options,
                   "captured trees (FILE_trees.npz), or any source of rows, whose rows become conditionals", "tree",
                   "numbers of paths; other trees get as many nodes");
    app.add_option("-L,--length", lengths, "drafted tokens of a path, one survey each")
        ->delimiter(',')
        ->check(between(1, max_path_length))
        ->capture_default_str();
    app.add_option("--steps", options.steps, "steps per row of the table")->check(many())->capture_default_str();
    app.add_option("--iterations", options.iterations,
                   "of a trial, one after the other; 0: 1, or 8 with state and on live models")
        ->check(between(0, 1'000'000));
  }

  int run(const Session& session) {
    registry();
    choice.take(session, options);
    SourceOptions rows = choice.rows.options;
    rows.seed = session.seed;
    std::vector<std::unique_ptr<PathSource>> sources;
    std::uint64_t total = 0;
    for (const std::string& spec : choice.specs) {
      sources.push_back(PathSource::open(spec, rows));
      if (rows.selection != Selection{} && sources.back()->describe().value("kind", "") != "position_as_model")
        throw InputError({.file = spec, .found = "--positions or --sample", .wanted = "a source of rows for them"});
      for (const int length : lengths) {
        options.length = length;
        total += options.steps * plan_steps(*sources.back(), options).size();
      }
    }
    choice.check_rows(total, "steps");
    options.ledger = choice.work.open(session, choice.specs);
    std::vector<SurveyedPaths> surveyed;
    SurveyProofs<BlockLevel> asked;
    {
      Progress progress("simulating", total, session.quiet);
      std::uint64_t before = 0;
      options.progress = [&](std::uint64_t steps) { progress.update(before + steps); };
      for (const auto& source : sources)
        for (const int length : lengths) {
          options.length = length;
          surveyed.push_back({source.get(), survey_paths(*source, options), length});
          asked.ask(surveyed.back().rows);
          before += options.steps * surveyed.back().rows.size();
        }
    }
    const bool complete = !stop_requested();
    const std::vector<PathProof> proofs = asked.prove(choice.instances, session, options.ledger);
    if (const auto code = choice.work.finish(session)) return *code;
    session.write(report_path_survey(surveyed, proofs, options, complete, session.timings));
    return exit_code_of(proofs);
  }
};

}  // namespace draftproof::commands
