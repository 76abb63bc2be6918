// The findings of a gate as text and back, for blocks of a ledger that another process computes.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include <draftproof/properties/gate/gate.hpp>

namespace draftproof {

/// A finding as JSON, and back.
nlohmann::json finding_record(const GateFinding& finding);
GateFinding finding_of_record(const nlohmann::json& record);

/// Findings, laws, note, work and counts of `result` as JSON. Numbers are stored by their bits.
std::string gate_record(const GateResult& result);

/// Adds what gate_record() wrote to a result of the same gate.
void add_gate_record(const std::string& record, GateResult& result);

}  // namespace draftproof
