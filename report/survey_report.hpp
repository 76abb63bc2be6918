// Surveys as a document.
#pragma once

#include <span>

#include <draftproof/properties/prover/prover.hpp>
#include <draftproof/properties/survey/survey.hpp>
#include <draftproof/report/document.hpp>

namespace draftproof {

/// What was surveyed and what came of it.
struct SurveyedSource {
  const Source* source;
  SurveyResult result;
};

/// One section per source and draft law, one row per verifier and K, the proofs' counterexamples at the end.
/// `confidence` is that of the printed intervals, 0.95 for example. Schema draftproof.survey/1.
Document report_survey(std::span<const SurveyedSource> surveyed, std::span<const Proof> proofs,
                       const SurveyOptions& options, double confidence, bool timings);

}  // namespace draftproof
