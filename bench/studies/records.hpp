// The results of a study as records: each record is both a row of a printed table and an object of the data. Published
// numbers are a `Reference`; `Checks` counts the comparisons of a study.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <draftproof/bench/studies/study.hpp>
#include <draftproof/captures/input_error.hpp>
#include <draftproof/optimum/exact/rational.hpp>

namespace draftproof {

/// One value of a record: a cell under the heading of its column, a value under its key, or both.
struct Field {
  Column column{};
  Cell cell{};
  std::string key{};
  nlohmann::ordered_json value{};
  bool shown = true;

  Field& marked(bool good) {
    if (!good) cell.tone = Tone::bad;
    return *this;
  }
};

/// Returns a field with a number, aligned at the right of its column.
template <class Number>
Field number(std::string_view title, std::string_view key, Number value, std::string_view format = "{}") {
  return {{std::string(title), true}, {fmt::format(fmt::runtime(format), value)}, std::string(key), value};
}
/// Returns a field with a word, aligned at the left.
inline Field word(std::string_view title, std::string_view key, std::string_view text) {
  return {{std::string(title)}, {std::string(text)}, std::string(key), text};
}
/// Returns a field that is in the table only: cell() aligns the text at the right of its column, note() at the left.
inline Field cell(std::string_view title, std::string_view text) {
  return {.column = {std::string(title), true}, .cell = {std::string(text)}};
}
inline Field note(std::string_view title, std::string_view text) {
  return {.column = {std::string(title)}, .cell = {std::string(text)}};
}
/// Returns a note with `yes` if a comparison passed, else with `no`.
inline Field verdict(std::string_view title, bool passed, std::string_view yes = "agrees",
                     std::string_view no = "differs") {
  return note(title, passed ? yes : no).marked(passed);
}
/// Returns a field that is in the data only.
inline Field datum(std::string_view key, nlohmann::ordered_json value) {
  return {.key = std::string(key), .value = std::move(value), .shown = false};
}

/// A table and an array of the data with the same rows. The first record gives the columns.
struct Records {
  Section section{};
  std::vector<nlohmann::ordered_json> rows{};

  void add(const std::vector<Field>& record) {
    nlohmann::ordered_json row = nlohmann::ordered_json::object();
    std::vector<Cell> cells;
    for (const Field& field : record) {
      if (!field.key.empty()) row[field.key] = field.value;
      if (!field.shown) continue;
      if (section.table.rows.empty()) section.table.columns.push_back(field.column);
      cells.push_back(field.cell);
    }
    if (!row.empty()) rows.push_back(std::move(row));
    if (!cells.empty()) section.table.rows.push_back(std::move(cells));
  }

  /// Appends the rows to an array of the data, and the table to the document.
  void write(Document& document, nlohmann::ordered_json& data, std::string_view key) {
    for (auto& row : rows) data[std::string(key)].push_back(std::move(row));
    document.sections.push_back(std::move(section));
  }
};

/// A published number; computed values are compared with its printed digits.
struct Reference {
  std::string_view text{};  ///< decimal such as "0.9389", or fraction; empty: nothing to compare

  double value() const {
    double number = NAN;
    const char* const end = text.data() + text.size();
    const char* const slash = std::from_chars(text.data(), end, number).ptr;
    if (slash == end) return number;
    double denominator = NAN;
    std::from_chars(slash + 1, end, denominator);
    return number / denominator;
  }
  bool decimal() const { return text.find('.') != std::string_view::npos; }
  /// Whether `computed`, with an error of at most `error`, rounds to the printed digits. Requires that the text is not
  /// a fraction.
  bool agrees(double computed, double error = 0) const {
    const auto digits = decimal() ? static_cast<int>(text.size() - text.find('.') - 1) : 0;
    return text.empty() || std::abs(computed - value()) <= 0.5 * std::pow(10.0, -digits) + error;
  }
  /// Whether `computed` equals the fraction, or agrees with the decimal.
  bool matches(const Rational& computed, double error) const {
    if (text.empty() || decimal()) return agrees(static_cast<double>(computed), error);
    return computed == Rational(std::string(text));
  }
};

/// The comparisons of a study: counts them and stores the first failures with their numbers.
class Checks {
 public:
  /// Checks value <= limit, up to `tolerance` of rounding; a NaN fails. `what()` names the comparison if it fails.
  template <class What>
  void at_most(double value, double limit, double tolerance, What&& what) {
    ++checked_;
    if (value <= limit + tolerance) return;
    if (++failed_ <= kept) violations_.push_back(fmt::format("{}: {:.12g} > {:.12g}", what(), value, limit));
  }
  /// Checks a condition, counted as 0 or 1.
  template <class What>
  void holds(bool condition, What&& what) {
    at_most(condition ? 0 : 1, 0, 0, what);
  }

  bool passed() const { return failed_ == 0; }

  /// Adds the outcome to a result: `passed`, the key "checks", and a section at the end.
  void report(StudyResult& result, const std::string& about) const {
    result.expect(passed());
    result.document.data["checks"] = {{"about", about},
                                      {"checked", checked_},
                                      {"failed", failed_},
                                      {"violations", nlohmann::ordered_json(violations_)}};
    Section section{.title = "checks",
                    .before = {"  " + about, fmt::format("  {} comparisons, {} failed", checked_, failed_)}};
    for (const std::string& text : violations_) section.before.push_back("    " + text);
    result.document.sections.push_back(std::move(section));
  }

 private:
  static constexpr std::uint64_t kept = 10;
  std::uint64_t checked_ = 0, failed_ = 0;
  std::vector<std::string> violations_;
};

/// Throws: InputError if the option for effort is above `most`.
inline void limit_effort(const StudyOptions& options, std::uint64_t most, const std::string& wanted) {
  if (options.effort > most)
    throw InputError({.file = "--effort", .got = std::to_string(options.effort), .expected = wanted});
}

}  // namespace draftproof
