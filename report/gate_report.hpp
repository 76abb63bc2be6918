// The gate as a document: a verdict for every verifier and tier, a block with a replay line for every failure.
#pragma once

#include <span>

#include <draftproof/properties/gate/gate.hpp>
#include <draftproof/report/document.hpp>

namespace draftproof {

/// Schema draftproof.check/1.
Document report_gates(std::span<const GateResult> results, const GateOptions& options, bool timings);

/// What would run, for those who run gates one by one. Schema draftproof.gates/1.
Document report_gate_list(std::span<const Gate> gates);

}  // namespace draftproof
