// Reports of proofs and refutations: proofs, gates, the kill matrix, and the replay of one violation.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <draftproof/cli/report/document.hpp>
#include <draftproof/properties/gate/gate.hpp>
#include <draftproof/properties/mutation/kill_matrix.hpp>
#include <draftproof/properties/proof/finding.hpp>
#include <draftproof/properties/prover/path_prover.hpp>
#include <draftproof/properties/prover/prover.hpp>
#include <draftproof/properties/replay/trace.hpp>

namespace draftproof {

/// Reports proofs: a table for each level with one row per verifier and draft sampling, and a section for every
/// failure.
/// Schema draftproof.prove/3.
Document report_proofs(std::span<const Proof> proofs, std::span<const PathProof> path_proofs,
                       const ProofOptions& options, bool timings);
inline Document report_proofs(std::span<const Proof> proofs, const ProofOptions& options, bool timings) {
  return report_proofs(proofs, {}, options, timings);
}

/// Returns the verdict of a proof, for other reports: "proved (500)", "refuted", or "lossy, TV to 0.1234" for a scheme
/// that is lossy by design.
template <class Level>
Cell verdict_cell(const ProofOf<Level>& proof);

/// Returns the verdict of the proof for a row of a survey. If `proof` is null, the cell says why there is none: "not
/// asked" or "cannot be explored".
template <class Level>
Cell verdict_cell(const ProofOf<Level>* proof, const Info& info);

/// Returns the proof of a row's verifier on its draft sampling, or null.
template <class Proof, class Row>
const Proof* proof_of(std::span<const Proof> proofs, const Row& row) {
  for (const Proof& proof : proofs)
    if (proof.verifier == row.verifier && proof.drafter == row.drafter) return &proof;
  return nullptr;
}

/// Returns the proof as an element of the data of other reports.
template <class Level>
nlohmann::ordered_json proof_data(const ProofOf<Level>& proof, bool timings);

/// Returns the title of the section of a failure.
template <class Level>
std::string refutation_title(const ProofOf<Level>& proof);

/// Returns the lines on a refutation: the failure that decides losslessness with its counterexample, evidence and
/// replay line, the names of the other failures, and the largest total variation from p.
template <class Level>
std::vector<std::string> violation_lines(const ProofOf<Level>& proof);

/// Adds the proofs of a survey's schemes to the data of `document`, and a section for every violation.
template <class Level>
void add_proofs(Document& document, std::span<const ProofOf<Level>> proofs, bool timings) {
  for (const ProofOf<Level>& proof : proofs) {
    document.data["proofs"].push_back(proof_data(proof, timings));
    if (proof.violation())
      document.sections.push_back({.title = refutation_title(proof), .before = violation_lines(proof)});
  }
}

/// Returns a status as a coloured cell.
Cell status_cell(Status status);

/// Reports the results of gates: a verdict for every verifier and tier, and a section with a replay line for every
/// failure. `timings` adds times to the data. Schema draftproof.check/3.
Document report_gates(std::span<const GateResult> results, const GateOptions& options, bool timings);

/// Reports the list of gates without results, for callers that run them one by one. Schema draftproof.gates/2.
Document report_gate_list(std::span<const Gate> gates);

/// Reports the kill matrix: for each level, wrong drafters included, a table with a row per mutant, then a table of
/// lossy schemes. Each row names the check that caught the mutant, its smallest counterexample and a replay line. The
/// controls come last. Times are included only with `timings`. Schema draftproof.mutants/3.
Document report_kill_matrix(const KillMatrix& matrix, const KillOptions& options, bool timings);

/// Returns an empty report of a replay with the title `what`. Schema draftproof.replay/3.
Document start_replay(const std::string& what, std::uint64_t seed);

/// Adds a row for each property with its status and evidence. If the evidence is on an instance other than `instance`,
/// the row names that instance.
template <class Level>
void add_answers(Document& document, const ProofOf<Level>& proof, const std::string& instance);

/// Adds the finding of one check of a component.
void add_finding(Document& document, const Finding& finding);

/// Adds a sentence below the last table.
void add_remark(Document& document, const std::string& remark);

/// Adds all paths of a decision with their probabilities.
void add_story(Document& document, const DecisionTrace& trace);

/// Adds the output distribution of a token, or of a step. For a lossy scheme the certificate that its output can be
/// used as rollouts of p is added.
void add_distribution(Document& document, const ExactDistribution<Rational>& distribution, const Instance& instance,
                      bool lossy);
void add_distribution(Document& document, const StepDistribution<Rational>& distribution);

/// Adds the lines of one trial, draw by draw.
void add_trial(Document& document, std::uint64_t trial, const std::vector<std::string>& lines);

}  // namespace draftproof
