// The optimum of each draft law against the number of drafts.
#pragma once

#include <map>

#include <fmt/format.h>

#include <draftproof/report/register_figure.hpp>

namespace draftproof::figures {

struct Optimum {
  static void add(const page::Json& data, std::vector<page::Figure>& figures) {
    for (const page::Json* source : page::objects_in(page::member(data, "sources"))) {
      std::map<std::string, std::map<int, double>> laws;
      for (const page::Json* value : page::objects_in(page::member(*source, "optimum")))
        if (const auto mean = page::number_of(*value, "mean"); mean && page::count_of(*value, "drafts") > 0)
          laws[page::text_of(*value, "law")][page::count_of(*value, "drafts")] = *mean;
      plots::LinePlot plot{
          .title = fmt::format("{}: the optimum of each draft law", page::text_of(*source, "source")),
          .x_label = "K, drafts",
          .y_label = "acceptance probability",
          .x_tick = plots::whole_tick,
          .x_ticks = plots::LinePlot::Ticks::at_points_logarithmic};
      for (const auto& [law, values] : laws) {
        plots::Series series{law, {}};
        for (const auto& [drafts, mean] : values) series.points.push_back({static_cast<double>(drafts), mean});
        plot.series.push_back(std::move(series));
      }
      if (!plot.empty())
        figures.push_back({"The most that any lossless verifier accepts, means over the positions.", drawn(plot)});
    }
  }
};

}  // namespace draftproof::figures
