#include <draftproof/cli/arguments.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <draftproof/captures/input_error.hpp>

namespace draftproof {
namespace {

namespace fs = std::filesystem;

/// Options whose value is a file that the command writes.
constexpr std::array<std::string_view, 4> written{"output", "checkpoint", "tables", "page"};

/// Options and arguments whose values are no files.
constexpr std::array<std::string_view, 4> no_files{"verifier", "law", "format", "filter"};

bool holds_no_file(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  return type.starts_with("INT") || type.starts_with("UINT") || type.starts_with("FLOAT") || type.empty() ||
         std::find(no_files.begin(), no_files.end(), option.get_single_name()) != no_files.end();
}

/// A word of the command line: the option that it belongs to, and its text.
using Word = std::pair<std::string, std::string>;

void collect(const CLI::App& app, std::vector<Word>& words) {
  for (const CLI::Option* const option : app.get_options())
    if (!holds_no_file(*option))
      for (const std::string& text : option->results()) words.emplace_back(option->get_single_name(), text);
  for (const std::string& text : app.remaining()) words.emplace_back("", text);
  for (const CLI::App* const sub : app.get_subcommands()) collect(*sub, words);
}

bool same_file(const std::string& one, const std::string& other) {
  std::error_code failed;
  if (one.empty() || other.empty()) return false;
  if (fs::equivalent(one, other, failed) && !failed) return fs::is_regular_file(one, failed);
  return fs::weakly_canonical(one, failed) == fs::weakly_canonical(other, failed) && !fs::exists(one, failed);
}

/// The texts in a word that may be a file.
std::vector<std::string> candidates(const std::string& word) {
  std::vector<std::string> found{word};
  for (const char between : {':', ' ', ','})
    for (std::size_t at = word.find(between); at != std::string::npos; at = word.find(between, at + 1)) {
      found.push_back(word.substr(0, at));
      const std::size_t start = at + 1, end = word.find_first_of(" ,", start);
      found.push_back(word.substr(start, end == std::string::npos ? end : end - start));
    }
  return found;
}

}  // namespace

void check_written_files(const CLI::App& app) {
  std::vector<Word> words;
  collect(app, words);
  for (const auto& [option, file] : words) {
    if (std::find(written.begin(), written.end(), option) == written.end()) continue;
    for (const auto& [other, text] : words) {
      if (other == option) continue;
      for (const std::string& part : candidates(text))
        if (same_file(file, part))
          throw InputError(
              {.file = "--" + option,
               .found = in_quotes(file) + ", which " + (other.empty() ? "another argument" : other) + " names too",
               .wanted = "a file of its own"});
    }
  }
}

}  // namespace draftproof
