// Suggestions for messages about unknown names: registered names close to the given name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace draftproof {

/// Returns up to three known names, nearest first, that contain `name` or whose edit distance is at most a third of
/// its length. Empty if `name` has fewer than 3 or more than 60 characters.
std::vector<std::string> nearest_names(const std::vector<std::string>& known, std::string_view name);

/// Returns "; did you mean X or Y?" with the nearest names; empty if nearest_names returns no name.
std::string did_you_mean(const std::vector<std::string>& known, std::string_view name);

}  // namespace draftproof
