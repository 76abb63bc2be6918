#include <draftproof/cli/arguments.hpp>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <draftproof/captures/capture.hpp>
#include <draftproof/captures/input_error.hpp>

namespace draftproof {
namespace {

/// Returns `text` as a number; nullopt if any part of it does not belong to the number.
template <class Number>
std::optional<Number> whole(std::string_view text) {
  Number value{};
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> finite(std::string_view text) {
  const auto value = whole<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::string shortest(double value) {
  std::string text = fmt::format("{:.10g}", value);
  std::erase(text, '+');
  return text;
}

std::string complaint(const std::string& text, const std::string& wanted) {
  return fmt::format("got {}, expected {}", in_quotes(text), wanted);
}

/// Returns a validator that accepts the numbers for which inside() holds. `words`, such as "from 1 to 32", describes
/// them in the help and in messages.
CLI::Validator range(const std::string& words, const std::function<bool(double)>& inside) {
  CLI::Validator validator(
      [=](std::string& text) {
        const auto value = finite(text);
        return value && inside(*value) ? std::string() : complaint(text, "a number " + words);
      },
      words, words);
  validator.non_modifying();
  return validator;
}

enum class NumberKind { none, whole, natural, real };

/// Returns the kind of number that an option takes, from the start of its type name in the help: "INT:from 1 to 32".
NumberKind kind_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::string first = type.substr(0, type.find_first_of(":[, "));
  return first == "INT"     ? NumberKind::whole
         : first == "UINT"  ? NumberKind::natural
         : first == "FLOAT" ? NumberKind::real
                            : NumberKind::none;
}

/// Returns the whole number in `text`, which may be written with a power of ten such as 1e6, as decimal digits; nullopt
/// if it is no whole number or does not fit the type Whole.
template <class Whole>
std::optional<std::string> digits(const std::string& text) {
  if (const auto value = whole<Whole>(text)) return std::to_string(*value);
  const auto value = text.find_first_of("eE") == std::string::npos ? std::nullopt : finite(text);
  if (!value || *value != std::floor(*value) || std::abs(*value) > 1e18 ||
      *value < static_cast<double>(std::numeric_limits<Whole>::min()) ||
      *value > static_cast<double>(std::numeric_limits<Whole>::max()))
    return std::nullopt;
  return std::to_string(static_cast<Whole>(*value));
}

void read_strictly(CLI::Option& option) {
  const NumberKind kind = kind_of(option);
  if (kind == NumberKind::none) return;
  std::string wanted = kind == NumberKind::real ? "a number" : "a whole number";
  std::string range;  // the range in words, if the option has one
  try {
    range = option.get_validator(0)->get_name();
  } catch (const CLI::OptionNotFound&) {
  }
  if (!range.empty()) wanted += " " + range;
  if (range.empty() && kind == NumberKind::natural) wanted += " of at least 0";
  std::string below_limit = wanted;  // said of a number that the type cannot hold
  if (kind == NumberKind::natural && wanted.find(" to ") == std::string::npos)
    below_limit += fmt::format(" and at most {}", std::numeric_limits<std::uint64_t>::max());
  CLI::Validator strict(
      [kind, wanted, below_limit](std::string& text) {
        if (kind == NumberKind::real) return finite(text) ? std::string() : complaint(text, wanted);
        const auto read = kind == NumberKind::whole ? digits<int>(text) : digits<std::uint64_t>(text);
        if (!read)
          return complaint(text, text.find_first_not_of("0123456789") == std::string::npos ? below_limit : wanted);
        text = *read;
        return std::string();
      },
      "");
  option.transform(strict);
}

}  // namespace

CLI::Validator between(double least, double most) {
  return range(fmt::format("from {} to {}", shortest(least), shortest(most)),
               [=](double value) { return value >= least && value <= most; });
}

CLI::Validator not_negative() {
  return range("of at least 0", [](double value) { return value >= 0; });
}

CLI::Validator positive() {
  return range("above 0", [](double value) { return value > 0; });
}

void read_numbers_strictly(CLI::App& app) {
  for (CLI::Option* const option : app.get_options()) read_strictly(*option);
  for (CLI::App* const sub : app.get_subcommands([](CLI::App*) { return true; })) read_numbers_strictly(*sub);
}

namespace {

/// Sets whether options of lists of names, and those of lists of numbers, take several words.
void set_lists(CLI::App& app, bool names, bool numbers) {
  for (CLI::Option* const option : app.get_options())
    if (option->get_delimiter() != '\0')
      option->allow_extra_args(kind_of(*option) == NumberKind::none ? names : numbers);
  for (CLI::App* const sub : app.get_subcommands([](CLI::App*) { return true; })) set_lists(*sub, names, numbers);
}

}  // namespace

void parse_words(CLI::App& app, const std::vector<std::string>& words) {
  for (const auto& [names, numbers] : {std::pair{true, true}, {false, true}, {true, false}, {false, false}}) {
    set_lists(app, names, numbers);
    try {
      return app.parse(std::vector(words));
    } catch (const CLI::Success&) {  // a request for help
      throw;
    } catch (const CLI::ParseError&) {
    }
  }
  set_lists(app, true, true);
  app.parse(std::vector(words));
}

namespace {

namespace fs = std::filesystem;

bool holds_no_file(const std::string& type) {
  return type.empty() || type.starts_with("INT") || type.starts_with("UINT") || type.starts_with("FLOAT") ||
         type.starts_with(no_file);
}

/// An argument of an option: the option's name, the text, and whether the text names a file that will be written.
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

/// Returns the parts of an argument that may name a file.
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

/// Whether `part` is a capture whose metadata is in `file`.
bool metadata_is(const std::string& part, const std::string& file) {
  std::error_code failed;
  const fs::path suffix = fs::path(part).extension();
  if ((suffix != ".npz" && suffix != ".npy" && suffix != ".safetensors") || !fs::is_regular_file(part, failed))
    return false;
  const auto metadata = metadata_file(part);
  return metadata && same_file(file, metadata->string());
}

}  // namespace

void check_written_files(const CLI::App& app) {
  std::vector<Word> words;
  collect(app, words);
  for (const auto& [option, file, written] : words) {
    if (!written) continue;
    for (const auto& [other, text, also_written] : words) {
      if (other == option) continue;
      const std::string who = other.empty() ? "another argument" : other;
      for (const std::string& part : candidates(text)) {
        const char* const how = same_file(file, part)     ? "also names"
                                : metadata_is(part, file) ? "reads as the metadata of a capture"
                                                          : nullptr;
        if (how)
          throw InputError({.file = "--" + option,
                            .got = fmt::format("{}, which {} {}", in_quotes(file), who, how),
                            .expected = "a different file"});
      }
    }
  }
}

}  // namespace draftproof
