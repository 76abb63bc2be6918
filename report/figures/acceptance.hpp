// Acceptance against the number of drafts, or as bars where there is one number, with the optimum as the roof.
#pragma once

#include <algorithm>

#include <fmt/format.h>

#include <draftproof/report/page/survey_data.hpp>
#include <draftproof/report/plots/bar_plot.hpp>
#include <draftproof/report/register_figure.hpp>

namespace draftproof::figures {

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

}  // namespace draftproof::figures
