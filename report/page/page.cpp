#include <draftproof/report/page/page.hpp>

#include <algorithm>

#include <fmt/format.h>

#include <draftproof/report/page/comparison.hpp>
#include <draftproof/report/page/elements.hpp>
#include <draftproof/report/page/records.hpp>
#include <draftproof/report/page/summary.hpp>
#include <draftproof/report/plots/svg.hpp>
#include <draftproof/report/register_figure.hpp>
#include <draftproof/report/text.hpp>

namespace draftproof::page {

namespace {

using plots::escaped;

constexpr std::string_view joined_schema = "draftproof.report/1";
constexpr std::string_view block_start = "<script type=\"application/json\" id=\"draftproof-data\">\n";
constexpr std::string_view block_end = "\n</script>";

/// Rows of a verdict table that are shown without a click; of a longer one only what is not good.
constexpr std::size_t most_rows = 60;

std::string facts_html(const Json& data) {
  std::string out;
  for (const auto& [name, value] : facts_of(data))
    out += "<dt>" + escaped(name) + "</dt><dd>" + escaped(value) + "</dd>\n";
  return out.empty() ? out : "<dl>\n" + out + "</dl>\n";
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
  if (!verdicts.empty()) out += "<p><strong>" + escaped(tally_of(verdicts)) + "</strong></p>\n";
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

/// Every table of the data, folded.
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
  return out + facts_html(result.data) + verdicts_html(result.data) + figures_html(result.data) +
         examples_html(counterexamples_in(result.data)) + records_html(result.data) + "</section>\n";
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

std::optional<std::string_view> data_block(std::string_view text) {
  const std::size_t start = text.rfind(block_start);
  if (start == std::string_view::npos) return std::nullopt;
  const std::size_t from = start + block_start.size(), end = text.find(block_end, from);
  if (end == std::string_view::npos) return std::nullopt;
  return text.substr(from, end - from);
}

}  // namespace draftproof::page
