// Horizontal bars with names, values and intervals, a mark of its own on each bar and one line across all.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <draftproof/report/plots/line_plot.hpp>

namespace draftproof::plots {

struct Bar {
  std::string label;
  double value = 0;
  double low = value, high = value;  ///< interval; none where both are the value
  std::string text{};                ///< at the right end of the row
  std::optional<double> roof{};      ///< a thick stroke across the bar, for example the optimum
  std::string kind{};                ///< class of the bar: "", "lossy" or "mutant"
};

struct AlarmLine {
  double value;
  std::string label;
};

struct BarPlot {
  std::string title, x_label;
  std::vector<Bar> bars;
  TickText tick = number_text;
  std::optional<double> least{}, greatest{};  ///< ends of the axis where the data does not set them
  double base = 0;                            ///< value from which bars grow
  std::optional<AlarmLine> alarm{};           ///< a dashed line with its name
  double width = 400;
};

/// Returns the picture. `plot` must have a bar.
Picture drawn(const BarPlot& plot);

}  // namespace draftproof::plots
