// The first screen: what is exact, how much it accepts against the optimum, and one refuted bug.
#pragma once

#include <span>
#include <string>

#include <draftproof/properties/mutation/kill_matrix.hpp>
#include <draftproof/properties/prover/path_prover.hpp>
#include <draftproof/report/document.hpp>
#include <draftproof/report/survey_report.hpp>

namespace draftproof {

/// What the first screen summarises.
struct DemoResult {
  std::span<const SurveyedSource> surveyed;
  std::span<const Proof> proofs;
  std::span<const PathProof> path_proofs;
  const KillMatrix* bugs;
  int drafts;          ///< K of the table
  std::string tables;  ///< file with the whole tables; empty: none was written
  std::string page;    ///< file with the page; empty: none was written
};

/// Counts of schemes and planted bugs, one table of lossless schemes with a column per source, one refuted bug, and three
/// commands. Schema draftproof.demo/1.
Document report_demo(const DemoResult& result);

}  // namespace draftproof
