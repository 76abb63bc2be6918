#include <draftproof/cli/report/page/data.hpp>

#include <algorithm>
#include <fstream>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include <draftproof/captures/input_error.hpp>

namespace draftproof::page {

namespace {

constexpr std::string_view joined_schema = "draftproof.report/2";

[[noreturn]] void refuse_result(const std::string& file, std::string found) {
  throw InputError({.file = file,
                    .got = std::move(found),
                    .expected = "a result written by `draftproof COMMAND --json` or `--format html`"});
}

/// Returns the bytes of a file, which may be a pipe. Throws InputError if it cannot be read, as a folder, or does not
/// end within 1 GiB, as a device.
std::string bytes_of(const std::string& file) {
  constexpr std::size_t most = std::size_t{1} << 30, step = std::size_t{1} << 20;
  std::ifstream in(file, std::ios::binary);
  if (!in) refuse_result(file, "a file that cannot be read");
  std::string text;
  while (in && text.size() <= most) {
    const std::size_t before = text.size();
    text.resize(before + step);
    in.read(text.data() + before, static_cast<std::streamsize>(step));
    text.resize(before + static_cast<std::size_t>(in.gcount()));
  }
  if (in.bad()) refuse_result(file, "a file that cannot be read");
  if (text.size() > most) refuse_result(file, fmt::format("more than {} bytes", most));
  return text;
}

}  // namespace

Json joined(std::vector<Result> results) {
  if (results.size() == 1) return std::move(results.front().data);
  Json data{{"schema", joined_schema}, {"results", Json::array()}};
  for (Result& result : results) data["results"].push_back({{"name", result.name}, {"data", std::move(result.data)}});
  return data;
}

std::vector<Result> results_in(const Json& data) {
  if (text_of(data, "schema") != joined_schema) return {{"", data}};
  std::vector<Result> results;
  for (const Json* result : objects_in(member(data, "results")))
    results.push_back({text_of(*result, "name"), member(*result, "data")});
  return results;
}

std::optional<std::string_view> data_block(std::string_view text) {
  const std::size_t start = text.rfind(block_start);
  if (start == std::string_view::npos) return std::nullopt;
  const std::size_t from = start + block_start.size(), end = text.find(block_end, from);
  if (end == std::string_view::npos) return std::nullopt;
  return text.substr(from, end - from);
}

Json read_result(const std::string& file) {
  constexpr int deepest = 64;
  const std::string text = bytes_of(file);
  std::string_view body = text;
  const std::size_t first = body.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) refuse_result(file, "an empty file");
  if (body[first] == '<') {
    const auto block = data_block(body);
    if (!block) refuse_result(file, "a page without draftproof data");
    body = *block;
  }
  bool deep = false;
  const auto watch = [&deep](int depth, Json::parse_event_t, Json&) {
    deep = deep || depth > deepest;
    return !deep;
  };
  Json data;
  try {
    data = Json::parse(body, watch);
  } catch (const Json::parse_error& error) {
    refuse_result(file, fmt::format("text that is not JSON from byte {} on", error.byte));
  } catch (const Json::exception& error) {
    refuse_result(file, std::string("a value that cannot be read: ").append(without_identifier(error.what())));
  }
  if (deep) refuse_result(file, fmt::format("JSON nested deeper than {} levels", deepest));
  const std::string schema = text_of(data, "schema");
  if (!data.is_object() || schema.empty()) refuse_result(file, "JSON without a schema");
  if (!begins(schema, "draftproof.")) refuse_result(file, "schema " + in_quotes(schema));
  if (data.size() == 1) refuse_result(file, "a schema and nothing else");
  return data;
}

