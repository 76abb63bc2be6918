// Numbers and padding as reports print them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace draftproof {

/// Columns `text` takes on a terminal: code points of UTF-8 (the reports use no wide characters).
std::size_t display_width(std::string_view text);

/// `text` padded with spaces to `width` columns.
std::string padded(std::string_view text, std::size_t width, bool right);

/// "1,048,576".
std::string grouped(std::uint64_t value);

/// "500 instances", "1 instance".
std::string counted(std::uint64_t count, std::string_view noun);

}  // namespace draftproof
