// JSON from outside, parsed with the guards a hostile text needs: bounded nesting, no repeated key, errors
// that name the file. What comes back can be copied, printed and destroyed without running out of stack.
#pragma once

#include <filesystem>
#include <string_view>

#include <nlohmann/json.hpp>

namespace draftproof {

/// Deepest nesting accepted. Metadata needs three or four; printing recurses once a level.
inline constexpr int deepest_json = 64;

/// The object in `text`. Throws InputError naming `file` if it is not valid JSON, not an object, nests deeper
/// than deepest_json, or gives a key twice in one object.
nlohmann::json parse_json_object(std::string_view text, const std::string& file);

/// The object in the file at `path`, of at most 16 MiB; the same errors.
nlohmann::json read_json_object(const std::filesystem::path& path);

}  // namespace draftproof