namespace {

bool is_study(const Json& data) { return begins(text_of(data, "schema"), "draftproof.study."); }

bool lists_objects(const Json& value) { return value.is_array() && !value.empty() && value.front().is_object(); }

/// Adds the scalars of `object` and of the objects in it; lists of objects become separate tables.
void flatten(const Json& object, const std::string& prefix, Json& row) {
  for (const auto& [key, value] : object.items()) {
    if (value.is_object())
      flatten(value, prefix + key + ".", row);
    else if (!lists_objects(value))
      row[prefix + key] = value;
  }
}

/// Returns the members of an element that identify it; the rows of its nested lists repeat these members. Of a study,
/// whose elements have no fixed members, these are all scalars.
Json names_of(const Json& parent, bool study) {
  Json names = Json::object();
  if (study) {
    for (const auto& [key, value] : parent.items())
      if (value.is_primitive()) names[key] = value;
    return names;
  }
  for (const char* key : {"level", "source", "verifier", "mutant", "draft_sampling", "tier", "with"})
    if (const Json& value = member(parent, key); value.is_string()) names[key] = value;
  return names;
}

void add_table(const std::string& name, const Json& list, const Json& names, bool study,
               std::vector<Records>& tables) {
  for (const Json* element : objects_in(list)) {
    auto table = std::find_if(tables.begin(), tables.end(), [&](const Records& known) { return known.name == name; });
    if (table == tables.end()) table = tables.insert(tables.end(), {name, {}, {}});
    Json row = names;
    flatten(*element, "", row);
    table->rows.push_back(std::move(row));
    Json below = names;
    below.update(names_of(*element, study));
    for (const auto& [key, value] : element->items())
      if (lists_objects(value)) add_table(name + "." + key, value, below, study, tables);
  }
}

}  // namespace

std::vector<Records> records_in(const Json& data) {
  std::vector<Records> tables;
  if (!data.is_object()) return tables;
  for (const auto& [key, value] : data.items())
    if (lists_objects(value)) add_table(key, value, Json::object(), is_study(data), tables);
  for (Records& table : tables)
    for (const Json& row : table.rows)
      for (const auto& item : row.items())
        if (std::find(table.columns.begin(), table.columns.end(), item.key()) == table.columns.end())
          table.columns.push_back(item.key());
  return tables;
}

Records main_records(const Json& data) {
  auto tables = records_in(data);
  std::size_t chosen = 0;
  for (const char* name : {"sources.optimum", "sources.rows"})
    for (std::size_t i = 0; i < tables.size(); ++i)
      if (tables[i].name == name) chosen = i;
  for (std::size_t i = 0; is_study(data) && i < tables.size(); ++i)
    if (tables[i].rows.size() > tables[chosen].rows.size()) chosen = i;
  Records found = tables.empty() ? Records{} : std::move(tables[chosen]);
  if (member(data, "complete") != false) return found;
  found.columns.emplace_back("complete");
  if (found.rows.empty()) found.rows.push_back(Json::object());
  for (Json& row : found.rows) row["complete"] = false;
  return found;
}

namespace {

Grade grade_of(const std::string& text) {
  for (const char* good : {"proved", "passed", "caught", "within", "not accused"})
    if (begins(text, good)) return Grade::good;
  for (const char* bad : {"refuted", "failed", "not caught", "accused"})
    if (begins(text, bad)) return Grade::bad;
  return begins(text, "lossy") ? Grade::lossy : Grade::open;
}

/// The name of a list of verdicts in the data, their kind, and the names of the members with the subject of a verdict,
/// its draft sampling or tier, its findings, and the property or check of a finding.
struct JudgedList {
  const char *list, *kind, *subject, *where, *findings, *property;
};
constexpr JudgedList judged_lists[] = {{"proofs", "proof", "verifier", "draft_sampling", "findings", "property"},
                                       {"gates", "gate", "verifier", "tier", "findings", "check"},
                                       {"mutants", "mutant", "mutant", "with", "shown", "check"},
                                       {"controls", "control", "verifier", "draft_sampling", "", ""}};

/// Returns the verdict on an element of a JudgedList, and its details.
std::pair<std::string, std::string> judgement_of(const Json& one, const std::string& kind) {
  if (kind == "proof") {
    std::string detail = fmt::format("{} instances", count_of(one, "instances"));
    if (const auto distance = number_of(member(one, "total_variation"), "largest"); distance && *distance > 0)
      detail += fmt::format(", total variation to {:.4f}", *distance);
    return {text_of(one, "verdict"), detail};
  }
  if (kind == "gate") {
    const auto findings = objects_in(member(one, "findings"));
    const auto passed = std::count_if(findings.begin(), findings.end(),
                                      [](const Json* finding) { return text_of(*finding, "status") == "passed"; });
    return {text_of(one, "status"), fmt::format("{} of {} checks passed", passed, findings.size())};
  }
  if (kind == "mutant")
    return {member(one, "caught") == true ? "caught" : "not caught", text_of(member(one, "first"), "check")};
  const std::string accuser = text_of(one, "accused_by");
  return {accuser.empty() ? "not accused" : "accused", accuser};
}

/// Appends the finding if it failed, or if it has a counterexample and did not pass.
void take(const Json& finding, const char* property, const std::string& subject, const std::string& where,
          bool expected, std::vector<Counterexample>& found) {
  const std::string status = text_of(finding, "status"), instance = text_of(finding, "counterexample");
  if (status == "passed" || status == "skipped" || (instance.empty() && status != "failed")) return;
  found.push_back({subject, where, text_of(finding, property), instance, text_of(finding, "evidence"),
                   text_of(finding, "replay"), expected});
}

}  // namespace

