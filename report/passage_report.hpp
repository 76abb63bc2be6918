// A survey of verifiers of paths as a document.
#pragma once

#include <span>

#include <draftproof/properties/paths/passage_survey.hpp>
#include <draftproof/report/document.hpp>

namespace draftproof {

struct SurveyedPassages {
  const PassageSource* source;
  std::vector<PassageRow> rows;
};

/// Tables by tree law and number of drafts; data with schema draftproof.passages/1.
Document report_passages(std::span<const SurveyedPassages> surveyed, const PassageSurveyOptions& options,
                         bool complete, bool timings);

}  // namespace draftproof
