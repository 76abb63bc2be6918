// Figures of surveys: acceptance of one position, and accepted tokens of paths and trees.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include <fmt/format.h>

#include <draftproof/cli/report/page/data.hpp>
#include <draftproof/cli/report/registration.hpp>
#include <draftproof/cli/report/text.hpp>

namespace draftproof::figures {

using namespace page;
using Rows = std::vector<const SurveyedRate*>;

namespace detail {

inline void largest_first(Rows& rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const auto* a, const auto* b) { return a->rate > b->rate; });
}

/// Calls `use(part, title)` for parts of the list of about the same size, none larger than the number of colours. The
/// title is empty for a single part, else " (1 of 2)".
template <class List, class Use>
void in_parts(const List& list, Use use) {
  const std::size_t parts = (list.size() + plots::colours - 1) / plots::colours;
  for (std::size_t part = 0; part < parts; ++part) {
    const std::size_t first = part * list.size() / parts, last = (part + 1) * list.size() / parts;
    use(std::span(list.data() + first, last - first), parts == 1 ? "" : fmt::format(" ({} of {})", part + 1, parts));
  }
}

/// Adds plots of lines over whole numbers, split into parts. `plot` has title and labels; every part also shows `roof`,
/// the upper bound.
inline void add_lines(std::vector<Figure>& figures, const std::string& caption, plots::LinePlot plot,
                      const std::vector<plots::Series>& lines, const plots::Series& roof = {}) {
  plot.x_tick = plots::whole_tick;
  const std::string title = plot.title;
  in_parts(lines, [&](auto part, const std::string& of) {
    plot.title = title + of;
    plot.series = {part.begin(), part.end()};
    if (roof.points.size() > 1) plot.series.push_back(roof);
    figures.push_back({caption, drawn(plot)});
  });
}

/// Returns the point of a row at `x`, with its rate and interval shifted by `plus`.
inline plots::Point point_of(double x, const SurveyedRate& row, double plus) {
  return {x, row.rate + plus, row.low + plus, row.high + plus, {}};
}

/// Adds plots with a line per verifier against the number of drafts, ordered by the last point, highest first. Each
/// plot also shows the optimum as a thick line. `plus` is added to all rates.
inline void add_against_drafts(std::vector<Figure>& figures, const char* caption, plots::LinePlot plot, Rows rows,
                               double plus) {
  std::stable_sort(rows.begin(), rows.end(), [](const auto* a, const auto* b) { return a->drafts < b->drafts; });
  plots::Series roof{.label = "optimum: no lossless scheme is above", .points = {}, .stroke = plots::Stroke::roof};
  std::vector<plots::Series> lines;
  for (const SurveyedRate* row : rows) {
    const auto drafts = static_cast<double>(row->drafts);
    if (row->optimum && (roof.points.empty() || roof.points.back().x < drafts))
      roof.points.push_back({drafts, *row->optimum + plus});
    auto line = std::find_if(lines.begin(), lines.end(), [&](const auto& one) { return one.label == row->verifier; });
    if (line == lines.end()) line = lines.insert(lines.end(), {row->verifier, {}});
    line->points.push_back(point_of(drafts, *row, plus));
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [](const auto& a, const auto& b) { return a.points.back().y > b.points.back().y; });
  plot.x_label = "K, drafts";
  plot.x_ticks = plots::LinePlot::Ticks::at_points_logarithmic;
  add_lines(figures, caption, std::move(plot), lines, roof);
}

}  // namespace detail

// Acceptance against the number of drafts, or as bars if there is only one number of drafts. The optimum is a thick
// line, or a thick stroke across each bar.
struct Acceptance {
  static void add(const Json& data, std::vector<Figure>& figures) {
    for (const SurveyOfSource& survey : surveys_in(data)) {
      Rows alone;  // for each draft sampling with a single lossless scheme, its row with the most drafts
      for (const std::string& distribution : distributions_in(survey)) {
        Rows lossless, others;
        for (const SurveyedRate& rate : survey.rates)
          if (rate.distribution == distribution)
            (rate.lossy() || rate.refuted() ? others : lossless).push_back(&rate);
        const bool one = std::all_of(lossless.begin(), lossless.end(),
                                     [&](const auto* row) { return row->verifier == lossless.front()->verifier; });
        if (one && !lossless.empty())
          alone.push_back(*std::max_element(lossless.begin(), lossless.end(),
                                            [](const auto* a, const auto* b) { return a->drafts < b->drafts; }));
        else
          of_distribution(survey, distribution + " drafts: acceptance of lossless schemes", lossless,
                          "The thick line is the most that any lossless scheme accepts of these drafts. Thin lines "
                          "are intervals; a point above the thick line may be noise of the trials if its interval "
                          "reaches the line.",
                          figures);
        of_distribution(survey, distribution + " drafts: lossy or refuted schemes", others,
                        "A scheme that is not lossless may exceed it.", figures);
      }
      if (!alone.empty())
        bars(survey.source + ": draft samplings with one scheme", survey, alone,
             "Each on the draft sampling that it is written for. A thick stroke is the optimum of that sampling.",
             figures);
    }
  }