std::vector<VerdictReader>& found_verdict_readers() {
  static std::vector<VerdictReader> all;
  return all;
}

std::vector<Verdict> verdicts_in(const Json& data) {
  std::vector<Verdict> verdicts;
  const auto add = [&](const char* kind, std::string subject, std::string where, std::string text,
                       std::string detail) {
    const Grade grade = grade_of(text);
    verdicts.push_back({kind, std::move(subject), std::move(where), std::move(text), grade, std::move(detail)});
  };
  for (const JudgedList& judged : judged_lists)
    for (const Json* one : objects_in(member(data, judged.list))) {
      auto [text, detail] = judgement_of(*one, judged.kind);
      if (text.empty() && judged.kind == std::string("gate")) continue;  // a gate that was listed but not run
      add(judged.kind, text_of(*one, judged.subject), text_of(*one, judged.where), std::move(text),
          std::move(detail));
    }
  for (const Json* source : objects_in(member(data, "sources")))
    for (const Json* row : objects_in(member(*source, "rows")))
      if (row->contains("policy"))
        add("policy", text_of(*row, "policy"), text_of(*source, "source") + ", " + text_of(*row, "verifier"),
            text_of(*row, "verdict"), "");
  if (data.is_object() && data.contains("log10_threshold"))
    add("audit", text_of(data, "engine"), text_of(data, "trace"), text_of(data, "status"), "");
  for (const VerdictReader& reader : found_verdict_readers()) reader(data, verdicts);
  return verdicts;
}

std::vector<Counterexample> counterexamples_in(const Json& data) {
  std::vector<Counterexample> found;
  for (const JudgedList& judged : judged_lists)
    for (const Json* one : objects_in(member(data, judged.list))) {
      const Json& findings = member(*one, judged.findings);
      const bool mutant = judged.kind == std::string("mutant"),
                 expected = mutant || text_of(*one, "verdict") == "lossy";
      const auto all = mutant ? std::vector{&findings} : objects_in(findings);
      for (const Json* finding : all)
        take(*finding, judged.property, text_of(*one, judged.subject), text_of(*one, judged.where), expected, found);
    }
  if (const Json& example = member(data, "example"); example.is_object())
    take(example, "check", text_of(example, "bug"), "planted bug", true, found);
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.expected < b.expected; });
  return found;
}

namespace {

std::optional<SurveyedRate> rate_in(const Json& row) {
  SurveyedRate rate{.verifier = text_of(row, "verifier"),
                    .distribution = text_of(row, "draft_sampling"),
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
  const Json& emitted = member(row, "draft_emitted");
  if (const auto value = number_of(emitted, "rate")) {
    rate.rate = *value;
    rate.low = number_of(emitted, "low").value_or(*value);
    rate.high = number_of(emitted, "high").value_or(*value);
  } else if (const auto mean = number_of(row, "mean_accepted")) {
    const auto error = number_of(row, "standard_error");
    rate.rate = *mean;
    rate.low = error ? *mean - 1.96 * *error : 0;  // one trial has no error
    rate.high = error ? *mean + 1.96 * *error : rate.length;
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

std::vector<std::string> distributions_in(const SurveyOfSource& survey) {
  std::vector<std::string> distributions;
  std::map<std::string, int> rows;
  for (const SurveyedRate& rate : survey.rates)
    if (++rows[rate.distribution] == 1) distributions.push_back(rate.distribution);
  std::stable_sort(distributions.begin(), distributions.end(),
                   [&](const auto& a, const auto& b) { return rows[a] > rows[b]; });
  return distributions;
}

std::vector<const SurveyedRate*> rows_at_most_drafts(const SurveyOfSource& survey,
                                                     const std::function<bool(const SurveyedRate&)>& shown) {
  std::vector<const SurveyedRate*> rows;
  for (const SurveyedRate& rate : survey.rates) {
    if (!shown(rate)) continue;
    const auto known = std::find_if(rows.begin(), rows.end(), [&](const SurveyedRate* row) {
      return row->verifier == rate.verifier && row->distribution == rate.distribution;
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

}  // namespace draftproof::page
