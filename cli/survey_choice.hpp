// The options shared by the commands that survey schemes: sources, schemes, samplings and numbers of drafts. The file
// also runs the proofs of the schemes in the rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <draftproof/captures/input_error.hpp>
#include <draftproof/cli/report/survey_report.hpp>
#include <draftproof/cli/select.hpp>
#include <draftproof/cli/session.hpp>
#include <draftproof/cli/work_choice.hpp>
#include <draftproof/properties/prover/path_prover.hpp>
#include <draftproof/properties/prover/prover.hpp>

namespace draftproof {

struct SurveyChoice {
  std::vector<std::string> specs{};
  SourceChoice rows{};
  WorkChoice work{};
  int instances;  ///< number of instances per proof; 0: no proofs

  /// Adds the options. `Options` is the type of the survey's options, `what` is "draft" or "tree", `drafts` is the
  /// help text for numbers of drafts.
  template <class Options>
  void declare(CLI::App& app, Options& options, const char* sources, const std::string& what,
               const std::string& drafts) {
    app.add_option("source", specs, sources)->required();
    rows.declare(app);
    work.declare(app);
    app.add_option("-K,--drafts", options.drafts, drafts)
        ->delimiter(',')
        ->check(between(1, max_drafts))
        ->capture_default_str();
    app.add_option("--verifier", options.verifiers, "only these verifiers")->type_name(no_file)->delimiter(',');
    app.add_option("--draft-sampling", options.draft_samplings, "only these " + what + " samplings")
        ->type_name(no_file)
        ->delimiter(',');
    app.add_flag("--mutants", options.mutants, "include the mutants (verifiers with a known bug)");
    app.add_option("--instances", instances, "small models per proof; 0: no proofs")
        ->check(between(0, 1'000'000))
        ->capture_default_str();
  }

  /// Throws: InputError if the survey of that name has no rows.
  static void check_rows(std::uint64_t size, const char* survey) {
    if (size == 0)
      throw InputError({.file = survey,
                        .got = "no verifier that fits these sources, samplings and numbers of drafts",
                        .expected = "at least one"});
  }
};

/// One proof for every verifier and draft sampling in the rows of a survey.
template <class Level>
class SurveyProofs {
 public:
  /// Adds the verifier and draft sampling of each row; if `explored`, skips verifiers whose branches cannot be
  /// explored.
  template <class Row>
  void ask(const std::vector<Row>& rows, bool explored = true) {
    for (const Row& row : rows)
      if (!explored || row.verifier->info().unsupported.explore.empty()) ask(*row.verifier, *row.drafter);
  }
  /// Adds one verifier and draft sampling.
  void ask(const typename Level::Verifier& verifier, const typename Level::Drafter& drafter) {
    if (const Pair pair{&verifier, &drafter}; std::find(pairs_.begin(), pairs_.end(), pair) == pairs_.end())
      pairs_.push_back(pair);
  }

  /// Runs the proofs; returns an empty list if `instances` is 0.
  std::vector<ProofOf<Level>> prove(int instances, const Session& session, Checkpoint* checkpoint = nullptr) const {
    std::vector<ProofOf<Level>> proofs;
    if (instances == 0) return proofs;
    ProofOptions options{.instances = instances, .limits = {}, .checkpoint = checkpoint};
    session.set(options);
    Progress progress("proving", pairs_.size(), session.quiet);
    for (const auto& [verifier, drafter] : pairs_) {
      if (stop_requested()) break;
      proofs.push_back(draftproof::prove(*verifier, *drafter, options));
      progress.update(proofs.size());
    }
    return proofs;
  }

 private:
  using Pair = std::pair<const typename Level::Verifier*, const typename Level::Drafter*>;
  std::vector<Pair> pairs_;
};

/// Surveys the sources one after another, and adds the verifiers and draft samplings of their rows to `asked`.
inline std::vector<SurveyedSource> survey_all(const std::vector<Source>& sources, SurveyOptions options,
                                              const Session& session, std::uint64_t total,
                                              SurveyProofs<TokenLevel>& asked, bool explored = true) {
  std::vector<SurveyedSource> surveyed;
  Progress progress("surveying", total, session.quiet);
  std::uint64_t before = 0;
  options.progress = [&](std::uint64_t tuples) { progress.update(before + tuples); };
  for (const Source& source : sources) {
    surveyed.push_back({&source, survey(source, options)});
    asked.ask(surveyed.back().result.rows, explored);
    before += survey_size(source, options);
  }
  return surveyed;
}

/// Returns the exit code of a survey that ran `proofs`.
template <class Level>
ExitCode exit_code_of(const std::vector<ProofOf<Level>>& proofs) {
  const Status status = status_of(proofs);
  if (status != Status::failed && stop_requested()) return exit_undecided;
  // Proofs are skipped if no row could be proved, which does not make the survey fail.
  return status == Status::skipped ? exit_passed : exit_code_of(status);
}

}  // namespace draftproof
