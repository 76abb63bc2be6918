#include <draftproof/cli/arguments.hpp>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include <draftproof/captures/input_error.hpp>

namespace draftproof {
namespace {

/// The whole of `text` as a number of that type.
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
  return fmt::format("found {}, wanted {}", in_quotes(text), wanted);
}

/// A range as "from 1 to 32"; the words are the validator's name and those of the help.
CLI::Validator range(std::string words, bool (*inside)(double, double, double), double least, double most) {
  CLI::Validator validator(
      [=](std::string& text) {
        const auto value = finite(text);
        return value && inside(*value, least, most) ? std::string() : complaint(text, "a number " + words);
      },
      words, words);
  validator.non_modifying();
  return validator;
}

enum class NumberKind { none, whole, natural, real };

/// The kind of number of an option, by the start of what its help shows: "INT:from 1 to 32".
NumberKind kind_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::string first = type.substr(0, type.find_first_of(":[, "));
  return first == "INT"     ? NumberKind::whole
         : first == "UINT"  ? NumberKind::natural
         : first == "FLOAT" ? NumberKind::real
                            : NumberKind::none;
}

/// The decimal digits of a whole number of type Whole, also where `text` has a power of ten.
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
  std::string range;  // the words of a range, if there is one
  try {
    range = option.get_validator(0)->get_name();
  } catch (const CLI::OptionNotFound&) {
  }
  if (!range.empty()) wanted += " " + range;
  if (range.empty() && kind == NumberKind::natural) wanted += " of at least 0";
  CLI::Validator strict(
      [kind, wanted](std::string& text) {
        if (kind == NumberKind::real) return finite(text) ? std::string() : complaint(text, wanted);
        const auto read = kind == NumberKind::whole ? digits<int>(text) : digits<std::uint64_t>(text);
        if (!read) return complaint(text, wanted);
        text = *read;
        return std::string();
      },
      "");
  option.transform(strict);
}

}  // namespace

CLI::Validator between(double least, double most) {
  return range(
      fmt::format("from {} to {}", shortest(least), shortest(most)),
      [](double value, double a, double b) { return value >= a && value <= b; }, least, most);
}

CLI::Validator not_negative() {
  return range(
      "of at least 0", [](double value, double, double) { return value >= 0; }, 0, 0);
}

CLI::Validator positive() {
  return range(
      "above 0", [](double value, double, double) { return value > 0; }, 0, 0);
}

void read_numbers_strictly(CLI::App& app) {
  for (CLI::Option* const option : app.get_options()) read_strictly(*option);
  for (CLI::App* const sub : app.get_subcommands([](CLI::App*) { return true; })) read_numbers_strictly(*sub);
}

}  // namespace draftproof
