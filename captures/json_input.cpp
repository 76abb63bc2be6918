#include <draftproof/captures/json_input.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <draftproof/captures/array.hpp>

namespace draftproof {

nlohmann::json parse_json_object(std::string_view text, const std::string& file) {
  using json = nlohmann::json;
  std::vector<std::set<std::string>> keys;  // the keys read so far in each open object, outermost first
  const auto guard = [&](int depth, json::parse_event_t event, json& parsed) {
    const bool opens = event == json::parse_event_t::object_start || event == json::parse_event_t::array_start;
    if (opens && depth >= deepest_json)
      throw file_error(file, fmt::format("JSON nested deeper than {} levels", deepest_json), "plain metadata");
    if (event == json::parse_event_t::object_start) keys.emplace_back();
    if (event == json::parse_event_t::object_end) keys.pop_back();
    if (event == json::parse_event_t::key && !keys.back().insert(parsed.get<std::string>()).second)
      throw file_error(file, "JSON with the key " + in_quotes(parsed.get<std::string>()) + " twice in one object",
                       "each key once");
    return true;
  };
  json parsed;
  try {
    parsed = json::parse(text.begin(), text.end(), guard);
  } catch (const json::parse_error& error) {
    // The message of nlohmann::json may quote much of the text before the error.
    const std::size_t end = std::min(error.byte, text.size()), begin = end - std::min<std::size_t>(end, 24);
    const std::string_view near = text.substr(begin, 32);
    const std::string_view at = text.substr(end - std::min<std::size_t>(end, 1));  // begins with the last letter read
    const bool number = at.starts_with("NaN") || at.starts_with("Infinity");
    throw file_error(file,
                     fmt::format("no JSON: {} at byte {}, near {}", in_quotes(without_identifier(error.what())),
                                 error.byte, in_quotes(near)),
                     number ? "a JSON object; JSON has no NaN or infinity" : "a JSON object");
  } catch (const json::exception& error) {
    // The message of nlohmann::json quotes the file's text; in_quotes makes the message printable and short.
    throw file_error(file, "no JSON: " + in_quotes(without_identifier(error.what())), "a JSON object");
  }
  if (!parsed.is_object()) throw file_error(file, fmt::format("a JSON {}", parsed.type_name()), "a JSON object");
  return parsed;
}

nlohmann::json parse_own_json(std::string_view text) { return nlohmann::json::parse(text.begin(), text.end()); }

nlohmann::json read_json_object(const std::filesystem::path& path) {
  constexpr std::uint64_t most_bytes = std::uint64_t{16} << 20;
  FileBytes file(path);
  if (file.size() > most_bytes)
    throw file_error(path.string(), fmt::format("{} bytes", file.size()),
                     fmt::format("at most {} bytes of JSON metadata", most_bytes));
  std::string text(static_cast<std::size_t>(file.size()), '\0');
  file.read(std::as_writable_bytes(std::span(text)));
  return parse_json_object(text, path.string());
}

}  // namespace draftproof
