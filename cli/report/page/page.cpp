#include <draftproof/cli/report/page/page.hpp>

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include <draftproof/cli/report/registration.hpp>
#include <draftproof/cli/report/text.hpp>

namespace draftproof::page {

namespace {

using plots::escaped;

/// A verdict table with more rows than this is folded, and only the rows that are not good are shown above it.
constexpr std::size_t most_rows = 60;

/// Returns a cell with the verdict and, beside its colour, a sign.
Cell verdict_cell_of(const std::string& text, Grade grade) {
  return grade == Grade::good    ? Cell{"✓ " + text, Tone::good}
         : grade == Grade::bad   ? Cell{"✗ " + text, Tone::bad}
         : grade == Grade::lossy ? Cell{"≈ " + text}
                                 : Cell{"? " + text, Tone::faint};
}

Grade grade_of_survey(const std::string& verdict) {
  for (const char* good : {"proved", "within", "by its plan"})
    if (begins(verdict, good)) return Grade::good;
  return begins(verdict, "refuted") ? Grade::bad : begins(verdict, "lossy") ? Grade::lossy : Grade::open;
}

/// Returns a table with one row per (verifier, distribution), sorted by distribution and then by acceptance on the
/// first source that has the row.
Table survey_table(const std::vector<SurveyOfSource>& surveys) {
  std::vector<std::pair<std::string, std::string>> order;
  std::map<std::pair<std::string, std::string>, std::vector<const SurveyedRate*>> rates;  // by survey; null: no row
  for (std::size_t s = 0; s < surveys.size(); ++s) {
    auto rows = rows_at_most_drafts(surveys[s], [](const SurveyedRate&) { return true; });
    std::stable_sort(rows.begin(), rows.end(), [](const auto* a, const auto* b) { return a->rate > b->rate; });
    for (const SurveyedRate* row : rows) {
      const auto [at, fresh] = rates.try_emplace({row->distribution, row->verifier}, surveys.size());
      if (fresh) order.push_back(at->first);
      at->second[s] = row;
    }
  }
  std::map<std::string, int> sizes;  // number of schemes by distribution, most schemes first in the table
  for (const auto& [distribution, verifier] : order) ++sizes[distribution];
  std::stable_sort(order.begin(), order.end(), [&](const auto& a, const auto& b) {
    return sizes[a.first] != sizes[b.first] ? sizes[a.first] > sizes[b.first] : a.first < b.first;
  });
  Table table;
  for (const auto& key : order) {
    const auto& found = rates[key];
    const SurveyedRate& first = **std::find_if(found.begin(), found.end(), [](const auto* row) { return row; });
    ResultRow line;
    line.cell("scheme", {key.second}).cell("exact?", verdict_cell_of(first.verdict, grade_of_survey(first.verdict)));
    for (std::size_t s = 0; s < surveys.size(); ++s) {
      const SurveyedRate* row = found[s];
      line.number(
          surveys[s].source + (surveys[s].paths ? ", accepted" : ", acceptance"),
          {row ? fmt::format("{:.4f} ±{:.4f}", row->rate, std::max(row->high - row->rate, row->rate - row->low))
               : "-"});
      line.number("optimum", {row && row->optimum ? fmt::format("{:.4f}", *row->optimum) : "-"});
      if (!surveys[s].paths)
        line.number("gap closed", {row && row->closed ? percent_closed(*row->closed, row->within_noise()) : "-"});
    }
    line.number("K", {std::to_string(first.drafts)}).cell("draft sampling", {key.first});
    table.add(std::move(line));
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

/// Returns the question that the data answers, chosen by the data's schema.
std::string question_of(const Json& data) {
  static const std::map<std::string, std::string> questions{
      {"survey", "Is each scheme exact, and how much does it accept?"},
      {"survey-paths", "Is each scheme of paths and trees exact, and how much does it accept?"},
      {"prove", "Is the output exactly the target's distribution? Proofs in fractions"},
      {"check", "The gate: proofs, edge cases and trials"},
      {"mutants", "Which check catches which known bug?"},
      {"optimum", "How much can any lossless verifier accept?"},
      {"bench", "What does each decision cost?"},
      {"audit", "Is the recording of a running engine right?"},
      {"simulate", "How much does one verifier accept at one position?"},
      {"distribution", "What is the exact distribution of the program?"},
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

/// Returns how often each verdict occurs: "22 proved, 4 lossy".
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

/// Returns names and values that identify the run: sources with vocabulary and positions, settings, then seed and
/// completeness, then version and machine.
std::vector<std::pair<std::string, std::string>> facts_of(const Json& data) {
  std::vector<std::pair<std::string, std::string>> facts;
  if (!data.is_object()) return facts;
  for (const Json* source : objects_in(member(data, "sources")))
    if (const std::string line = source_line(*source); !line.empty())
      facts.emplace_back(text_of(*source, "source"), line);
  for (const auto& [key, value] : data.items())
    if (value.is_primitive() && key != "schema" && key != "seed" && key != "complete") {
      std::string name = key;
      std::replace(name.begin(), name.end(), '_', ' ');
      facts.emplace_back(name, value_text(value));
    }
  if (const Json& seed = member(data, "seed"); seed.is_primitive() && !seed.is_null())
    facts.emplace_back("seed", value_text(seed));
  if (const Json& complete = member(data, "complete"); !complete.is_null())
    facts.emplace_back("complete", complete == false ? "no, stopped early" : "yes");
  for (const char* key : {"run", "context"})
    if (const Json& context = member(data, key); context.is_object())
      for (const auto& [name, value] : context.items())
        if (value.is_primitive()) facts.emplace_back(name, value_text(value));
  return facts;
}

/// Returns a table with one row per scheme: for surveys its exactness, and its acceptance and the optimum for each
/// source at the most drafts; for other data its verdicts.
Table verdict_table(const Json& data, const std::vector<Verdict>& verdicts) {
  if (const auto surveys = surveys_in(data); !surveys.empty()) return survey_table(surveys);
  Table table;
  for (const Verdict& verdict : verdicts) {
    ResultRow row;
    row.cell("scheme", {verdict.subject}).cell("of", {verdict.where});
    row.cell("verdict", verdict_cell_of(verdict.text, verdict.grade)).cell("", {verdict.detail});
    table.add(std::move(row));
  }
  return table;
}

std::string facts_html(const Json& data) {
  std::string out;
  for (const auto& [name, value] : facts_of(data))
    out += "<dt>" + escaped(name) + "</dt><dd>" + escaped(value) + "</dd>\n";
  return out.empty() ? out : "<dl>\n" + out + "</dl>\n";
}

/// Returns one line with the number of schemes of each verdict; empty for a comparison and for data without verdicts.
std::string answer_html(const Json& data) {
  if (begins(text_of(data, "schema"), "draftproof.report.compare/")) return {};
  const auto verdicts = verdicts_in(data);
  return verdicts.empty() ? "" : "<p class=\"answer\"><strong>" + escaped(tally_of(verdicts)) + "</strong></p>\n";
}

std::string verdicts_html(const Json& data) {
  std::string out;
  if (begins(text_of(data, "schema"), "draftproof.report.compare/")) {
    for (const Section& section : sections_of_comparison(data)) {
      out += "<h3>" + escaped(section.title) + "</h3>\n";
      if (!section.table.rows.empty()) out += table_html(section.table);
      for (const std::string& line : section.after) out += "<p>" + escaped(line) + "</p>\n";
    }
    return out;
  }
  const auto verdicts = verdicts_in(data);
  Table table = verdict_table(data, verdicts);
  if (table.rows.empty()) return out;
  out += "<h3>Verdicts</h3>\n";
  if (table.rows.size() <= most_rows) return out + table_html(table);
  const std::string whole = folded("all " + counted(table.rows.size(), "row"), table_html(table));
  std::erase_if(table.rows, [](const auto& row) {
    return std::any_of(row.begin(), row.end(), [](const Cell& cell) { return cell.tone == Tone::good; });
  });
  return out + (table.rows.empty() ? "" : table_html(table)) + whole;
}

std::string figures_html(const Json& data) {
  std::vector<Figure> figures;
  for (const FigureMaker& add : found_figures()) add(data, figures);
  if (figures.empty()) return {};
  std::string out = "<h3>Plots</h3>\n<div class=\"plots\">\n";
  for (const Figure& figure : figures) {
    // A wide picture keeps its size and scrolls inside its frame.
    std::string svg = figure.picture.svg;
    if (figure.wide)
      svg.replace(
          0, 5, fmt::format("<svg width=\"{:.0f}\" height=\"{:.0f}\" ", figure.picture.width, figure.picture.height));
    out += fmt::format("<figure{}><div class=\"frame\">\n{}</div><figcaption>{}</figcaption></figure>\n",
                       figure.wide ? " class=\"wide\"" : "", svg, escaped(figure.caption));
  }
  return out + "</div>\n";
}

/// Returns every table of the data, folded.
std::string records_html(const Json& data) {
  std::string out;
  for (const Records& records : records_in(data)) {
    Table table;
    for (const std::string& column : records.columns) table.columns.push_back({column});
    for (const Json& row : records.rows) {
      std::vector<Cell> cells;
      for (const std::string& column : records.columns) {
        const Json& value = member(row, column.c_str());
        cells.push_back({value.is_null() ? "" : value_text(value)});
      }
      table.rows.push_back(std::move(cells));
    }
    out += folded(fmt::format("{}: {}", records.name, counted(table.rows.size(), "row")), table_html(table));
  }
  return out.empty() ? out : "<h3>Data</h3>\n" + out;
}

std::string result_html(const Result& result) {
  std::string out = "<section>\n<h2>" + escaped(question_of(result.data)) + "</h2>\n";
  if (!result.name.empty()) out += "<p class=\"faint\">" + escaped(result.name) + "</p>\n";
  return out + answer_html(result.data) + facts_html(result.data) + verdicts_html(result.data) +
         figures_html(result.data) + examples_html(counterexamples_in(result.data)) + records_html(result.data) +
         "</section>\n";
}

}  // namespace

std::vector<Section> sections_of_results(const Json& data) {
  std::vector<Section> sections;
  for (const Result& result : results_in(data)) {
    Section section{.title = question_of(result.data)};
    if (!result.name.empty()) section.before.push_back("  " + result.name);
    for (const auto& [name, value] : facts_of(result.data)) section.before.push_back("  " + name + ": " + value);
    section.table = verdict_table(result.data, verdicts_in(result.data));
    sections.push_back(std::move(section));
  }
  return sections;
}

std::string html_page(const Json& data) {
  const auto results = results_in(data);
  const std::string title =
      results.size() == 1 ? question_of(results.front().data) : counted(results.size(), "result");
  std::string out =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" "
      "href=\"data:,\">\n<title>draftproof: " +
      escaped(title) + "</title>\n<style>\n" + page_style() + "</style>\n</head>\n<body>\n<h1>draftproof</h1>\n" +
      "<p class=\"faint\">Speculative decoding: is the output exactly the target's distribution, how much "
      "is accepted, and what does it cost?</p>\n";
  for (const Result& result : results) out += result_html(result);
  out +=
      "<footer><p class=\"faint\">This file holds its data: <code>draftproof report PAGE --json</code> writes it."
      "</p></footer>\n";
  std::string block = data.dump(2, ' ', false, Json::error_handler_t::replace);
  for (std::size_t at = 0; (at = block.find('<', at)) != std::string::npos;) block.replace(at, 1, "\\u003c");
  return out + std::string(block_start) + block + std::string(block_end) + "\n</body>\n</html>\n";
}

}  // namespace draftproof::page
