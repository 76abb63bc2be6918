// The exception for invalid input: a file, a row or a setting. The message has the location, the value that was found
// and the value that was expected. The command line turns it into exit code 2.
#pragma once

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

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

/// Returns `text` in double quotes, cut at 60 bytes; unprintable bytes become `?`.
inline std::string in_quotes(std::string_view text) {
  constexpr std::size_t longest = 60;
  std::string result = "\"";
  for (const char character : text.substr(0, longest)) {
    const bool printable = character >= ' ' && character <= '~';
    result += printable ? character : '?';
  }
  return result + (text.size() > longest ? "...\"" : "\"");
}

}  // namespace draftproof
