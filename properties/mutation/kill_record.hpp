// Rows of the kill matrix as text and back, for blocks of a ledger.
#pragma once

#include <string>

#include <draftproof/properties/mutation/kill_matrix.hpp>

namespace draftproof {

/// All of a row but its time. Numbers are stored by their bits.
std::string kill_record(const KillRow& row);
std::string kill_record(const ControlRow& row);

/// The inverse, into a new row.
void read_kill_record(const std::string& record, KillRow& row);
void read_kill_record(const std::string& record, ControlRow& row);

}  // namespace draftproof
