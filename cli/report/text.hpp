// Text in columns, numbers and lists for reports.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace draftproof {

/// Returns the number of terminal columns of `text`: its UTF-8 code points (the reports use no wide characters).
std::size_t display_width(std::string_view text);

/// Returns `text` padded with spaces to `width` columns, on the left if `right` is true.
std::string padded(std::string_view text, std::size_t width, bool right);

/// Returns `text` in lines of at most `width` columns, broken at spaces; a longer word is broken where the line ends.
/// The result has at least one line. Requires `width` of at least 1.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);

/// Returns the number with separators: "1,048,576".
std::string grouped(std::uint64_t value);

/// Returns the texts of the elements of a list, separated by commas; empty texts are left out.
template <class List, class Text>
std::string listed(const List& list, Text text) {
  std::string all;
  for (const auto& element : list)
    if (const std::string one = text(element); !one.empty()) all += (all.empty() ? "" : ", ") + one;
  return all;
}

/// Returns the closed share of a gap in percent: "76 %". A share above 1 is shown as "100 %" if `within_noise` is true:
/// if the interval of the acceptance reaches down to the optimum, which is known exactly.
std::string percent_closed(double share, bool within_noise);

/// Returns a mean and its standard error: "3.2500 ±0.0120"; without an error that is NaN.
std::string with_error(double mean, double standard_error);

/// Returns the number and the noun: "500 instances", "1 instance".
std::string counted(std::uint64_t count, std::string_view noun);

}  // namespace draftproof
