// `draftproof passages`: every verifier of paths and trees on captured trees or on models, side by side.
#pragma once

#include <draftproof/captures/input_error.hpp>
#include <draftproof/cli/progress.hpp>
#include <draftproof/cli/register_command.hpp>
#include <draftproof/cli/select.hpp>
#include <draftproof/report/passage_report.hpp>

namespace draftproof::commands {

struct Passages {
  static constexpr std::string_view name = "passages";
  static constexpr std::string_view about = "accepted tokens per call of every verifier of paths and trees";

  std::vector<std::string> specs;
  SourceChoice choice;
  PassageSurveyOptions options;

  void declare(CLI::App& app) {
    app.add_option("source", specs,
                   "captured trees (FILE_trees.npz), or any source of rows, whose rows become contexts")
        ->required();
    choice.declare(app);
    app.add_option("-K,--drafts", options.drafts, "numbers of paths; other trees get as many nodes")
        ->delimiter(',')
        ->check(CLI::Range(1, max_drafts))
        ->capture_default_str();
    app.add_option("-L,--length", options.length, "drafted tokens of a path")
        ->check(CLI::Range(1, max_path_length))
        ->capture_default_str();
    app.add_option("--passages", options.passages, "passages per row of the table")
        ->check(many)
        ->capture_default_str();
    app.add_option("--iterations", options.iterations,
                   "of a trial, one after the other; 0: 1, or 8 with state and on live models")
        ->check(CLI::Range(0, 1'000'000));
    app.add_option("--verifier", options.verifiers, "only these verifiers of paths")->delimiter(',');
    app.add_option("--law", options.laws, "only these tree laws")->delimiter(',');
    app.add_flag("--mutants", options.mutants, "the mutants too");
  }

  int run(const Session& session) {
    registry();
    options.seed = session.seed;
    options.threads = session.threads;
    options.stop = &stop_requested();
    SourceOptions rows = choice.options;
    rows.seed = session.seed;
    std::vector<std::unique_ptr<PassageSource>> sources;
    std::uint64_t total = 0;
    for (const std::string& spec : specs) {
      sources.push_back(PassageSource::open(spec, rows));
      total += options.passages * plan_passages(*sources.back(), options).size();
    }
    if (total == 0)
      throw InputError({.file = "passages",
                        .found = "no verifier that fits these sources, laws and numbers of drafts",
                        .wanted = "at least one"});
    std::vector<SurveyedPassages> surveyed;
    {
      Progress progress("simulating", total, session.quiet);
      std::uint64_t before = 0;
      options.progress = [&](std::uint64_t passages) { progress.update(before + passages); };
      for (const auto& source : sources) {
        surveyed.push_back({source.get(), survey_passages(*source, options)});
        before += options.passages * surveyed.back().rows.size();
      }
    }
    const bool complete = !stop_requested();
    session.write(report_passages(surveyed, options, complete, session.timings));
    return complete ? exit_held : exit_undecided;
  }
};

}  // namespace draftproof::commands
