// The report of the kill matrix.
#pragma once

#include <draftproof/properties/mutation/kill_matrix.hpp>
#include <draftproof/report/document.hpp>

namespace draftproof {

/// For each level a table with a row per mutant, then a table of lossy schemes and one of wrong drafters. Each row
/// names the check that caught it, its smallest counterexample and a replay line. The controls come last. Times only
/// with `timings`. Schema draftproof.mutants/2.
Document report_kill_matrix(const KillMatrix& matrix, const KillOptions& options, bool timings);

}  // namespace draftproof
