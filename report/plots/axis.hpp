// The axes of plots: values to pixels, ticks, and the texts of ticks.
#pragma once

#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace draftproof::plots {

/// The text of a value at a tick.
using TickText = std::function<std::string(double)>;

struct Axis {
  bool logarithmic = false;
  double low = 0, high = 1;     ///< values at the ends
  double from = 0, to = 1;      ///< pixels at the ends
  std::vector<double> ticks{};  ///< inside the ends, ascending

  double operator()(double value) const {
    const double share = logarithmic ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
    return from + (to - from) * share;
  }
};

/// An axis that holds `least` to `greatest`, its ends and about `ticks` ticks at round numbers.
Axis linear_axis(double least, double greatest, double from, double to, int ticks);

/// A logarithmic axis over whole decades. Throws: nothing; values must be positive.
Axis decade_axis(double least, double greatest, double from, double to);

/// An axis with a tick at each of `values` (ascending, not empty) and a margin at both ends; positive if it is logarithmic.
Axis listed_axis(const std::vector<double>& values, double from, double to, bool logarithmic = true);

/// "0.85", "12,000", "1e-06".
std::string number_text(double value);
/// "10 us" of seconds.
std::string time_tick(double seconds);
/// "1 M" of a rate.
std::string rate_tick(double rate);
/// "128,256".
std::string whole_tick(double value);
/// "85 %" of a share.
std::string percent_tick(double share);
/// "10⁻³" of the exponent -3.
std::string power_tick(double exponent);

}  // namespace draftproof::plots
