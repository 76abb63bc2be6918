// The report of a survey of verifiers of paths.
#pragma once

#include <span>

#include <draftproof/properties/prover/path_prover.hpp>
#include <draftproof/properties/survey/path_survey.hpp>
#include <draftproof/report/document.hpp>

namespace draftproof {

struct SurveyedPaths {
  const PathSource* source;
  std::vector<StepRow> rows;
  int length;  ///< drafted tokens of a path
};

/// Tables by tree law and number of drafts, then the proofs' counterexamples. Schema draftproof.survey-paths/2. A source
/// surveyed at several lengths is an item for each.
Document report_path_survey(std::span<const SurveyedPaths> surveyed, std::span<const PathProof> proofs,
                            const PathSurveyOptions& options, bool complete, bool timings);

}  // namespace draftproof
