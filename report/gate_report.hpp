// The report of gates: a verdict for every verifier and tier, a block with a replay line for every failure.
#pragma once

#include <span>

#include <draftproof/properties/gate/gate.hpp>
#include <draftproof/report/document.hpp>

namespace draftproof {

/// The results of gates. `timings` adds times to the data. Schema draftproof.check/2.
Document report_gates(std::span<const GateResult> results, const GateOptions& options, bool timings);

/// The list of gates without results, for callers that run them one by one. Schema draftproof.gates/1.
Document report_gate_list(std::span<const Gate> gates);

}  // namespace draftproof
