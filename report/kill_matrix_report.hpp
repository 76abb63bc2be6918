// The kill matrix as a document.
#pragma once

#include <draftproof/properties/mutation/kill_matrix.hpp>
#include <draftproof/report/document.hpp>

namespace draftproof {

/// A table a level with a row per mutant, one of what is lossy by design, one of wrong drafters; what each was caught
/// by, its smallest counterexample and a replay line; last the controls. Schema draftproof.mutants/1. Seconds only
/// with `timings`.
Document report_kill_matrix(const KillMatrix& matrix, const KillOptions& options, bool timings);

}  // namespace draftproof
