// JSON input, with guards against hostile text: bounded nesting, no repeated key, errors that name the file. The
// result can be copied, printed and destroyed without exhausting the stack.
#pragma once

#include <filesystem>
#include <string_view>

#include <nlohmann/json.hpp>

namespace draftproof {

/// Deepest accepted nesting. Metadata needs three or four levels; printing recurses once a level.
inline constexpr int deepest_json = 64;

/// The object in `text`. Throws: InputError, with the name `file`, if it is not valid JSON, is not an object, nests
/// deeper than deepest_json, or repeats a key in one object.
nlohmann::json parse_json_object(std::string_view text, const std::string& file);

/// The value in `text`, which this program wrote. Throws: nlohmann::json::exception if it is not valid JSON.
nlohmann::json parse_own_json(std::string_view text);

/// The object in the file at `path`, of at most 16 MiB. Throws: InputError, also for the errors above.
nlohmann::json read_json_object(const std::filesystem::path& path);

}  // namespace draftproof
