// Suggestions for messages about unknown names: registered names close to the given one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace draftproof {

/// Up to three known names that are a few letters off, or longer; the nearest first. Empty for very short and very
/// long names.
std::vector<std::string> nearest_names(const std::vector<std::string>& known, std::string_view name);

/// "; did you mean X or Y?" with the nearest names, empty if there are none.
std::string did_you_mean(const std::vector<std::string>& known, std::string_view name);

}  // namespace draftproof
