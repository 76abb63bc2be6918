// The plots of the page of figures. Their points come from the benchmarks that match a name with one open number.
//
//   "{}"   stands for V or K in a name; every number in its place in the results is a point
#pragma once

#include <string>
#include <vector>

#include <draftproof/bench/results/results.hpp>
#include <draftproof/report/plots/line_plot.hpp>

namespace draftproof::benchmarks {

struct Figure {
  std::string file;  ///< "cost.svg"
  std::string caption;
  plots::LinePlot plot;
};

/// Returns the points of all benchmarks named `name` with a number in place of "{}"; `rate`: items per second instead
/// of seconds.
plots::Series series_of(const Results& results, const std::string& label, const std::string& name, bool rate,
                        bool dashed = false);

/// Returns the figures with at least one series; series of fewer than two points are left out.
std::vector<Figure> figures_of(const Results& results);

/// Adds the figures and the comparison of runs to the pages of results (report/page).
bool add_to_pages();

}  // namespace draftproof::benchmarks
