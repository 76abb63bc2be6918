#include <draftproof/cli/report/page/page.hpp>

#include <charconv>
#include <iterator>
#include <numeric>
#include <optional>
#include <sstream>

#include <fmt/format.h>

#include <draftproof/cli/report/plots/plots.hpp>
#include <draftproof/cli/report/text.hpp>

namespace draftproof::page {

namespace {

using plots::escaped;
using Words = std::vector<std::string>;

std::optional<std::uint64_t> whole(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

/// Returns a fraction in lowest terms: "1/2" for "2/4"; unchanged if a number exceeds 64 bits.
std::string reduced(const std::string& above, const std::string& below) {
  const auto a = whole(above), b = whole(below);
  if (!a || !b || *b == 0) return above + "/" + below;
  if (*a == 0) return "0";
  const std::uint64_t divisor = std::gcd(*a, *b);
  return *a == *b ? "1" : fmt::format("{}/{}", *a / divisor, *b / divisor);
}

/// Returns the words in the parentheses after `name`, searched from `at` on, and moves `at` behind them.
std::optional<Words> list_after(const std::string& text, const std::string& name, std::size_t& at) {
  const std::size_t open = text.find(name + "(", at);
  const std::size_t close = open == std::string::npos ? open : text.find(')', open);
  if (close == std::string::npos) return std::nullopt;
  at = close + 1;
  std::istringstream words(text.substr(open + name.size() + 1, close - open - name.size() - 1));
  return Words(std::istream_iterator<std::string>(words), {});
}

/// Returns the distribution "p=(1 1)/2" in reduced fractions, searched from `at` on, and moves `at` behind it.
std::optional<Words> distribution_after(const std::string& text, const std::string& name, std::size_t& at) {
  auto counts = list_after(text, name + "=", at);
  if (!counts || at >= text.size() || text[at] != '/') return std::nullopt;
  const std::size_t end = std::min(text.find_first_of(" ]", at), text.size());
  const std::string below = text.substr(at + 1, end - at - 1);
  for (std::string& count : *counts) count = reduced(count, below);
  at = end;
  return counts;
}

/// Returns `text` escaped, with <wbr> where a narrow page may break a name.
std::string breakable(const std::string& text) {
  std::string result;
  for (const char character : escaped(text)) {
    result += character;
    if (character == '_' || character == '=' || character == ':') result += "<wbr>";
  }
  return result;
}

}  // namespace

std::vector<WorkedTable> worked_tables(const Counterexample& example) {
  std::vector<WorkedTable> tables;
  const std::string& text = example.instance;
  std::size_t evidence_at = 0;
  const auto got = list_after(example.evidence, "got ", evidence_at);
  const auto wanted = list_after(example.evidence, "expected ", evidence_at);
  for (std::size_t at = 0, before = 0;; before = at) {
    const auto p = distribution_after(text, "p", at);
    if (!p) break;
    const std::size_t start = text.find("p=", before);
    const auto q = distribution_after(text, "q", at);
    if (!q || q->size() != p->size()) return {};
    WorkedTable worked{.caption = text.substr(before, start - before), .table = {}};
    const bool outcome = tables.empty() && got && wanted && got->size() == p->size() && wanted->size() == p->size();
    for (std::size_t x = 0; x < p->size(); ++x) {
      ResultRow row;
      row.number("token", {std::to_string(x)}).number("target p", {(*p)[x]}).number("proposal q", {(*q)[x]});
      if (outcome) {
        const bool same = (*got)[x] == (*wanted)[x];
        row.number("got", {(*got)[x] + (same ? "" : " ≠"), same ? Tone::plain : Tone::bad});
        row.number("expected", {(*wanted)[x]});
      }
      worked.table.add(std::move(row));
    }
    tables.push_back(std::move(worked));
  }
  if (!tables.empty())
    if (const std::size_t drafts = text.rfind("K="); drafts != std::string::npos && tables.size() == 1)
      tables.back().caption += text.substr(drafts, text.find(' ', drafts) - drafts);
  return tables;
}

std::string page_style() {
  return plots::colour_style(":root") + plots::plot_style() + R"css(*{box-sizing:border-box}
body{margin:0 auto;max-width:1680px;padding:20px 24px 48px;background:var(--paper);color:var(--ink);
  font:15px/1.5 system-ui,"DejaVu Sans",sans-serif;overflow-wrap:anywhere}
h1{font-size:25px;line-height:1.25;margin:0 0 4px}
h2{font-size:20px;margin:36px 0 6px;padding-top:14px;border-top:2px solid var(--ink)}
h3{font-size:16px;margin:26px 0 8px}
h4{font-size:14px;margin:0 0 6px;font-family:ui-monospace,"DejaVu Sans Mono",monospace}
p{margin:4px 0;max-width:80ch}
strong{font-size:16px}
.faint,figcaption,dt{color:var(--faint)}
dl{display:grid;grid-template-columns:max-content 1fr;gap:1px 14px;margin:8px 0}
dd{margin:0}
.scroll{overflow-x:auto;margin:6px 0}
td wbr{display:none}
table{border-collapse:collapse;overflow-wrap:normal;font-size:13.5px}
th,td{padding:3px 12px 3px 0;text-align:left;border-bottom:1px solid var(--grid);white-space:nowrap;vertical-align:top}
th{color:var(--faint);font-weight:600;white-space:normal;vertical-align:bottom}
th.num,td.num{padding:3px 14px 3px 4px;text-align:right;font-variant-numeric:tabular-nums}
.good{color:var(--good)}
.bad{color:var(--bad);font-weight:600}
.plots{column-width:400px;column-gap:14px}
figure{break-inside:avoid;margin:0 0 14px;padding:8px;background:var(--panel);border-radius:6px;min-width:0}
figure.wide{column-span:all}
figure.wide .frame{overflow-x:auto}
figcaption{font-size:12.5px;line-height:1.4;padding:0 4px}
svg.plot{display:block;width:100%;max-width:600px;height:auto;margin:0 auto}
figure.wide svg.plot{width:auto;max-width:none;margin:0}
.examples{display:grid;align-items:start;gap:14px;grid-template-columns:repeat(auto-fill,minmax(min(100%,400px),1fr))}
.example{padding:10px 12px;background:var(--panel);border-left:3px solid var(--bad);border-radius:4px;min-width:0}
.example.expected{border-color:var(--grid)}
code{font:12.5px/1.45 ui-monospace,"DejaVu Sans Mono",monospace}
code.line{display:block;white-space:pre-wrap;margin-top:6px;padding:6px 8px;background:var(--paper);border-radius:4px}
details{margin:8px 0}
summary{cursor:pointer;color:var(--faint)}
@media (max-width:700px){
  body{padding:12px 10px 32px}
  figure{padding:4px 0}
  dl{grid-template-columns:1fr}
  dt{margin-top:4px}
  table{font-size:12.5px}
  th,td,th.num,td.num{padding:3px 8px 3px 0}
  td:first-child{white-space:normal}
  td:first-child wbr{display:inline}
}
@page{size:A4;margin:14mm 12mm}
@media print{
  body{max-width:none;padding:0;font-size:10pt}
  h2,h3,h4{break-after:avoid}
  .example,tr{break-inside:avoid}
  .plots{columns:2}
  .examples{grid-template-columns:1fr 1fr;gap:8px}
  .scroll,figure.wide .frame{overflow:visible}
  table{font-size:7.4pt}
  td wbr{display:inline}
  th,td{white-space:normal}
  th,td,th.num,td.num{padding:2px 5px 2px 0}
  td.num,td:nth-child(2){white-space:nowrap}
  details:not([open]){display:none}
  figure.wide svg.plot{width:100%;max-height:255mm}
}
)css";
}

std::string table_html(const Table& table) {
  const auto open = [&](const char* name, std::size_t column, Tone tone) {
    const std::string classes =
        std::string(table.columns[column].numeric ? "num " : "") + (tone == Tone::good    ? "good"
                                                                    : tone == Tone::bad   ? "bad"
                                                                    : tone == Tone::faint ? "faint"
                                                                                          : "");
    return classes.empty() ? fmt::format("<{}>", name) : fmt::format("<{} class=\"{}\">", name, classes);
  };
  std::string out = "<div class=\"scroll\"><table>\n<thead><tr>";
  for (std::size_t c = 0; c < table.columns.size(); ++c)
    out += open("th", c, Tone::plain) + breakable(table.columns[c].title) + "</th>";
  out += "</tr></thead>\n<tbody>\n";
  for (const auto& row : table.rows) {
    out += "<tr>";
    for (std::size_t c = 0; c < row.size(); ++c) out += open("td", c, row[c].tone) + breakable(row[c].text) + "</td>";
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

std::string folded(const std::string& summary, const std::string& content) {
  return "<details><summary>" + escaped(summary) + "</summary>\n" + content + "</details>\n";
}

std::string example_html(const Counterexample& example) {
  std::string out = fmt::format("<article class=\"example{}\">\n<h4>{}{}</h4>\n", example.expected ? " expected" : "",
                                escaped(example.subject), example.where.empty() ? "" : escaped(", " + example.where));
  if (!example.property.empty()) out += "<p><code>" + escaped(example.property) + "</code> does not hold</p>\n";
  const auto tables = worked_tables(example);
  for (const WorkedTable& worked : tables) {
    if (!worked.caption.empty()) out += "<p>" + escaped(worked.caption) + "</p>\n";
    out += table_html(worked.table);
  }
  if (tables.empty() && !example.instance.empty()) out += "<p><code>" + escaped(example.instance) + "</code></p>\n";
  if (!example.evidence.empty()) out += "<p>" + escaped(example.evidence) + "</p>\n";
  if (!example.replay.empty()) out += "<code class=\"line\">" + escaped(example.replay) + "</code>\n";
  return out + "</article>\n";
}

std::string examples_html(const std::vector<Counterexample>& examples) {
  std::string open, expected;
  std::size_t count = 0;
  for (const Counterexample& example : examples) {
    (example.expected ? expected : open) += example_html(example);
    count += example.expected;
  }
  std::string out;
  if (!open.empty()) out += "<h3>Counterexamples</h3>\n<div class=\"examples\">\n" + open + "</div>\n";
  if (!expected.empty())
    out += folded(counted(count, "counterexample") + " of mutants and of schemes that are lossy by design",
                  "<div class=\"examples\">\n" + expected + "</div>\n");
  return out;
}

}  // namespace draftproof::page
