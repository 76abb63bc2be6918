// Figures of surveys of one position.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include <fmt/format.h>

#include <draftproof/report/page/survey_data.hpp>
#include <draftproof/report/plots/bar_plot.hpp>
#include <draftproof/report/register_figure.hpp>

namespace draftproof::figures {

// Acceptance against the number of drafts, or as bars where there is one number, with the optimum as the roof.
struct Acceptance {
  static void add(const page::Json& data, std::vector<page::Figure>& figures) {
    for (const page::SurveyOfSource& survey : page::surveys_in(data)) {
      std::vector<const page::SurveyedRate*> alone;  // of laws with one scheme
      for (const std::string& law : page::laws_in(survey)) {
        std::vector<const page::SurveyedRate*> lossless, others;
        for (const page::SurveyedRate& rate : survey.rates)
          if (rate.law == law) (rate.lossy() || rate.refuted() ? others : lossless).push_back(&rate);
        for (const auto* rows : {&lossless, &others}) {
          if (rows->empty()) continue;
          const bool one = std::all_of(rows->begin(), rows->end(),
                                       [&](const auto* row) { return row->verifier == rows->front()->verifier; });
          if (one && rows == &lossless)
            alone.push_back(*std::max_element(rows->begin(), rows->end(),
                                              [](const auto* a, const auto* b) { return a->drafts < b->drafts; }));
          else
            of_law(survey, law, *rows, rows == &others, figures);
        }
      }
      if (!alone.empty())
        bars(fmt::format("{}: draft laws with one scheme", survey.source), survey, alone,
             "Each on the draft law that it is written for. A thick stroke is the optimum of that law.", figures);
    }
  }

 private:
  using Rows = std::vector<const page::SurveyedRate*>;

  static std::string unit(const page::SurveyOfSource& survey) {
    return survey.paths ? "accepted tokens a step" : "acceptance probability";
  }

  static void of_law(const page::SurveyOfSource& survey, const std::string& law, const Rows& rows, bool others,
                     std::vector<page::Figure>& figures) {
    const std::string title = fmt::format("{}, {} drafts: {}", survey.source, law,
                                          others ? "lossy or refuted schemes" : "acceptance of lossless schemes");
    if (survey.paths && page::several_drafts(rows)) return;  // block efficiency says the same
    if (!page::several_drafts(rows))
      return bars(title, survey, rows, "Thin lines are intervals. A thick stroke is the optimum.", figures);
    const page::DraftLines lines{.title = title,
                                 .y_label = unit(survey),
                                 .y = [](const auto& row) { return row.rate; },
                                 .low = [](const auto& row) { return row.low; },
                                 .high = [](const auto& row) { return row.high; },
                                 .roof = [](const auto& row) { return row.optimum; }};
    for (plots::Picture& picture : page::lines_against_drafts(lines, rows))
      figures.push_back({others ? "A scheme that is not lossless may pass the roof."
                                : "The thick line is the most that any lossless scheme accepts of these drafts.",
                         std::move(picture)});
  }

  static void bars(const std::string& title, const page::SurveyOfSource& survey, Rows rows, std::string caption,
                   std::vector<page::Figure>& figures) {
    std::stable_sort(rows.begin(), rows.end(), [](const auto* a, const auto* b) { return a->rate > b->rate; });
    int most = 0;  // a scheme that takes fewer drafts says so
    for (const auto* row : rows) most = std::max(most, row->drafts);
    plots::BarPlot plot{.title = fmt::format("{}, K = {}", title, most), .x_label = unit(survey), .bars = {}};
    for (const auto* row : rows)
      plot.bars.push_back(
          {.label = row->verifier,
           .value = row->rate,
           .low = row->low,
           .high = row->high,
           .text = fmt::format("{:.4f}", row->rate) + (row->drafts < most ? fmt::format(" K={}", row->drafts) : ""),
           .roof = row->optimum,
           .kind = row->lossy()     ? "lossy"
                   : row->refuted() ? "mutant"
                                    : ""});
    figures.push_back({std::move(caption), drawn(plot)});
  }
};

// Share of the gap between one draft and the optimum that each lossless scheme closes, at its largest number of drafts.
struct GapClosed {
  static constexpr double least =
      -0.5;  ///< bars of schemes far below one draft end here, those that noise puts above 1 at 1

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

// The optimum of each draft law against the number of drafts.
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

// Lossy schemes: how far their output is from the target against what they accept beyond the optimum of lossless ones.
struct PriceOfLossiness {
  static void add(const page::Json& data, std::vector<page::Figure>& figures) {
    for (const page::SurveyOfSource& survey : page::surveys_in(data)) {
      plots::LinePlot plot{.title = fmt::format("{}: the price of lossiness", survey.source),
                           .x_label = "largest total variation from the target in the proofs",
                           .y_label = survey.paths ? "tokens beyond the optimum" : "acceptance beyond the optimum"};
      for (const auto* row :
           page::rows_at_most_drafts(survey, [](const auto& rate) { return rate.lossy() && rate.optimum; }))
        if (const auto distance = distance_of(data, *row))
          plot.series.push_back(
              {.label = fmt::format("{}, K = {}", row->verifier, row->drafts),
               .points =
                   {{*distance, row->rate - *row->optimum, row->low - *row->optimum, row->high - *row->optimum, {}}},
               .stroke = plots::Stroke::points});
      if (!plot.empty())
        figures.push_back(
            {"Right: farther from the target. Up: accepts more than a lossless scheme can. A scheme below "
             "0 pays and gains nothing.",
             drawn(plot)});
    }
  }

 private:
  static std::optional<double> distance_of(const page::Json& data, const page::SurveyedRate& row) {
    for (const page::Json* proof : page::objects_in(page::member(data, "proofs")))
      if (page::text_of(*proof, "verifier") == row.verifier && page::text_of(*proof, "law") == row.law)
        return page::number_of(page::member(*proof, "total_variation"), "largest");
    return std::nullopt;
  }
};

// Acceptance against the optimum position by position, where a survey has it: positions with similar optima are grouped.
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
