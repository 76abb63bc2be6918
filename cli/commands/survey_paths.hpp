// `draftproof passages`: every verifier of paths and trees on captured trees or on models, side by side.
#pragma once

#include <draftproof/captures/input_error.hpp>
#include <draftproof/cli/register_command.hpp>
#include <draftproof/cli/survey_choice.hpp>
#include <draftproof/report/path_survey_report.hpp>

namespace draftproof::commands {

struct Passages {
  static constexpr std::string_view name = "passages";
  static constexpr std::string_view about =
      "exactness, accepted tokens per call and optimum of every verifier of paths and trees";

  /// A fifth of what `prove` takes: the whole table's proofs in a few seconds.
  SurveyChoice choice{.instances = PathLevel::instances / 5};
  PassageSurveyOptions options;

  void declare(CLI::App& app) {
    choice.declare(app, options, "captured trees (FILE_trees.npz), or any source of rows, whose rows become contexts",
                   "tree", "numbers of paths; other trees get as many nodes");
    app.add_option("-L,--length", options.length, "drafted tokens of a path")
        ->check(CLI::Range(1, max_path_length))
        ->capture_default_str();
    app.add_option("--passages", options.passages, "passages per row of the table")
        ->check(many)
        ->capture_default_str();
    app.add_option("--iterations", options.iterations,
                   "of a trial, one after the other; 0: 1, or 8 with state and on live models")
        ->check(CLI::Range(0, 1'000'000));
  }

  int run(const Session& session) {
    registry();
    choice.take(session, options);
    SourceOptions rows = choice.rows.options;
    rows.seed = session.seed;
    std::vector<std::unique_ptr<PassageSource>> sources;
    std::uint64_t total = 0;
    for (const std::string& spec : choice.specs) {
      sources.push_back(PassageSource::open(spec, rows));
      total += options.passages * plan_passages(*sources.back(), options).size();
    }
    if (total == 0)
      throw InputError({.file = "passages",
                        .found = "no verifier that fits these sources, laws and numbers of drafts",
                        .wanted = "at least one"});
    std::vector<SurveyedPassages> surveyed;
    SurveyProofs<PathLevel> asked;
    {
      Progress progress("simulating", total, session.quiet);
      std::uint64_t before = 0;
      options.progress = [&](std::uint64_t passages) { progress.update(before + passages); };
      for (const auto& source : sources) {
        surveyed.push_back({source.get(), survey_passages(*source, options)});
        asked.ask(surveyed.back().rows);
        before += options.passages * surveyed.back().rows.size();
      }
    }
    const bool complete = !stop_requested();
    const std::vector<PathProof> proofs = asked.prove(choice.instances, session);
    session.write(report_passages(surveyed, proofs, options, complete, session.timings));
    return exit_code_of(proofs);
  }
};

}  // namespace draftproof::commands
