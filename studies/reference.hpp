// A published number, compared to its printed digits.
#pragma once

#include <charconv>
#include <cmath>
#include <string_view>

namespace draftproof {

struct Reference {
  std::string_view text;  ///< decimal, such as "0.9389"

  double value() const {
    double number = NAN;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
  }
  /// Whether `computed`, with an error of at most `error`, rounds to the printed digits.
  bool agrees(double computed, double error = 0) const {
    const auto point = text.find('.');
    const auto digits = point == std::string_view::npos ? 0 : static_cast<int>(text.size() - point - 1);
    return std::abs(computed - value()) <= 0.5 * std::pow(10.0, -digits) + error;
  }
};

}  // namespace draftproof
