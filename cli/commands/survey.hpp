// `draftproof survey`: every applicable verifier on captured or parametric distributions.
#pragma once

#include <draftproof/cli/device_choice.hpp>
#include <draftproof/cli/register_command.hpp>
#include <draftproof/cli/survey_choice.hpp>
#include <draftproof/report/survey_report.hpp>

namespace draftproof::commands {

struct Survey {
  static constexpr std::string_view name = "survey";
  static constexpr std::string_view about =
      "exactness, acceptance, optimum and cost of every verifier on real positions";

  SurveyChoice choice{.instances = TokenLevel::instances};
  SurveyOptions options;
  DeviceChoice place;
  double confidence = 0.95;

  void declare(CLI::App& app) {
    choice.declare(app, options, source_help, "draft", "numbers of drafts");
    place.declare(app);
    app.add_option("--tuples", options.tuples, "draft tuples per row of the table, spread over the positions")
        ->check(many())
        ->capture_default_str();
    app.add_flag("--by-position", options.by_position, "acceptance and optimum of each position in the data too");
    app.add_option("--confidence", confidence, "of the intervals")
        ->check(between(0.5, 0.999999999))
        ->capture_default_str();
  }

  int run(const Session& session) {
    choice.take(session, options);
    options.device = place.device();
    if (const auto absent = place.absent(session)) return *absent;
    const std::vector<Source> sources =
        choice.rows.open_whole(choice.specs, session.seed, !choice.work.partial(session));
    options.checkpoint = choice.work.open(session, choice.specs);
    if (options.checkpoint && options.device)
      throw InputError(
          {.file = "blocks", .found = "--device " + place.name, .wanted = "none: blocks run on the processor"});
    if (options.checkpoint && options.by_position)
      throw InputError({.file = "--by-position", .found = "blocks", .wanted = "a whole run: blocks keep sums"});
    std::uint64_t total = 0;
    for (const Source& source : sources) {
      Progress progress("planning", source.positions(), session.quiet);
      options.progress = [&progress](std::uint64_t positions) { progress.update(positions); };
      total += survey_size(source, options);
      options.progress = nullptr;
    }
    choice.check_rows(total, "survey");

    std::vector<SurveyedSource> surveyed;
    SurveyProofs<TokenLevel> asked;
    {
      Progress progress("surveying", total, session.quiet);
      std::uint64_t before = 0;
      options.progress = [&](std::uint64_t tuples) { progress.update(before + tuples); };
      for (const Source& source : sources) {
        surveyed.push_back({&source, draftproof::survey(source, options)});
        asked.ask(surveyed.back().result.rows);
        before += survey_size(source, options);
      }
    }
    const std::vector<Proof> proofs = asked.prove(choice.instances, session, options.checkpoint);
    if (const auto code = choice.work.finish(session)) return *code;
    session.write(report_survey(surveyed, proofs, options, confidence, session.timings));
    return exit_code_of(proofs);
  }
};

}  // namespace draftproof::commands
