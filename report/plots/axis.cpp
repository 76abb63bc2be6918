#include <draftproof/report/plots/axis.hpp>

#include <algorithm>

#include <fmt/format.h>

#include <draftproof/report/text.hpp>

namespace draftproof::plots {

Axis linear_axis(double least, double greatest, double from, double to, int ticks) {
  // One value, or values that differ in their last digits: a little room on both sides.
  if (const double size = std::max(std::abs(least), std::abs(greatest)); !(greatest - least > 1e-9 * size)) {
    const double room = std::max(size * 0.05, 1e-6);
    least -= room;
    greatest += room;
  }
  const double raw = (greatest - least) / ticks, decade = std::pow(10, std::floor(std::log10(raw)));
  double step = 10 * decade;
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * decade >= raw) {
      step = factor * decade;
      break;
    }
  const double first = std::floor(least / step + 1e-9), last = std::ceil(greatest / step - 1e-9);
  Axis axis{.low = first * step, .high = last * step, .from = from, .to = to};
  for (double n = first; n <= last; ++n) axis.ticks.push_back(n * step);
  return axis;
}

Axis decade_axis(double least, double greatest, double from, double to) {
  const double first = std::floor(std::log10(least)), last = std::max(std::ceil(std::log10(greatest)), first + 1);
  Axis axis{.logarithmic = true, .low = std::pow(10, first), .high = std::pow(10, last), .from = from, .to = to};
  for (double exponent = first; exponent <= last; ++exponent) axis.ticks.push_back(std::pow(10, exponent));
  return axis;
}

Axis listed_axis(const std::vector<double>& values, double from, double to, bool logarithmic) {
  // A margin keeps markers off the frame, and gives an axis of a single value a width.
  const double margin = std::max(0.08 * (values.back() - values.front()), 1e-3);
  return {.logarithmic = logarithmic,
          .low = logarithmic ? values.front() / 1.25 : values.front() - margin,
          .high = logarithmic ? values.back() * 1.25 : values.back() + margin,
          .from = from,
          .to = to,
          .ticks = values};
}

std::string number_text(double value) {
  const double size = std::abs(value);
  if (size >= 1e4 && size < 1e15 && value == std::floor(value))
    return (value < 0 ? "-" : "") + grouped(static_cast<std::uint64_t>(size));
  return fmt::format("{:.6g}", size < 1e-12 ? 0 : value);
}

std::string time_tick(double seconds) {
  for (const auto& [unit, name] : {std::pair{1.0, "s"}, {1e-3, "ms"}, {1e-6, "us"}})
    if (seconds >= unit * 0.999) return fmt::format("{:.3g} {}", seconds / unit, name);
  return fmt::format("{:.3g} ns", seconds * 1e9);
}

std::string rate_tick(double rate) {
  for (const auto& [unit, name] : {std::pair{1e9, " G"}, {1e6, " M"}, {1e3, " k"}})
    if (rate >= unit * 0.999) return fmt::format("{:.3g}{}", rate / unit, name);
  return fmt::format("{:.3g}", rate);
}

std::string whole_tick(double value) { return grouped(static_cast<std::uint64_t>(value + 0.5)); }

std::string percent_tick(double share) { return fmt::format("{:.6g} %", 100 * share); }

std::string power_tick(double exponent) {
  static constexpr const char* digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text = "10";
  for (const char digit : fmt::format("{:.6g}", exponent))
    text += digit == '-' ? "⁻" : digit >= '0' && digit <= '9' ? digits[digit - '0'] : "·";
  return text;
}

}  // namespace draftproof::plots
