// Share of the gap between one draft and the optimum that each lossless scheme closes, at its largest number of drafts.
#pragma once

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include <draftproof/report/page/survey_data.hpp>
#include <draftproof/report/plots/bar_plot.hpp>
#include <draftproof/report/register_figure.hpp>

namespace draftproof::figures {

struct GapClosed {
  static constexpr double least = -0.5;  ///< bars of schemes far below one draft end here, those that noise puts above 1 at 1

  static void add(const page::Json& data, std::vector<page::Figure>& figures) {
    for (const page::SurveyOfSource& survey : page::surveys_in(data)) {
      auto rows = page::rows_at_most_drafts(
          survey, [](const auto& row) { return row.closed && !row.lossy() && !row.refuted(); });
      if (rows.empty()) continue;
      std::stable_sort(rows.begin(), rows.end(),
                       [](const auto* a, const auto* b) { return *a->closed > *b->closed; });
      std::multiset<std::string> names;
      for (const auto* row : rows) names.insert(row->verifier);
      plots::BarPlot plot{.title = fmt::format("{}: share of the gap closed", survey.source),
                          .x_label = "from one draft (0 %) to the optimum of the law (100 %)",
                          .bars = {},
                          .tick = plots::percent_tick,
                          .greatest = 1};
      for (const auto* row : rows)
        plot.bars.push_back({.label = names.count(row->verifier) > 1 ? row->verifier + " " + row->law : row->verifier,
                             .value = std::clamp(*row->closed, least, 1.0),
                             .text = fmt::format("{:.0f} % K={}", 100 * *row->closed, row->drafts)});
      figures.push_back({"Each scheme against the optimum of its own draft law.", drawn(plot)});
    }
  }
};

}  // namespace draftproof::figures
