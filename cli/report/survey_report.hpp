// Reports of measurements: surveys of positions and of paths, one simulation, and the summary of `demo`.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <draftproof/captures/source.hpp>
#include <draftproof/cli/report/document.hpp>
#include <draftproof/properties/estimation/acceptance_estimate.hpp>
#include <draftproof/properties/mutation/kill_matrix.hpp>
#include <draftproof/properties/prover/path_prover.hpp>
#include <draftproof/properties/prover/prover.hpp>
#include <draftproof/properties/simulation/backend.hpp>
#include <draftproof/properties/simulation/simulation.hpp>
#include <draftproof/properties/survey/path_survey.hpp>
#include <draftproof/properties/survey/policy_survey.hpp>
#include <draftproof/properties/survey/survey.hpp>

namespace draftproof {

/// A source and the result of its survey.
struct SurveyedSource {
  const Source* source;
  SurveyResult result;
};

/// Reports surveys: one section per source and draft sampling, one row per verifier and K, then the proofs'
/// counterexamples. `confidence` is the level of the printed intervals, 0.95 for example. Schema draftproof.survey/3.
Document report_survey(std::span<const SurveyedSource> surveyed, std::span<const Proof> proofs,
                       const SurveyOptions& options, double confidence, bool timings);

/// Returns the gap that the row closes in percent, "-" if it is unknown. More than 100 % is shown as "100 %" if the
/// Clopper-Pearson interval of draft emitted reaches down to the optimum, because then it may be noise of the trials.
std::string gap_closed_text(const SurveyRow& row, double confidence);

struct SurveyedPaths {
  const PathSource* source;
  std::vector<StepRow> rows;
  int length;  ///< drafted tokens of a path
};

/// Reports surveys of paths: tables by tree sampling and number of drafts, then the proofs' counterexamples. A source
/// surveyed at several lengths has one item per length. Schema draftproof.survey-paths/3.
Document report_path_survey(std::span<const SurveyedPaths> surveyed, std::span<const PathProof> proofs,
                            const PathSurveyOptions& options, bool complete, bool timings);

/// A source, its survey of policies, and for each row the findings of the two properties of a policy; no findings if
/// the policies were not checked.
struct SurveyedPolicies {
  const PathSource* source;
  PolicySurvey survey;
  std::vector<std::vector<Finding>> findings{};
};

/// Reports surveys of policies: one table per source, one row per policy. Schema draftproof.survey-policies/1.
Document report_policy_survey(std::span<const SurveyedPolicies> surveyed, const PolicySurveyOptions& options,
                              bool complete);

/// The simulation of one position, and the values that its report compares it with.
struct SimulatedPosition {
  const Source& source;
  std::size_t position;
  const Simulation& what;
  const RatioTable& table;
  const Tally& tally;  ///< counts of the trials, with the histogram of tokens
  std::optional<double> optimum;
  double cpu_seconds;
  std::optional<AcceptanceEstimate> estimate{};  ///< nullopt if it was not requested
  Backend place{};                               ///< device on which the tuples of the estimate were sampled
};

/// Reports a simulation: acceptance by draft, the estimate beside it, and the emitted tokens against the target.
/// `tokens` is the number of tokens shown. Schema draftproof.simulate/3.
Document report_simulation(const SimulatedPosition& at, double confidence, int tokens, bool timings);

/// The results that `demo` summarises.
struct DemoResult {
  std::span<const SurveyedSource> surveyed;
  std::span<const Proof> proofs;
  std::span<const PathProof> path_proofs;
  const KillMatrix* bugs;
  int drafts;          ///< K in the table of lossless schemes
  std::string tables;  ///< file with the complete tables; empty if no such file was written
  std::string page;    ///< file with the page; empty if no page was written
};

/// Reports the summary that `demo` prints: counts of schemes and planted bugs, one table of lossless schemes with a
/// column per source, one refuted bug, and three commands. Schema draftproof.demo/2.
Document report_demo(const DemoResult& result);

}  // namespace draftproof
