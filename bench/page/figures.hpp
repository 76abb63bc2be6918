// The plots of the page of figures and where their points come from: names of benchmarks with one number left open.
//
//   "{}"   stands for V or K in a name; every number that the results have there is a point
#pragma once

#include <string>
#include <vector>

#include <draftproof/bench/page/plot.hpp>
#include <draftproof/bench/results/results.hpp>

namespace draftproof::benchmarks {

struct Figure {
  std::string file;  ///< "cost.svg"
  std::string caption;
  Plot plot;
};

/// Points of all benchmarks named `name` with a number in place of "{}"; `rate` for items per second instead of time.
Series series_of(const Results& results, const std::string& label, const std::string& name, bool rate,
                 bool dashed = false);

/// Those that have a series; series of fewer than two points are left out.
std::vector<Figure> figures_of(const Results& results);

}  // namespace draftproof::benchmarks