 private:
  static std::string unit(const SurveyOfSource& survey) {
    return survey.paths ? "accepted tokens a step" : "acceptance probability";
  }

  static void of_distribution(const SurveyOfSource& survey, const std::string& what, const Rows& rows,
                              const char* caption, std::vector<Figure>& figures) {
    const std::string title = survey.source + ", " + what;
    if (!rows.empty() && !several_drafts(rows))
      bars(title, survey, rows,
           "Thin lines are intervals. A thick stroke is the optimum; a bar beyond it may be noise of the trials if "
           "its interval reaches the stroke.",
           figures);
    else if (!survey.paths)  // for paths PathAcceptance plots block efficiency
      detail::add_against_drafts(figures, caption, {.title = title, .x_label = "", .y_label = unit(survey)}, rows, 0);
  }

  static void bars(const std::string& title, const SurveyOfSource& survey, Rows rows, std::string caption,
                   std::vector<Figure>& figures) {
    detail::largest_first(rows);
    int most = 0;  // The title names this K; a bar of fewer drafts names its own K.
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

// The share of the gap between one draft and the optimum that each lossless scheme closes, at its largest number of
// drafts.
struct GapClosed {
  /// Bars below this value are cut at this value, and bars above 1 are cut at 1; the text gives the value.
  static constexpr double least = -0.5;

  static void add(const Json& data, std::vector<Figure>& figures) {
    for (const SurveyOfSource& survey : surveys_in(data)) {
      auto rows =
          rows_at_most_drafts(survey, [](const auto& row) { return row.closed && !row.lossy() && !row.refuted(); });
      if (rows.empty()) continue;
      std::stable_sort(rows.begin(), rows.end(),
                       [](const auto* a, const auto* b) { return *a->closed > *b->closed; });
      std::multiset<std::string> names;
      for (const auto* row : rows) names.insert(row->verifier);
      plots::BarPlot plot{.title = fmt::format("{}: gap closed", survey.source),
                          .x_label = "from one draft (0 %) to the optimum of the draft sampling (100 %)",
                          .bars = {},
                          .tick = plots::percent_tick,
                          .greatest = 1};
      for (const auto* row : rows)
        plot.bars.push_back(
            {.label = names.count(row->verifier) > 1 ? row->verifier + " " + row->distribution : row->verifier,
             .value = std::clamp(*row->closed, least, 1.0),
             .text = fmt::format("{} K={}", percent_closed(*row->closed, row->within_noise()), row->drafts)});
      figures.push_back(
          {"Each scheme against the optimum of its own draft sampling. Values above 100 % are shown as 100 % if the "
           "interval of the acceptance reaches the optimum: they may be noise of the trials.",
           drawn(plot)});
    }
  }
};

// The optimum of each draft sampling against the number of drafts.
struct Optimum {
  static void add(const Json& data, std::vector<Figure>& figures) {
    for (const Json* source : objects_in(member(data, "sources"))) {
      std::map<std::string, std::map<int, double>> distributions;
      for (const Json* value : objects_in(member(*source, "optimum")))
        if (const auto mean = number_of(*value, "mean"); mean && count_of(*value, "drafts") > 0)
          distributions[text_of(*value, "draft_sampling")][count_of(*value, "drafts")] = *mean;
      plots::LinePlot plot{.title = fmt::format("{}: the optimum of each draft sampling", text_of(*source, "source")),
                           .x_label = "K, drafts",
                           .y_label = "acceptance probability",
                           .x_tick = plots::whole_tick,
                           .x_ticks = plots::LinePlot::Ticks::at_points_logarithmic};
      for (const auto& [distribution, values] : distributions) {
        plots::Series series{distribution, {}};
        for (const auto& [drafts, mean] : values) series.points.push_back({static_cast<double>(drafts), mean});
        plot.series.push_back(std::move(series));
      }
      if (!plot.empty())
        figures.push_back({"The most that any lossless verifier accepts, means over the positions.", drawn(plot)});
    }
  }
};

// How much the acceptance of lossy schemes exceeds the optimum of lossless schemes, against the total variation of
// their output from the target.
struct PriceOfLossiness {
  static void add(const Json& data, std::vector<Figure>& figures) {
    for (const SurveyOfSource& survey : surveys_in(data)) {
      plots::LinePlot plot{.title = fmt::format("{}: the price of lossiness", survey.source),
                           .x_label = "largest total variation from the target in the proofs",
                           .y_label = survey.paths ? "tokens beyond the optimum" : "acceptance beyond the optimum"};
      for (const auto* row :
           rows_at_most_drafts(survey, [](const auto& rate) { return rate.lossy() && rate.optimum; }))
        if (const auto distance = distance_of(data, *row))
          plot.series.push_back({.label = row->name(),
                                 .points = {detail::point_of(*distance, *row, -*row->optimum)},
                                 .stroke = plots::Stroke::points});
      if (!plot.empty())
        figures.push_back(
            {"Right: farther from the target. Up: accepts more than a lossless scheme can. A scheme below 0 accepts "
             "less than the lossless optimum.",
             drawn(plot)});
    }
  }

 private:
  static std::optional<double> distance_of(const Json& data, const SurveyedRate& row) {
    for (const Json* proof : objects_in(member(data, "proofs")))
      if (text_of(*proof, "verifier") == row.verifier && text_of(*proof, "draft_sampling") == row.distribution)
        return number_of(member(*proof, "total_variation"), "largest");
    return std::nullopt;
  }
};

// Acceptance against the optimum at single positions, for surveys that record them; positions with similar optima are
// grouped.
struct PositionLosses {
  static void add(const Json& data, std::vector<Figure>& figures) {
    for (const SurveyOfSource& survey : surveys_in(data))
      for (const std::string& distribution : distributions_in(survey)) {
        auto rows = rows_at_most_drafts(survey, [&](const auto& row) {
          return row.distribution == distribution && !row.refuted() && !row.at_positions.empty();
        });
        detail::largest_first(rows);
        detail::in_parts(rows, [&](auto part, const std::string& of) {
          plots::LinePlot plot{
              .title = fmt::format("{}, {} drafts: where acceptance is lost{}", survey.source, distribution, of),
              .x_label = "optimum at the position",
              .y_label = "acceptance there"};
          double low = 1, high = 0;
          for (const SurveyedRate* row : part) {
            plot.series.push_back({row->name(), grouped(row->at_positions)});
            low = std::min(low, plot.series.back().points.front().x);
            high = std::max(high, plot.series.back().points.back().x);
          }
          if (low < high)
            plot.series.push_back({"the optimum itself", {{low, low}, {high, high}}, plots::Stroke::roof});
          figures.push_back(
              {"Positions in ten groups, from those with the lowest optimum to those with the highest. The distance "
               "below the thick line is the lost acceptance.",
               drawn(plot)});
        });
      }
  }

 private:
  static constexpr std::size_t groups = 10;

  /// Returns for each group the mean optimum and the mean acceptance over its positions.
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
};

// Verifiers of paths: block efficiency against the number of paths, and how many steps reach each depth of the path.
struct PathAcceptance {
  static void add(const Json& data, std::vector<Figure>& figures) {
    for (const SurveyOfSource& survey : surveys_in(data))
      for (const std::string& distribution : distributions_in(survey)) {
        Rows rows;
        for (const SurveyedRate& rate : survey.rates)
          if (survey.paths && rate.distribution == distribution && !rate.refuted()) rows.push_back(&rate);
        if (several_drafts(rows))
          detail::add_against_drafts(
              figures, "Tokens that one call of the target yields: the accepted ones and one more.",
              {.title =
                   fmt::format("{}, {}, L = {}: block efficiency", survey.source, distribution, rows.front()->length),
               .x_label = "",
               .y_label = "emitted tokens a step"},
              rows, 1);
        // Shows the share of steps that accept at least x tokens, against x; a line falls where drafts are rejected.
        auto most = rows_at_most_drafts(survey, [&](const auto& row) {
          return row.distribution == distribution && !row.refuted() && row.reached.size() > 1;
        });
        detail::largest_first(most);
        std::vector<plots::Series> lines;
        for (const SurveyedRate* row : most) {
          lines.push_back({row->name(), {}});
          for (std::size_t place = 0; place < row->reached.size(); ++place)
            lines.back().points.push_back({static_cast<double>(place + 1), row->reached[place]});
        }
        detail::add_lines(
            figures, "Share of steps that accept at least this many drafted tokens.",
            {.title = fmt::format("{}, {}: steps that reach each position", survey.source, distribution),
             .x_label = "position in the path, from 1",
             .y_label = "share of steps",
             .x_ticks = plots::LinePlot::Ticks::at_points},
            lines);
      }
  }
};

// Verifiers of paths on a source that was surveyed at several lengths L: block efficiency against L, at the largest
// number of paths.
struct PathLengths {
  static void add(const Json& data, std::vector<Figure>& figures) {
    std::map<std::pair<std::string, std::string>, std::map<std::string, plots::Series>>
        lines;  // by source and distribution
    for (const SurveyOfSource& survey : surveys_in(data))
      for (const SurveyedRate* row :
           rows_at_most_drafts(survey, [](const auto& rate) { return rate.length > 0 && !rate.refuted(); })) {
        plots::Series& line = lines[{survey.name, row->distribution}][row->verifier];
        line.label = row->name();
        line.points.push_back(detail::point_of(row->length, *row, 1));
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
      detail::add_lines(figures, "Tokens that one call of the target yields, by the length of the drafted paths.",
                        {.title = fmt::format("{}, {}: block efficiency", where.first, where.second),
                         .x_label = "L, drafted tokens of a path",
                         .y_label = "emitted tokens a step",
                         .x_ticks = plots::LinePlot::Ticks::at_points},
                        sorted);
    }
  }
};

}  // namespace draftproof::figures
