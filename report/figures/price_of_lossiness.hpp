// Lossy schemes: how far their output is from the target against what they accept beyond the optimum of lossless ones.
#pragma once

#include <fmt/format.h>

#include <draftproof/report/page/survey_data.hpp>
#include <draftproof/report/register_figure.hpp>

namespace draftproof::figures {

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

}  // namespace draftproof::figures
