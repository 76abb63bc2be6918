#include <draftproof/cli/report/page/page.hpp>

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include <draftproof/captures/input_error.hpp>
#include <draftproof/cli/report/text.hpp>

namespace draftproof::page {

namespace {

/// Verdicts by key, in the order of the data; if several verdicts have one key, the worst is kept.
struct KeyedVerdicts {
  std::vector<std::string> order;
  std::map<std::string, Verdict> by_key;

  explicit KeyedVerdicts(const Json& data) {
    for (const Result& result : results_in(data))
      for (Verdict& verdict : verdicts_in(result.data)) {
        const std::string key = verdict.key();
        const auto [at, fresh] = by_key.try_emplace(key, verdict);
        if (fresh) order.push_back(key);
        if (at->second.grade < verdict.grade) at->second = std::move(verdict);
      }
  }
};

/// Returns the counterexample of a verdict in one line; "" if it has none.
std::string example_of(const Json& data, const Verdict& verdict) {
  for (const Result& result : results_in(data))
    for (const Counterexample& example : counterexamples_in(result.data))
      if (example.subject == verdict.subject && example.where == verdict.where)
        return fmt::format("{} on {}: {}; {}", example.property, example.instance, example.evidence, example.replay);
  return {};
}

std::map<std::string, SurveyedRate> rates_in(const Json& data) {
  std::map<std::string, SurveyedRate> rates;
  for (const Result& result : results_in(data))
    for (const SurveyOfSource& survey : surveys_in(result.data))
      for (const SurveyedRate& rate : survey.rates) {
        std::string name =
            fmt::format("{}, {}, {}, K = {}", rate.verifier, survey.name, rate.distribution, rate.drafts);
        if (survey.paths) name += fmt::format(", L = {}", rate.length);
        while (!rates.try_emplace(name, rate).second) name += ", again";  // equal names are compared in their order
      }
  return rates;
}

Json rate_data(const SurveyedRate& rate) { return {{"rate", rate.rate}, {"low", rate.low}, {"high", rate.high}}; }

void compare_verdicts(const Json& before, const Json& after, Comparison& comparison) {
  const KeyedVerdicts old_ones(before), new_ones(after);
  auto& data = comparison.document.data;
  int same = 0;
  const auto add = [&](const Verdict& verdict, const std::string& was, const std::string& is, const char* change) {
    Json entry{
        {"kind", verdict.kind}, {"subject", verdict.subject}, {"where", verdict.where}, {"old", was}, {"new", is},
        {"change", change}};
    if (verdict.grade == Grade::bad && !is.empty())
      if (const std::string example = example_of(after, verdict); !example.empty()) entry["counterexample"] = example;
    data["verdicts"].push_back(std::move(entry));
  };
  for (const std::string& key : old_ones.order) {
    const Verdict& was = old_ones.by_key.at(key);
    const auto is = new_ones.by_key.find(key);
    if (is == new_ones.by_key.end()) {
      add(was, was.text, "", "gone");
      ++comparison.gone;
    } else if (is->second.grade != was.grade) {
      const bool worse = is->second.grade > was.grade;
      comparison.worse += worse;
      add(is->second, was.text, is->second.text, worse ? "worse" : "better");
    } else {
      ++same;
    }
  }
  for (const std::string& key : new_ones.order) {
    if (old_ones.by_key.contains(key)) continue;
    const Verdict& is = new_ones.by_key.at(key);
    add(is, "", is.text, "new");
  }
  static const std::map<std::string, int> place{{"worse", 0}, {"gone", 1}, {"better", 2}, {"new", 3}};
  std::stable_sort(data["verdicts"].begin(), data["verdicts"].end(), [](const Json& a, const Json& b) {
    return place.at(text_of(a, "change")) < place.at(text_of(b, "change"));
  });
  data["same_verdicts"] = same;
}

void compare_rates(const Json& before, const Json& after, Comparison& comparison) {
  Json& data = comparison.document.data;
  const auto new_rates = rates_in(after);
  int same = 0, gone = 0;
  for (const auto& [name, was] : rates_in(before)) {
    const auto found = new_rates.find(name);
    if (found == new_rates.end()) {
      data["acceptance"].push_back({{"row", name}, {"old", rate_data(was)}, {"change", "gone"}});
      ++gone;
      continue;
    }
    const SurveyedRate& is = found->second;
    if (is.low <= was.high && was.low <= is.high) {
      ++same;
      continue;
    }
    data["acceptance"].push_back({{"row", name},
                                  {"old", rate_data(was)},
                                  {"new", rate_data(is)},
                                  {"change", is.rate > was.rate ? "more" : "less"}});
  }
  data["same_acceptance"] = same;
  data["gone_acceptance"] = gone;
  comparison.gone += gone;
}

/// Adds reasons other than the verifiers for which two results may differ: a run that was interrupted, and values in
/// the description of a source, such as a temperature.
void compare_requests(const Result& before, const Result& after, Json& data) {
  Json& differences = data["differences"] = Json::array();
  for (const Result* of : {&before, &after})
    for (const Result& result : results_in(of->data))
      if (member(result.data, "complete") == false) differences.push_back(of->name + " was interrupted");
  // Sources of equal names are compared in their order, as their rates are.
  const auto abouts = [](const Json& joined_data) {
    std::map<std::string, std::vector<Json>> all;
    for (const Result& result : results_in(joined_data))
      for (const Json* source : objects_in(member(result.data, "sources")))
        all[text_of(*source, "source")].push_back(member(*source, "about"));
    return all;
  };
  auto known = abouts(before.data);
  for (const auto& [name, found] : abouts(after.data))
    for (std::size_t i = 0; i < std::min(found.size(), known[name].size()); ++i) {
      const Json &was = known[name][i], &now = found[i];
      if (!was.is_object() || !now.is_object()) continue;
      const Json old_parts = was.flatten(), new_parts = now.flatten();
      Json parts = old_parts;
      parts.update(new_parts);
      for (const auto& part : parts.items()) {
        const Json &is = member(new_parts, part.key().c_str()), &old = member(old_parts, part.key().c_str());
        if (is != old)
          differences.push_back(
              fmt::format("{}: {} was {}, is {}", name, part.key().substr(1), value_text(old), value_text(is)));
      }
    }
}

/// Throws: InputError if a result has nothing that is compared, unless it was interrupted.
void require_comparable(const Result& result) {
  const auto results = results_in(result.data);
  if (std::any_of(results.begin(), results.end(), [](const Result& one) {
        return !verdicts_in(one.data).empty() || !surveys_in(one.data).empty() || one.data.contains("benchmarks") ||
               member(one.data, "complete") == false;
      }))
    return;
  throw InputError(
      {.file = result.name,
       .got = in_quotes(text_of(results.empty() ? result.data : results.front().data, "schema")) +
              " without verdicts, surveyed acceptance and benchmarks",
       .expected = "a result of prove, check, mutants, survey, survey-paths, survey-policies, audit or bench"});
}

}  // namespace

std::vector<CostComparison>& found_cost_comparisons() {
  static std::vector<CostComparison> all;
  return all;
}

Comparison compare(const Result& before, const Result& after) {
  require_comparable(before);
  require_comparable(after);
  Comparison comparison;
  auto& data = comparison.document.data;
  data = {{"schema", "draftproof.report.compare/1"},
          {"old", before.name},
          {"new", after.name},
          {"verdicts", Json::array()},
          {"acceptance", Json::array()},
          {"cost", Json::array()}};
  compare_verdicts(before.data, after.data, comparison);
  data["gone"] = comparison.gone;
  compare_rates(before.data, after.data, comparison);
  compare_requests(before, after, data);
  for (const CostComparison& costs : found_cost_comparisons())
    for (const CostChange& change : costs(before.data, after.data))
      data["cost"].push_back({{"benchmark", change.name},
                              {"old", change.before},
                              {"new", change.after},
                              {"change", change.slower ? "slower" : "faster"}});
  data["worse"] = comparison.worse;
  comparison.document.sections = sections_of_comparison(data);
  return comparison;
}

std::vector<Section> sections_of_comparison(const Json& data) {
  const auto change_of = [](const Json& entry) -> Cell {
    const std::string change = text_of(entry, "change");
    return {change, change == "worse" || change == "gone"    ? Tone::bad
                    : change == "better" || change == "more" ? Tone::good
                                                             : Tone::plain};
  };
  const auto interval = [](const Json& rate) -> Cell {
    if (!rate.is_object()) return {};
    return {fmt::format("{:.4f} ({:.4f} to {:.4f})", number_of(rate, "rate").value_or(0),
                        number_of(rate, "low").value_or(0), number_of(rate, "high").value_or(0))};
  };
  const auto text = [](const Json& entry, const char* key) -> Cell { return {text_of(entry, key)}; };
  Section verdicts{.title = fmt::format("Verdicts: {} worse, {} gone, {} the same", count_of(data, "worse"),
                                        count_of(data, "gone"), count_of(data, "same_verdicts")),
                   .before = {fmt::format("  {} -> {}", text_of(data, "old"), text_of(data, "new"))}};
  for (const Json& difference : member(data, "differences")) verdicts.before.push_back("  " + value_text(difference));
  for (const Json* entry : objects_in(member(data, "verdicts"))) {
    ResultRow row;
    row.cell("scheme", text(*entry, "subject")).cell("of", text(*entry, "where"));
    row.cell("old", text(*entry, "old")).cell("new", text(*entry, "new")).cell("change", change_of(*entry));
    verdicts.table.add(std::move(row));
    if (const std::string example = text_of(*entry, "counterexample"); !example.empty())
      verdicts.after.push_back(fmt::format("  {}: {}", text_of(*entry, "subject"), example));
  }
  Section rates{.title = "Acceptance beyond both intervals, or without a new measurement"};
  for (const Json* entry : objects_in(member(data, "acceptance"))) {
    ResultRow row;
    row.cell("row", text(*entry, "row")).number("old", interval(member(*entry, "old")));
    row.number("new", interval(member(*entry, "new"))).cell("change", change_of(*entry));
    rates.table.add(std::move(row));
  }
  rates.after = {
      fmt::format("  {} within their intervals",
                  counted(static_cast<std::uint64_t>(std::max(count_of(data, "same_acceptance"), 0)), "row"))};
  Section costs{.title = "Cost beyond noise"};
  for (const Json* entry : objects_in(member(data, "cost"))) {
    ResultRow row;
    row.cell("benchmark", text(*entry, "benchmark")).number("old", text(*entry, "old"));
    row.number("new", text(*entry, "new")).cell("change", text(*entry, "change"));
    costs.table.add(std::move(row));
  }
  std::vector<Section> sections{std::move(verdicts), std::move(rates)};
  if (!costs.table.rows.empty()) sections.push_back(std::move(costs));
  return sections;
}

}  // namespace draftproof::page
