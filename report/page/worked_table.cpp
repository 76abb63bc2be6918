#include <draftproof/report/page/worked_table.hpp>

#include <charconv>
#include <numeric>
#include <optional>

#include <fmt/format.h>

namespace draftproof::page {

namespace {

using Words = std::vector<std::string>;

Words words_of(std::string_view text) {
  Words words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    if (end > at) words.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

std::optional<std::uint64_t> whole(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

/// "2/4" as "1/2"; the text itself where a number is beyond 64 bits.
std::string reduced(const std::string& above, const std::string& below) {
  const auto a = whole(above), b = whole(below);
  if (!a || !b || *b == 0) return above + "/" + below;
  if (*a == 0) return "0";
  const std::uint64_t divisor = std::gcd(*a, *b);
  return *a == *b ? "1" : fmt::format("{}/{}", *a / divisor, *b / divisor);
}

/// The words in the parentheses after `name`, from `at` on, and the position after them.
std::optional<Words> list_after(const std::string& text, const std::string& name, std::size_t& at) {
  const std::size_t open = text.find(name + "(", at);
  const std::size_t close = open == std::string::npos ? open : text.find(')', open);
  if (close == std::string::npos) return std::nullopt;
  at = close + 1;
  return words_of(std::string_view(text).substr(open + name.size() + 1, close - open - name.size() - 1));
}

/// The law "p=(1 1)/2" in reduced fractions, from `at` on.
std::optional<Words> law_after(const std::string& text, const std::string& name, std::size_t& at) {
  auto counts = list_after(text, name + "=", at);
  if (!counts || at >= text.size() || text[at] != '/') return std::nullopt;
  const std::size_t end = std::min(text.find_first_of(" ]", at), text.size());
  const std::string below = text.substr(at + 1, end - at - 1);
  for (std::string& count : *counts) count = reduced(count, below);
  at = end;
  return counts;
}

}  // namespace

std::vector<WorkedTable> worked_tables(const Counterexample& example) {
  std::vector<WorkedTable> tables;
  const std::string& text = example.instance;
  std::size_t evidence_at = 0;
  const auto got = list_after(example.evidence, "got ", evidence_at);
  const auto wanted = list_after(example.evidence, "wanted ", evidence_at);
  for (std::size_t at = 0, before = 0;; before = at) {
    const auto p = law_after(text, "p", at);
    if (!p) break;
    const std::size_t start = text.find("p=", before);
    const auto q = law_after(text, "q", at);
    if (!q || q->size() != p->size()) return {};
    WorkedTable worked{.caption = text.substr(before, start - before), .table = {}};
    const bool outcome = tables.empty() && got && wanted && got->size() == p->size() && wanted->size() == p->size();
    worked.table.columns = {{"token", true}, {"target p", true}, {"proposal q", true}};
    if (outcome) {
      worked.table.columns.push_back({"came out", true});
      worked.table.columns.push_back({"should have", true});
    }
    for (std::size_t x = 0; x < p->size(); ++x) {
      std::vector<Cell> row{{std::to_string(x)}, {(*p)[x]}, {(*q)[x]}};
      if (outcome) {
        const bool same = (*got)[x] == (*wanted)[x];
        row.push_back({(*got)[x] + (same ? "" : " ≠"), same ? Tone::plain : Tone::bad});
        row.push_back({(*wanted)[x]});
      }
      worked.table.rows.push_back(std::move(row));
    }
    tables.push_back(std::move(worked));
  }
  if (!tables.empty())
    if (const std::size_t drafts = text.rfind("K="); drafts != std::string::npos && tables.size() == 1)
      tables.back().caption += text.substr(drafts, text.find(' ', drafts) - drafts);
  return tables;
}

}  // namespace draftproof::page
