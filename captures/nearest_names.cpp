#include <draftproof/captures/nearest_names.hpp>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace draftproof {
namespace {

/// Returns the Levenshtein distance.
std::size_t edits(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t replaced = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

/// Returns the number of bytes of the character at the beginning of `text`, 0 if the first byte begins no character of
/// UTF-8: overlong forms, surrogates and numbers above U+10FFFF are no characters.
std::size_t character_size(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t size = first >= 0xC2 && first < 0xE0 ? 2 : first >= 0xE0 && first < 0xF0 ? 3 : 4;
  if (first < 0xC2 || first > 0xF4 || text.size() < size) return 0;
  for (std::size_t i = 1; i < size; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  const bool overlong = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xF0 && byte(1) < 0x90);
  const bool beyond = (first == 0xED && byte(1) > 0x9F) || (first == 0xF4 && byte(1) > 0x8F);
  return overlong || beyond ? 0 : size;
}

/// Whether a character of UTF-8 is a control character or ends a line.
bool is_control(std::string_view character) {
  const auto first = static_cast<unsigned char>(character.front());
  const bool c1 = character.size() == 2 && first == 0xC2 && static_cast<unsigned char>(character[1]) < 0xA0;
  return first < 0x20 || first == 0x7F || c1 || character == "\u2028" || character == "\u2029";
}

}  // namespace

std::string one_line(std::string_view text, std::size_t longest) {
  std::string line;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = character_size(text.substr(at)), used = std::max<std::size_t>(size, 1);
    if (at + used > longest) return line + "...";
    const std::string_view character = text.substr(at, used);
    line += size == 0 ? "?" : is_control(character) ? " " : character;
    at += used;
  }
  return line;
}

std::vector<std::string> nearest_names(const std::vector<std::string>& known, std::string_view name) {
  constexpr std::size_t shortest = 3, longest = 60, most = 3;
  if (name.size() < shortest || name.size() > longest) return {};
  std::vector<std::pair<std::size_t, std::string>> found;
  for (const std::string& each : known) {
    const std::size_t away = edits(name, each);
    if (away <= name.size() / 3 || each.find(name) != std::string::npos) found.emplace_back(away, each);
  }
  std::sort(found.begin(), found.end());
  found.resize(std::min(most, found.size()));
  std::vector<std::string> names;
  for (auto& [away, each] : found) names.push_back(std::move(each));
  return names;
}

std::string did_you_mean(const std::vector<std::string>& known, std::string_view name) {
  const std::vector<std::string> meant = nearest_names(known, name);
  return meant.empty() ? "" : fmt::format("; did you mean {}?", fmt::join(meant, " or "));
}

}  // namespace draftproof
