// Requests to choose drafts, as fields of a message.
#pragma once

#include <cstdint>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <draftproof/adapters/wire/served.hpp>

namespace draftproof::adapters {

/// Returns the fields of a request `select`.
nlohmann::json to_fields(const ServedSelection& selection);

/// Reads the fields that to_fields() returns. Throws: AdapterError, which names the field.
ServedSelection read_selection(const nlohmann::json& fields);

/// Returns which drafts the field `kept` of a result keeps, by request and draft. Throws: AdapterError if it has
/// another shape than `selection`, or keeps a draft without its parent.
std::vector<std::vector<std::uint8_t>> read_kept(const nlohmann::json& fields, const ServedSelection& selection);

}  // namespace draftproof::adapters
