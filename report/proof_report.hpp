// Proofs as a document.
#pragma once

#include <span>

#include <draftproof/properties/prover.hpp>
#include <draftproof/report/document.hpp>

namespace draftproof {

/// One row per verifier and draft law; a block for every violation. Schema draftproof.prove/1.
Document report_proofs(std::span<const Proof> proofs, const ProofOptions& options, bool timings);

/// "proved (500)" or "refuted", as other reports quote a proof.
Cell verdict_cell(const Proof& proof);

/// The proof as an element of other documents' data.
nlohmann::ordered_json proof_data(const Proof& proof, bool timings);

/// What was found, with the counterexample, its exact law and a replay line.
std::vector<std::string> violation_lines(const Proof& proof);

}  // namespace draftproof
