// Verifiers of paths on a source that was surveyed at several lengths: block efficiency against L, at the most paths.
#pragma once

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include <draftproof/report/page/survey_data.hpp>
#include <draftproof/report/register_figure.hpp>

namespace draftproof::figures {

struct PathLengths {
  static void add(const page::Json& data, std::vector<page::Figure>& figures) {
    std::map<std::pair<std::string, std::string>, std::map<std::string, plots::Series>> lines;  // by source and law
    for (const page::SurveyOfSource& survey : page::surveys_in(data))
      for (const page::SurveyedRate* row :
           page::rows_at_most_drafts(survey, [](const auto& rate) { return rate.length > 0 && !rate.refuted(); })) {
        plots::Series& line = lines[{survey.name, row->law}][row->verifier];
        line.label = fmt::format("{}, K = {}", row->verifier, row->drafts);
        line.points.push_back({static_cast<double>(row->length), row->rate + 1, row->low + 1, row->high + 1, {}});
      }
    for (auto& [where, schemes] : lines) {
      std::vector<plots::Series> sorted;
      for (auto& [name, line] : schemes)
        if (line.points.size() > 1) {
          std::stable_sort(line.points.begin(), line.points.end(), [](auto& a, auto& b) { return a.x < b.x; });
          sorted.push_back(std::move(line));
        }
      std::stable_sort(sorted.begin(), sorted.end(),
                       [](const auto& a, const auto& b) { return a.points.back().y > b.points.back().y; });
      for (std::size_t first = 0; first < sorted.size(); first += plots::colours) {
        const auto last = std::min(first + plots::colours, sorted.size());
        plots::LinePlot plot{.title = fmt::format("{}, {}: block efficiency{}", where.first, where.second,
                                                  first == 0 ? "" : fmt::format(" (from {} on)", first + 1)),
                             .x_label = "L, drafted tokens of a path",
                             .y_label = "emitted tokens a step",
                             .x_tick = plots::whole_tick,
                             .x_ticks = plots::LinePlot::Ticks::at_points};
        for (std::size_t i = first; i < last; ++i) plot.series.push_back(sorted[i]);
        figures.push_back(
            {"Tokens that one call of the target yields, by the length of the drafted paths.", drawn(plot)});
      }
    }
  }
};

}  // namespace draftproof::figures
