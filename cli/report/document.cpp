#include <draftproof/cli/report/text.hpp>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <draftproof/cli/report/registration.hpp>

namespace draftproof {

std::vector<Writer>& found_writers() {
  static std::vector<Writer> all;
  return all;
}

std::vector<page::FigureMaker>& page::found_figures() {
  static std::vector<FigureMaker> all;
  return all;
}

ResultRow& ResultRow::data(const char* key, nlohmann::ordered_json value) {
  record[key] = std::move(value);
  return *this;
}

ResultRow& ResultRow::cell(std::string title, Cell cell) {
  columns.push_back({std::move(title)});
  cells.push_back(std::move(cell));
  return *this;
}

ResultRow& ResultRow::number(std::string title, Cell cell) {
  columns.push_back({std::move(title), true});
  cells.push_back(std::move(cell));
  return *this;
}

ResultRow& ResultRow::text(const char* key, std::string title, Cell value) {
  data(key, value.text);
  return cell(std::move(title), std::move(value));
}

ResultRow& ResultRow::count(const char* key, std::string title, std::uint64_t value) {
  return data(key, value).number(std::move(title), {grouped(value)});
}

ResultRow& ResultRow::fixed(const char* key, std::string title, std::optional<double> value, int digits) {
  data(key, value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json());
  return number(std::move(title), {value ? fmt::format("{:.{}f}", *value, digits) : "-"});
}

void Table::add(ResultRow row) {
  if (columns.empty()) columns = std::move(row.columns);
  rows.push_back(std::move(row.cells));
}

void Table::add(nlohmann::ordered_json& records, ResultRow row) {
  records.push_back(std::move(row.record));
  add(std::move(row));
}

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char byte) { return (byte & 0xC0) != 0x80; }));
}

std::string padded(std::string_view text, std::size_t width, bool right) {
  const std::size_t own = display_width(text);
  const std::string spaces(width > own ? width - own : 0, ' ');
  return right ? spaces + std::string(text) : std::string(text) + spaces;
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines{""};
  std::size_t used = 0, word_start = 0;
  const auto add = [&](std::string_view word) {
    const std::size_t length = display_width(word);
    if (used > 0 && used + 1 + length > width) {
      lines.emplace_back();
      used = 0;
    }
    if (used > 0) {
      lines.back() += ' ';
      ++used;
    }
    for (const char byte : word) {
      const bool begins = (byte & 0xC0) != 0x80;
      if (begins && used == width) {
        lines.emplace_back();
        used = 0;
      }
      lines.back() += byte;
      used += begins;
    }
  };
  for (std::size_t end = text.find(' '); end != text.npos; end = text.find(' ', word_start)) {
    add(text.substr(word_start, end - word_start));
    word_start = end + 1;
  }
  add(text.substr(word_start));
  return lines;
}

std::string grouped(std::uint64_t value) {
  std::string digits = std::to_string(value);
  for (auto i = std::ssize(digits) - 3; i > 0; i -= 3) digits.insert(static_cast<std::size_t>(i), ",");
  return digits;
}

std::string percent_closed(double share, bool within_noise) {
  return fmt::format("{:.0f} %", 100 * (within_noise ? std::min(share, 1.0) : share));
}

std::string with_error(double mean, double standard_error) {
  return std::isnan(standard_error) ? fmt::format("{:.4f}", mean)
                                    : fmt::format("{:.4f} ±{:.4f}", mean, standard_error);
}

std::string counted(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", grouped(count), noun, count == 1 ? "" : "s");
}

}  // namespace draftproof
