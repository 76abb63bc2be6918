// The report of proofs.
#pragma once

#include <span>

#include <draftproof/properties/prover/path_prover.hpp>
#include <draftproof/properties/prover/prover.hpp>
#include <draftproof/report/document.hpp>

namespace draftproof {

/// A table for each level with one row per verifier and draft law, a block for every violation. Schema
/// draftproof.prove/2.
Document report_proofs(std::span<const Proof> proofs, std::span<const PathProof> path_proofs,
                       const ProofOptions& options, bool timings);
inline Document report_proofs(std::span<const Proof> proofs, const ProofOptions& options, bool timings) {
  return report_proofs(proofs, {}, options, timings);
}

/// The verdict of a proof, for other reports: "proved (500)", "refuted", or "lossy, TV to 0.1234" for a scheme that
/// is lossy by design.
template <class Level>
Cell verdict_cell(const ProofOf<Level>& proof);

/// The same for a row of a survey. Without a proof it is "not asked" or "cannot be explored".
template <class Level>
Cell verdict_cell(const ProofOf<Level>* proof, const Info& info);

/// The proof of a row's verifier on its draft law, or null.
template <class Proof, class Row>
const Proof* proof_of(std::span<const Proof> proofs, const Row& row) {
  for (const Proof& proof : proofs)
    if (proof.verifier == row.verifier && proof.drafter == row.drafter) return &proof;
  return nullptr;
}

/// The proof as an element of the data of other reports.
template <class Level>
nlohmann::ordered_json proof_data(const ProofOf<Level>& proof, bool timings);

/// Title of the block of a violation.
template <class Level>
std::string refutation_title(const ProofOf<Level>& proof);

/// The violations with counterexample, exact law and replay line, then the largest distance of the law from p.
template <class Level>
std::vector<std::string> violation_lines(const ProofOf<Level>& proof);

/// Adds the proofs beside a survey to its data, and a section for every violation.
template <class Level>
void add_proofs(Document& document, std::span<const ProofOf<Level>> proofs, bool timings) {
  for (const ProofOf<Level>& proof : proofs) {
    document.data["proofs"].push_back(proof_data(proof, timings));
    if (proof.violation())
      document.sections.push_back({.title = refutation_title(proof), .before = violation_lines(proof)});
  }
}

}  // namespace draftproof
