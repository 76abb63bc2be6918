// E-values of an audit on a logarithmic scale, with the line from which they are an alarm.
#pragma once

#include <cmath>

#include <fmt/format.h>

#include <draftproof/report/plots/bar_plot.hpp>
#include <draftproof/report/register_figure.hpp>

namespace draftproof::figures {

struct Evidence {
  static void add(const page::Json& data, std::vector<page::Figure>& figures) {
    const auto threshold = page::number_of(data, "log10_threshold");
    plots::BarPlot plot{.title = "Evidence against the recording",
                        .x_label = "e-value, logarithmic; 1 is no evidence",
                        .bars = {},
                        .tick = plots::power_tick};
    const auto bar = [&plot](const std::string& label, std::optional<double> value) {
      if (value)
        plot.bars.push_back(
            {.label = label, .value = *value, .text = fmt::format("10^{:.1f}", std::round(10 * *value) / 10 + 0.0)});
    };
    for (const page::Json* family : page::objects_in(page::member(data, "families")))
      bar(page::text_of(*family, "bets"), page::number_of(*family, "log10_e"));
    if (plot.bars.empty() || !threshold) return;
    bar("all bets together", page::number_of(data, "log10_e"));
    bar("largest at a look", page::number_of(data, "largest_log10_e"));
    plot.alarm = {*threshold, fmt::format("alarm from 10^{:.1f}", *threshold)};
    figures.push_back(
        {"One bar for each family of bets. The line is the false-alarm probability of the audit, inverted.",
         drawn(plot)});
  }
};

}  // namespace draftproof::figures
