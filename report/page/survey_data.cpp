#include <draftproof/report/page/survey_data.hpp>

#include <algorithm>
#include <numeric>
#include <set>

#include <fmt/format.h>

namespace draftproof::page {

namespace {

std::optional<SurveyedRate> rate_in(const Json& row) {
  SurveyedRate rate{.verifier = text_of(row, "verifier"),
                    .law = text_of(row, "law"),
                    .verdict = text_of(row, "verdict"),
                    .drafts = count_of(row, "drafts"),
                    .length = count_of(row, "length"),
                    .optimum = number_of(row, "optimum"),
                    .closed = number_of(row, "gap_closed"),
                    .reached = {}};
  const Json& places = member(row, "by_position");
  const Json &tuples = member(places, "tuples"), &accepted = member(places, "accepted"),
             &optimum = member(places, "optimum");
  for (std::size_t i = 0; i < optimum.size() && i < accepted.size() && i < tuples.size(); ++i)
    if (optimum[i].is_number() && accepted[i].is_number() && tuples[i].is_number() && tuples[i] > 0)
      rate.at_positions.emplace_back(optimum[i].get<double>(), accepted[i].get<double>() / tuples[i].get<double>());
  const Json& membership = member(row, "membership");
  if (const auto value = number_of(membership, "rate")) {
    rate.rate = *value;
    rate.low = number_of(membership, "low").value_or(*value);
    rate.high = number_of(membership, "high").value_or(*value);
  } else if (const auto mean = number_of(row, "mean_accepted")) {
    const double half = 1.96 * number_of(row, "standard_error").value_or(0);
    rate.rate = *mean;
    rate.low = *mean - half;
    rate.high = *mean + half;
    std::vector<double> counts;
    for (const Json& count : member(row, "accepted"))
      if (count.is_number()) counts.push_back(count.get<double>());
    const double steps = std::accumulate(counts.begin(), counts.end(), 0.0);
    for (std::size_t i = 1; i < counts.size() && steps > 0; ++i)
      rate.reached.push_back(std::accumulate(counts.begin() + static_cast<std::ptrdiff_t>(i), counts.end(), 0.0) /
                             steps);
  } else {
    return std::nullopt;
  }
  return rate.verifier.empty() || rate.drafts < 1 ? std::nullopt : std::optional(rate);
}

}  // namespace

std::string value_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_null()) return "-";
  if (value.is_number_float()) return fmt::format("{:.6g}", value.get<double>());
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::vector<SurveyOfSource> surveys_in(const Json& data) {
  std::vector<SurveyOfSource> surveys;
  for (const Json* source : objects_in(member(data, "sources"))) {
    SurveyOfSource survey{.source = text_of(*source, "source"), .name = text_of(*source, "source"), .rates = {}};
    for (const Json* row : objects_in(member(*source, "rows")))
      if (auto rate = rate_in(*row)) survey.rates.push_back(std::move(*rate));
    if (survey.rates.empty()) continue;
    survey.paths = survey.rates.front().length > 0;
    surveys.push_back(std::move(survey));
  }
  std::map<std::string, int> surveyed;
  for (const SurveyOfSource& survey : surveys) ++surveyed[survey.name];
  for (SurveyOfSource& survey : surveys)
    if (survey.paths && surveyed[survey.name] > 1)
      survey.source += fmt::format(", L = {}", survey.rates.front().length);
  return surveys;
}

std::vector<std::string> laws_in(const SurveyOfSource& survey) {
  std::vector<std::string> laws;
  std::map<std::string, int> rows;
  for (const SurveyedRate& rate : survey.rates)
    if (++rows[rate.law] == 1) laws.push_back(rate.law);
  std::stable_sort(laws.begin(), laws.end(), [&](const auto& a, const auto& b) { return rows[a] > rows[b]; });
  return laws;
}

std::vector<const SurveyedRate*> rows_at_most_drafts(const SurveyOfSource& survey,
                                                     const std::function<bool(const SurveyedRate&)>& shown) {
  std::vector<const SurveyedRate*> rows;
  for (const SurveyedRate& rate : survey.rates) {
    if (!shown(rate)) continue;
    const auto known = std::find_if(rows.begin(), rows.end(), [&](const SurveyedRate* row) {
      return row->verifier == rate.verifier && row->law == rate.law;
    });
    if (known == rows.end())
      rows.push_back(&rate);
    else if ((*known)->drafts < rate.drafts)
      *known = &rate;
  }
  return rows;
}

bool several_drafts(const std::vector<const SurveyedRate*>& rows) {
  std::map<std::string, int> drafts;
  return std::any_of(rows.begin(), rows.end(), [&](const SurveyedRate* row) {
    return drafts.try_emplace(row->verifier, row->drafts).first->second != row->drafts;
  });
}

std::vector<plots::Picture> lines_against_drafts(const DraftLines& lines, std::vector<const SurveyedRate*> rows) {
  constexpr std::size_t most = plots::colours;
  std::stable_sort(rows.begin(), rows.end(), [](const auto* a, const auto* b) { return a->drafts < b->drafts; });
  plots::Series roof{.label = "optimum: no lossless scheme is above", .points = {}, .stroke = plots::Stroke::roof};
  std::vector<std::string> names;
  std::map<std::string, plots::Series> series;
  for (const SurveyedRate* row : rows) {
    if (const auto best = lines.roof(*row); best && (roof.points.empty() || roof.points.back().x < row->drafts))
      roof.points.push_back({static_cast<double>(row->drafts), *best});
    const auto [at, fresh] = series.try_emplace(row->verifier, plots::Series{row->verifier, {}});
    if (fresh) names.push_back(row->verifier);
    at->second.points.push_back(
        {static_cast<double>(row->drafts), lines.y(*row), lines.low(*row), lines.high(*row), {}});
  }
  std::stable_sort(names.begin(), names.end(), [&](const auto& a, const auto& b) {
    return series[a].points.back().y > series[b].points.back().y;
  });
  std::vector<plots::Picture> pictures;
  const std::size_t parts = (names.size() + most - 1) / most;
  for (std::size_t part = 0; part < parts; ++part) {
    plots::LinePlot plot{
        .title = parts == 1 ? lines.title : fmt::format("{} ({} of {})", lines.title, part + 1, parts),
        .x_label = "K, drafts",
        .y_label = lines.y_label,
        .x_tick = plots::whole_tick,
        .x_ticks = plots::LinePlot::Ticks::at_points_logarithmic};
    const std::size_t first = part * names.size() / parts, last = (part + 1) * names.size() / parts;
    for (std::size_t i = first; i < last; ++i) plot.series.push_back(series[names[i]]);
    if (roof.points.size() > 1) plot.series.push_back(roof);
    pictures.push_back(drawn(plot));
  }
  return pictures;
}

}  // namespace draftproof::page
