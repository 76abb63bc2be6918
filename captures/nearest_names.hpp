// Names in messages and reports: names from outside on one line; suggestions for unknown names, which are registered
// names close to the given name.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace draftproof {

/// Returns a text from outside (a name in a file, a message of a program) as one line of valid UTF-8. Each control
/// character (Unicode's Cc) and each line separator (U+2028, U+2029) becomes a blank, and each byte that is not UTF-8
/// becomes "?". A text of more than `longest` bytes is cut at the end of a character, and "..." follows.
std::string one_line(std::string_view text, std::size_t longest = 300);

/// Returns up to three known names, nearest first, that contain `name` or whose edit distance is at most a third of
/// its length. Empty if `name` has fewer than 3 or more than 60 characters.
std::vector<std::string> nearest_names(const std::vector<std::string>& known, std::string_view name);

/// Returns "; did you mean X or Y?" with the nearest names; empty if nearest_names returns no name.
std::string did_you_mean(const std::vector<std::string>& known, std::string_view name);

}  // namespace draftproof
