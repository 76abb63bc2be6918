#include <draftproof/properties/proof/finding.hpp>

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

namespace draftproof {

std::string_view to_text(Status status) {
  constexpr std::array<std::string_view, 4> names{"passed", "failed", "undecided", "skipped"};
  return names[static_cast<std::size_t>(status)];
}

std::string in_shell_quotes(std::string_view text) {
  std::string result = "'";
  for (const char character : text) result += character == '\'' ? "'\\''" : std::string(1, character);
  return result + "'";
}

std::string replay_line(std::string_view verb, std::string_view subject,
                        std::initializer_list<std::pair<std::string_view, std::string>> options) {
  const auto is_plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-';
  };
  std::string line = fmt::format("{} {}", program_name(), verb);
  if (!subject.empty()) line += fmt::format(" {}", subject);
  for (const auto& [option, value] : options) {
    if (value.empty()) continue;
    const bool quoted = !std::all_of(value.begin(), value.end(), is_plain);
    line += fmt::format(" {}{} {}", option.size() == 1 ? "-" : "--", option, quoted ? in_shell_quotes(value) : value);
  }
  return line;
}

}  // namespace draftproof
