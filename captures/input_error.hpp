// The exception for invalid input: a file, a row or a setting. The message has the location, the value that was found
// and the value that was expected. The command line turns it into exit code 2.
#pragma once

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include <draftproof/captures/nearest_names.hpp>

namespace draftproof {

/// The location of a fault, the value found and the value expected. `file` may also be a source specification or the
/// name of an option.
struct InputFault {
  std::string file;
  std::string array = {};                 // empty if the fault is not inside one array
  std::optional<std::size_t> row = {};    // 0-based
  std::optional<std::size_t> token = {};  // 0-based column, also in a truncated row
  std::string got = {};
  std::string expected = {};
};

/// The message is `FILE: ARRAY, row R, token T: got X, expected Y`, without the parts that do not apply.
class InputError : public std::runtime_error {
 public:
  explicit InputError(InputFault fault) : std::runtime_error(message(fault)), fault_(std::move(fault)) {}

  const InputFault& fault() const noexcept { return fault_; }

 private:
  static std::string message(const InputFault& fault) {
    std::string place = fault.array;
    const auto append = [&place](std::string_view word, std::optional<std::size_t> number) {
      if (number) place += (place.empty() ? "" : ", ") + std::string(word) + std::to_string(*number);
    };
    append("row ", fault.row);
    append("token ", fault.token);
    return fault.file + ": " + place + (place.empty() ? "" : ": ") + "got " + fault.got + ", expected " +
           fault.expected;
  }

  InputFault fault_;
};

/// Returns the message of an exception of the JSON library without the identifier in brackets before it.
inline std::string_view without_identifier(std::string_view message) {
  const std::size_t end = message.starts_with("[json.exception.") ? message.find("] ") : std::string_view::npos;
  return end == std::string_view::npos ? message : message.substr(end + 2);
}

/// Returns `text` with `?` for control characters except line feeds and tabs, so that a name or the content of a file
/// cannot control the terminal that shows an error.
inline std::string without_control_characters(std::string text) {
  for (char& character : text) {
    const auto byte = static_cast<unsigned char>(character);
    if ((byte < ' ' && character != '\n' && character != '\t') || byte == 0x7F) character = '?';
  }
  return text;
}

/// Returns `text` in double quotes, as one line of at most 60 bytes (one_line of nearest_names.hpp).
inline std::string in_quotes(std::string_view text) { return "\"" + one_line(text, 60) + "\""; }

}  // namespace draftproof
