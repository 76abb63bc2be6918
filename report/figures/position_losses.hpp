// Acceptance against the optimum position by position, where a survey has it: positions with similar optima are grouped.
#pragma once

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include <draftproof/report/page/survey_data.hpp>
#include <draftproof/report/register_figure.hpp>

namespace draftproof::figures {

struct PositionLosses {
  static void add(const page::Json& data, std::vector<page::Figure>& figures) {
    for (const page::SurveyOfSource& survey : page::surveys_in(data))
      for (const std::string& law : page::laws_in(survey)) {
        auto rows = page::rows_at_most_drafts(
            survey, [&](const auto& row) { return row.law == law && !row.refuted() && !row.at_positions.empty(); });
        std::stable_sort(rows.begin(), rows.end(), [](const auto* a, const auto* b) { return a->rate > b->rate; });
        for (std::size_t first = 0; first < rows.size(); first += plots::colours)
          plot_of(survey, law, {rows.data() + first, std::min(plots::colours, rows.size() - first)}, first, figures);
      }
  }

 private:
  static constexpr std::size_t groups = 10;

  /// Means over the positions of each group: the optimum there and the acceptance there.
  static std::vector<plots::Point> grouped(std::vector<std::pair<double, double>> positions) {
    std::sort(positions.begin(), positions.end());
    std::vector<plots::Point> points;
    const std::size_t parts = std::min(groups, positions.size());
    for (std::size_t part = 0; part < parts; ++part) {
      const std::size_t begin = part * positions.size() / parts, end = (part + 1) * positions.size() / parts;
      double optimum = 0, accepted = 0;
      for (std::size_t i = begin; i < end; ++i) {
        optimum += positions[i].first / static_cast<double>(end - begin);
        accepted += positions[i].second / static_cast<double>(end - begin);
      }
      points.push_back(
          {optimum, accepted, accepted, accepted,
           fmt::format("{} positions: optimum {:.4f}, acceptance {:.4f}", end - begin, optimum, accepted)});
    }
    return points;
  }

  static void plot_of(const page::SurveyOfSource& survey, const std::string& law,
                      std::span<const page::SurveyedRate* const> rows, std::size_t before,
                      std::vector<page::Figure>& figures) {
    plots::LinePlot plot{.title = fmt::format("{}, {} drafts: where acceptance is lost{}", survey.source, law,
                                              before == 0 ? "" : fmt::format(" (from {} on)", before + 1)),
                         .x_label = "optimum at the position",
                         .y_label = "acceptance there"};
    double low = 1, high = 0;
    for (const page::SurveyedRate* row : rows) {
      plot.series.push_back({fmt::format("{}, K = {}", row->verifier, row->drafts), grouped(row->at_positions)});
      low = std::min(low, plot.series.back().points.front().x);
      high = std::max(high, plot.series.back().points.back().x);
    }
    if (low < high) plot.series.push_back({"the optimum itself", {{low, low}, {high, high}}, plots::Stroke::roof});
    figures.push_back(
        {"Positions in ten groups, from those with the lowest optimum to those with the highest. The "
         "distance below the thick line is lost.",
         drawn(plot)});
  }
};

}  // namespace draftproof::figures
