// A survey of verifiers of paths as a document.
#pragma once

#include <span>

#include <draftproof/properties/prover/path_prover.hpp>
#include <draftproof/properties/survey/path_survey.hpp>
#include <draftproof/report/document.hpp>

namespace draftproof {

struct SurveyedPassages {
  const PassageSource* source;
  std::vector<PassageRow> rows;
};

/// Tables by tree law and number of drafts, the proofs' counterexamples at the end; data with schema
/// draftproof.passages/1.
Document report_passages(std::span<const SurveyedPassages> surveyed, std::span<const PathProof> proofs,
                         const PassageSurveyOptions& options, bool complete, bool timings);

}  // namespace draftproof
