// The report of surveys.
#pragma once

#include <span>

#include <draftproof/properties/prover/prover.hpp>
#include <draftproof/properties/survey/survey.hpp>
#include <draftproof/report/document.hpp>

namespace draftproof {

/// A source and the result of its survey.
struct SurveyedSource {
  const Source* source;
  SurveyResult result;
};

/// One section per source and draft law, one row per verifier and K, then the proofs' counterexamples. `confidence`
/// is that of the printed intervals, 0.95 for example. Schema draftproof.survey/2.
Document report_survey(std::span<const SurveyedSource> surveyed, std::span<const Proof> proofs,
                       const SurveyOptions& options, double confidence, bool timings);

}  // namespace draftproof
