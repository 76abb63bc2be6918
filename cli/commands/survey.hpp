// `draftproof survey`: every applicable verifier on captured or parametric distributions, side by side.
#pragma once

#include <draftproof/captures/input_error.hpp>
#include <draftproof/cli/progress.hpp>
#include <draftproof/cli/register_command.hpp>
#include <draftproof/cli/select.hpp>
#include <draftproof/report/survey_report.hpp>

namespace draftproof::commands {

struct Survey {
  static constexpr std::string_view name = "survey";
  static constexpr std::string_view about =
      "exactness, acceptance, optimum and cost of every verifier on real positions";

  std::vector<std::string> specs;
  SourceChoice choice;
  SurveyOptions options;
  int instances = 500;
  double confidence = 0.95;

  void declare(CLI::App& app) {
    app.add_option("source", specs, source_help)->required();
    choice.declare(app);
    app.add_option("-K,--drafts", options.drafts, "numbers of drafts")
        ->delimiter(',')
        ->check(CLI::Range(1, max_drafts))
        ->capture_default_str();
    app.add_option("--tuples", options.tuples, "draft tuples per row of the table, spread over the positions")
        ->check(many)
        ->capture_default_str();
    app.add_option("--verifier", options.verifiers, "only these verifiers")->delimiter(',');
    app.add_option("--law", options.laws, "only these draft laws")->delimiter(',');
    app.add_flag("--mutants", options.mutants, "the mutants too");
    app.add_option("--instances", instances, "instances per proof; 0 for no proofs")
        ->check(CLI::Range(0, 1'000'000))
        ->capture_default_str();
    app.add_option("--confidence", confidence, "of the intervals")
        ->check(CLI::Range(0.5, 0.999999999))
        ->capture_default_str();
  }

  int run(const Session& session) {
    options.seed = session.seed;
    options.threads = session.threads;
    options.stop = &stop_requested();
    const std::vector<Source> sources = choice.open_whole(specs, session.seed);
    std::uint64_t total = 0;
    for (const Source& source : sources) total += survey_size(source, options);
    if (total == 0)
      throw InputError({.file = "survey",
                        .found = "no verifier that fits these sources, laws and numbers of drafts",
                        .wanted = "at least one"});

    std::vector<SurveyedSource> surveyed;
    {
      Progress progress("surveying", total, session.quiet);
      std::uint64_t before = 0;
      options.progress = [&](std::uint64_t tuples) { progress.update(before + tuples); };
      for (const Source& source : sources) {
        surveyed.push_back({&source, draftproof::survey(source, options)});
        before += survey_size(source, options);
      }
    }
    const std::vector<Proof> proofs = prove_surveyed(surveyed, session);
    session.write(report_survey(surveyed, proofs, options, confidence, session.timings));
    bool undecided = stop_requested();
    for (const Proof& proof : proofs) {
      if (proof.verifier->kind() == Kind::mutant) continue;  // mutants are there to be refuted
      if (proof.violation()) return exit_violated;
      undecided = undecided || !proof.kept();
    }
    return undecided ? exit_undecided : exit_held;
  }

 private:
  /// One proof for every verifier and draft law that occurs.
  std::vector<Proof> prove_surveyed(const std::vector<SurveyedSource>& surveyed, const Session& session) const {
    std::vector<Proof> proofs;
    if (instances == 0) return proofs;
    const ProofOptions proof_options{.instances = instances,
                                     .seed = session.seed,
                                     .threads = session.threads,
                                     .limits = {},
                                     .stop = &stop_requested()};
    std::vector<std::pair<const AnyVerifier*, const AnyDrafter*>> pairs;
    for (const SurveyedSource& item : surveyed)
      for (const SurveyRow& row : item.result.rows)
        if (const std::pair pair{row.verifier, row.drafter};
            row.verifier->info().cannot.explore.empty() && std::find(pairs.begin(), pairs.end(), pair) == pairs.end())
          pairs.push_back(pair);
    Progress progress("proving", pairs.size(), session.quiet);
    for (const auto& [verifier, drafter] : pairs) {
      if (stop_requested()) break;
      proofs.push_back(prove(*verifier, *drafter, proof_options));
      progress.update(proofs.size());
    }
    return proofs;
  }
};

}  // namespace draftproof::commands
