// Figures of surveys of paths.
#pragma once

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include <draftproof/report/page/survey_data.hpp>
#include <draftproof/report/register_figure.hpp>

namespace draftproof::figures {

// Verifiers of paths: block efficiency against the number of paths, and how many steps reach each place of the path.
struct PathAcceptance {
  static void add(const page::Json& data, std::vector<page::Figure>& figures) {
    for (const page::SurveyOfSource& survey : page::surveys_in(data)) {
      if (!survey.paths) continue;
      for (const std::string& law : page::laws_in(survey)) {
        std::vector<const page::SurveyedRate*> rows;
        for (const page::SurveyedRate& rate : survey.rates)
          if (rate.law == law && !rate.refuted()) rows.push_back(&rate);
        if (rows.empty()) continue;
        if (page::several_drafts(rows)) efficiency(survey, law, rows, figures);
        places(survey, law, figures);
      }
    }
  }

 private:
  static void efficiency(const page::SurveyOfSource& survey, const std::string& law,
                         const std::vector<const page::SurveyedRate*>& rows, std::vector<page::Figure>& figures) {
    const page::DraftLines lines{
        .title = fmt::format("{}, {}, L = {}: block efficiency", survey.source, law, rows.front()->length),
        .y_label = "emitted tokens a step",
        .y = [](const auto& row) { return row.rate + 1; },
        .low = [](const auto& row) { return row.low + 1; },
        .high = [](const auto& row) { return row.high + 1; },
        .roof = [](const auto& row) { return row.optimum ? std::optional(*row.optimum + 1) : std::nullopt; }};
    for (plots::Picture& picture : page::lines_against_drafts(lines, rows))
      figures.push_back(
          {"Tokens that one call of the target yields: the accepted ones and one more.", std::move(picture)});
  }

  /// The steps whose accepted tokens reach a place; each line falls where its scheme loses.
  static void places(const page::SurveyOfSource& survey, const std::string& law, std::vector<page::Figure>& figures) {
    constexpr std::size_t most = plots::colours;
    auto rows = page::rows_at_most_drafts(
        survey, [&](const auto& row) { return row.law == law && !row.refuted() && row.reached.size() > 1; });
    std::stable_sort(rows.begin(), rows.end(), [](const auto* a, const auto* b) { return a->rate > b->rate; });
    for (std::size_t first = 0; first < rows.size(); first += most) {
      const std::string part = rows.size() <= most ? "" : fmt::format(" (from {} on)", first + 1);
      plots::LinePlot plot{.title = fmt::format("{}, {}: steps that reach each place{}", survey.source, law, part),
                           .x_label = "place in the path, from 1",
                           .y_label = "share of steps",
                           .x_tick = plots::whole_tick,
                           .x_ticks = plots::LinePlot::Ticks::at_points};
      for (std::size_t i = first; i < std::min(first + most, rows.size()); ++i) {
        plots::Series series{fmt::format("{}, K = {}", rows[i]->verifier, rows[i]->drafts), {}};
        for (std::size_t place = 0; place < rows[i]->reached.size(); ++place)
          series.points.push_back({static_cast<double>(place + 1), rows[i]->reached[place]});
        plot.series.push_back(std::move(series));
      }
      figures.push_back({"Share of steps that accept at least so many drafted tokens.", drawn(plot)});
    }
  }
};

// Verifiers of paths on a source that was surveyed at several lengths: block efficiency against L, at the most paths.
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
