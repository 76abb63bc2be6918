// Members of stored data, for readers that must take any document: absent or of another type is empty.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace draftproof::page {

using Json = nlohmann::ordered_json;

/// The member, or null if `object` is no object or has none.
inline const Json& member(const Json& object, const char* key) {
  static const Json none;
  if (!object.is_object()) return none;
  const auto at = object.find(key);
  return at == object.end() ? none : *at;
}

/// The member as a text; "" if it is none.
inline std::string text_of(const Json& object, const char* key) {
  const Json& value = member(object, key);
  return value.is_string() ? value.get<std::string>() : std::string();
}

/// The member as a number; empty if it is none.
inline std::optional<double> number_of(const Json& object, const char* key) {
  const Json& value = member(object, key);
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

/// The member as a number of drafts or tokens, 0 if it is none.
inline int count_of(const Json& object, const char* key) {
  const Json& value = member(object, key);
  return value.is_number_integer() ? value.get<int>() : 0;
}

/// The elements of a list that are objects; none if `list` is no list.
inline std::vector<const Json*> objects_in(const Json& list) {
  std::vector<const Json*> found;
  if (list.is_array())
    for (const Json& element : list)
      if (element.is_object()) found.push_back(&element);
  return found;
}

/// Whether `text` begins with `start`: verdicts carry numbers after their word.
inline bool begins(const std::string& text, const char* start) { return text.rfind(start, 0) == 0; }

/// A value as text: numbers to six digits, lists and objects as JSON.
std::string value_text(const Json& value);

}  // namespace draftproof::page
