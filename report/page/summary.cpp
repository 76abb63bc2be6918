#include <draftproof/report/page/summary.hpp>

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include <draftproof/report/page/elements.hpp>
#include <draftproof/report/page/survey_data.hpp>
#include <draftproof/report/text.hpp>

namespace draftproof::page {

namespace {

Grade grade_of_survey(const std::string& verdict) {
  for (const char* good : {"proved", "within", "by its plan"})
    if (begins(verdict, good)) return Grade::good;
  return begins(verdict, "refuted") ? Grade::bad : begins(verdict, "lossy") ? Grade::lossy : Grade::open;
}

/// One row a (verifier, law), by law and then by the acceptance on the first source that has it.
Table survey_table(const std::vector<SurveyOfSource>& surveys) {
  Table table{.columns = {{"scheme"}, {"draft law"}, {"K", true}, {"exact?"}}, .rows = {}};
  std::vector<std::pair<std::string, std::string>> order;
  std::map<std::pair<std::string, std::string>, std::vector<const SurveyedRate*>> cells;
  for (std::size_t s = 0; s < surveys.size(); ++s) {
    table.columns.push_back({surveys[s].source + (surveys[s].paths ? ", accepted" : ", acceptance"), true});
    table.columns.push_back({"optimum", true});
    if (!surveys[s].paths) table.columns.push_back({"gap closed", true});
    auto rows = rows_at_most_drafts(surveys[s], [](const SurveyedRate&) { return true; });
    std::stable_sort(rows.begin(), rows.end(), [](const auto* a, const auto* b) { return a->rate > b->rate; });
    for (const SurveyedRate* row : rows) {
      const std::pair key(row->law, row->verifier);
      const auto [at, fresh] = cells.try_emplace(key, surveys.size());
      if (fresh) order.push_back(key);
      at->second[s] = row;
    }
  }
  std::vector<std::string> laws;  // the law with the most schemes first
  std::map<std::string, int> sizes;
  for (const auto& [law, verifier] : order) ++sizes[law];
  std::stable_sort(order.begin(), order.end(), [&](const auto& a, const auto& b) {
    return sizes[a.first] != sizes[b.first] ? sizes[a.first] > sizes[b.first] : a.first < b.first;
  });
  for (const auto& key : order) {
    const auto& rows = cells[key];
    const SurveyedRate& first =
        **std::find_if(rows.begin(), rows.end(), [](const auto* row) { return row != nullptr; });
    std::vector<Cell> line{{key.second},
                           {key.first},
                           {std::to_string(first.drafts)},
                           verdict_cell_of(first.verdict, grade_of_survey(first.verdict))};
    for (std::size_t s = 0; s < surveys.size(); ++s) {
      const SurveyedRate* row = rows[s];
      line.push_back(
          {row ? fmt::format("{:.4f} ±{:.4f}", row->rate, std::max(row->high - row->rate, row->rate - row->low))
               : "-"});
      line.push_back({row && row->optimum ? fmt::format("{:.4f}", *row->optimum) : "-"});
      if (!surveys[s].paths) line.push_back({row && row->closed ? fmt::format("{:.0f} %", 100 * *row->closed) : "-"});
    }
    table.rows.push_back(std::move(line));
  }
  return table;
}

std::string source_line(const Json& source) {
  const Json& about = member(source, "about");
  std::string line;
  const auto add = [&line](const std::string& part) { line += (line.empty() ? "" : ", ") + part; };
  for (const Json* where : {&source, &about})
    if (const int vocabulary = count_of(*where, "vocabulary"); vocabulary > 0) {
      add("V = " + grouped(static_cast<std::uint64_t>(vocabulary)));
      break;
    }
  for (const Json* where : {&source, &about})
    if (const int positions = count_of(*where, "positions"); positions > 0) {
      add(counted(static_cast<std::uint64_t>(positions), "position"));
      break;
    }
  for (const Json& proposal : member(about, "proposals")) add("proposal " + value_text(proposal));
  if (const std::string target = text_of(member(about, "metadata"), "target"); !target.empty())
    add("target: " + target);
  if (const std::string file = text_of(about, "file"); !file.empty()) add(file);
  if (member(source, "complete") == false) add("stopped early");
  return line;
}

}  // namespace

std::string question_of(const Json& data) {
  static const std::map<std::string, std::string> questions{
      {"survey", "Is each scheme exact, and how much does it accept?"},
      {"survey-paths", "Is each scheme of paths and trees exact, and how much does it accept?"},
      {"prove", "Is the output exactly the target's law? Proofs in fractions"},
      {"check", "The gate: proofs, edge cases and trials"},
      {"mutants", "Which check catches which known bug?"},
      {"optimum", "How much can any lossless verifier accept?"},
      {"bench", "What does each decision cost?"},
      {"audit", "Is the recording of a running engine right?"},
      {"simulate", "How much does one verifier accept at one position?"},
      {"law", "What is the exact law of the program?"},
      {"demo", "What is exact, and what do the tests catch?"},
      {"report.compare", "What changed between two runs?"}};
  std::string name = text_of(data, "schema");
  if (begins(name, "draftproof.")) name = name.substr(std::string("draftproof.").size());
  name = name.substr(0, name.find('/'));
  if (const auto at = questions.find(name); at != questions.end()) return at->second;
  if (begins(name, "study."))
    return "Published figures, computed again: " + name.substr(std::string("study.").size());
  return name.empty() ? "Result" : "Result of draftproof " + name;
}

std::string tally_of(const std::vector<Verdict>& verdicts) {
  std::vector<std::pair<std::string, int>> counts;
  for (const Verdict& verdict : verdicts) {
    auto at =
        std::find_if(counts.begin(), counts.end(), [&](const auto& known) { return known.first == verdict.text; });
    if (at == counts.end()) at = counts.insert(counts.end(), {verdict.text, 0});
    ++at->second;
  }
  std::string text;
  for (const auto& [word, count] : counts) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, word);
  return text;
}

std::vector<std::pair<std::string, std::string>> facts_of(const Json& data) {
  std::vector<std::pair<std::string, std::string>> facts;
  if (!data.is_object()) return facts;
  for (const Json* source : objects_in(member(data, "sources")))
    if (const std::string line = source_line(*source); !line.empty())
      facts.emplace_back(text_of(*source, "source"), line);
  for (const auto& [key, value] : data.items())
    if (key == "complete") {
      facts.emplace_back(key, value == false ? "no, stopped early" : "yes");
    } else if (value.is_primitive() && key != "schema") {
      std::string name = key;
      std::replace(name.begin(), name.end(), '_', ' ');
      facts.emplace_back(name, value_text(value));
    }
  for (const char* key : {"run", "context"})
    if (const Json& context = member(data, key); context.is_object())
      for (const auto& [name, value] : context.items())
        if (value.is_primitive()) facts.emplace_back(name, value_text(value));
  return facts;
}

Table verdict_table(const Json& data, const std::vector<Verdict>& verdicts) {
  if (const auto surveys = surveys_in(data); !surveys.empty()) return survey_table(surveys);
  Table table;
  if (verdicts.empty()) return table;
  table.columns = {{"scheme"}, {"of"}, {"verdict"}, {""}};
  for (const Verdict& verdict : verdicts)
    table.rows.push_back(
        {{verdict.subject}, {verdict.where}, verdict_cell_of(verdict.text, verdict.grade), {verdict.detail}});
  return table;
}

}  // namespace draftproof::page
