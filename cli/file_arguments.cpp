#include <draftproof/cli/arguments.hpp>

#include <filesystem>
#include <string>
#include <vector>

#include <draftproof/captures/input_error.hpp>

namespace draftproof {
namespace {

namespace fs = std::filesystem;

bool holds_no_file(const std::string& type) {
  return type.empty() || type.starts_with("INT") || type.starts_with("UINT") || type.starts_with("FLOAT") ||
         type.starts_with(no_file);
}

/// A word of the command line: the option that it belongs to, its text, and whether it names a file to be written.
struct Word {
  std::string option, text;
  bool written = false;
};

void collect(const CLI::App& app, std::vector<Word>& words) {
  for (const CLI::Option* const option : app.get_options())
    if (const std::string type = option->get_type_name(); !holds_no_file(type))
      for (const std::string& text : option->results())
        words.push_back({option->get_single_name(), text, type.starts_with(written_file)});
  for (const std::string& text : app.remaining()) words.push_back({"", text});
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
  for (const auto& [option, file, written] : words) {
    if (!written) continue;
    for (const auto& [other, text, also_written] : words) {
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
