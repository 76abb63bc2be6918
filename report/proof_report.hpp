// Proofs as a document.
#pragma once

#include <span>

#include <draftproof/properties/prover.hpp>
#include <draftproof/report/document.hpp>

namespace draftproof {

/// One row per verifier and draft law; a block for every violation. Schema draftproof.prove/1.
Document report_proofs(std::span<const Proof> proofs, const ProofOptions& options, bool timings);

/// "proved (500)", "refuted", or "lossy, TV to 0.1234" for a scheme that is lossy by design, as other reports quote a
/// proof.
Cell verdict_cell(const Proof& proof);

/// The proof as an element of other documents' data.
nlohmann::ordered_json proof_data(const Proof& proof, bool timings);

/// Title of the block of a violation.
std::string refutation_title(const Proof& proof);

/// What was found, with the counterexample, its exact law and a replay line; last, how far the law was from p at
/// most.
std::vector<std::string> violation_lines(const Proof& proof);

}  // namespace draftproof
