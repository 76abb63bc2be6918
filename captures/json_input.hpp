// JSON input, with guards against hostile text: bounded nesting, no repeated key, errors that name the file. The
// result can be copied, printed and destroyed without exhausting the stack.
#pragma once

#include <filesystem>
#include <string_view>

#include <nlohmann/json.hpp>

namespace draftproof {

/// Deepest accepted nesting. Metadata needs three or four levels; printing recurses once per level.
inline constexpr int deepest_json = 64;

/// Returns the object in `text`. Throws: InputError, with the name `file`, if `text` is not valid JSON, is not an
/// object, nests deeper than deepest_json, or repeats a key in one object.
nlohmann::json parse_json_object(std::string_view text, const std::string& file);

/// Returns the value in `text`, which this program wrote. Throws: nlohmann::json::exception if it is not valid JSON.
nlohmann::json parse_own_json(std::string_view text);

/// Returns the object in the file at `path`. Throws: InputError if the file cannot be read or is larger than 16 MiB,
/// and under the conditions of parse_json_object.
nlohmann::json read_json_object(const std::filesystem::path& path);

}  // namespace draftproof
