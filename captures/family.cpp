#include <draftproof/captures/family.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include <draftproof/captures/array.hpp>
#include <draftproof/captures/nearest_names.hpp>

namespace draftproof {
namespace {

std::vector<FamilyInfo>& added_families() {
  static std::vector<FamilyInfo> families;
  return families;
}

/// Returns "one of A, B, C", with a suggestion if `name` is close to one of them.
template <class Range>
std::string one_of(const Range& range, std::string_view name) {
  std::vector<std::string> names;
  for (const auto& item : range) names.push_back(item.name);
  return fmt::format("one of {}{}", fmt::join(names, ", "), did_you_mean(names, name));
}

const FamilyInfo& find_family(std::string_view name, const std::string& spec) {
  for (const FamilyInfo& info : added_families())
    if (info.name == name) return info;
  throw file_error(spec, "no family " + in_quotes(name), one_of(added_families(), name));
}

double parse_number(std::string_view text, const ParameterInfo& parameter, const std::string& spec) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool number = error == std::errc{} && end == text.data() + text.size();
  const bool whole = parameter.kind == ParameterKind::Whole;
  if (number && value >= parameter.low && value <= parameter.high && (!whole || value == std::floor(value)))
    return value;
  throw file_error(spec, fmt::format("{} = {}", parameter.name, in_quotes(text)),
                   fmt::format("a {} from {} to {} ({})", whole ? "whole number" : "number", parameter.low,
                               parameter.high, parameter.about));
}

const ParameterInfo& positions_parameter() {
  static const ParameterInfo parameter{"positions",         "number of positions to generate", 1, 1, 1e9,
                                       ParameterKind::Whole};
  return parameter;
}

/// Removes the next comma-separated part from `list` and returns it.
std::string_view take_part(std::string_view& list) {
  const std::size_t comma = std::min(list.find(','), list.size());
  const std::string_view part = list.substr(0, comma);
  list.remove_prefix(std::min(comma + 1, list.size()));
  return part;
}

}  // namespace

nlohmann::json Family::describe() const {
  nlohmann::json parameters = nlohmann::json::object();
  for (const auto& [parameter, value] : settings) parameters[parameter] = value;
  return {{"family", name}, {"parameters", parameters}, {"positions", positions}};
}

void register_family(FamilyInfo info) {
  auto& families = added_families();
  const auto place =
      std::lower_bound(families.begin(), families.end(), info.name,
                       [](const FamilyInfo& known, const std::string& name) { return known.name < name; });
  if (place == families.end() || place->name != info.name) families.insert(place, std::move(info));
}

std::span<const FamilyInfo> known_families() { return added_families(); }

bool is_family_spec(std::string_view spec) {
  const std::string_view name = spec.substr(0, spec.find(':'));
  return std::any_of(added_families().begin(), added_families().end(),
                     [name](const FamilyInfo& info) { return info.name == name; });
}

Family parse_family(std::string_view spec) {
  const std::string whole_spec(spec);
  const std::size_t colon = std::min(spec.find(':'), spec.size());
  const FamilyInfo& info = find_family(spec.substr(0, colon), whole_spec);
  std::vector<ParameterInfo> parameters = info.parameters;
  parameters.push_back(positions_parameter());

  std::vector<std::optional<double>> given(parameters.size());
  for (std::string_view list = spec.substr(std::min(colon + 1, spec.size())); !list.empty();) {
    const std::string_view part = take_part(list);
    const std::size_t equals = std::min(part.find('='), part.size());
    const std::string_view name = part.substr(0, equals);
    const auto known =
        std::find_if(parameters.begin(), parameters.end(), [name](const auto& p) { return p.name == name; });
    if (known == parameters.end())
      throw file_error(whole_spec, fmt::format("no parameter {} of {}", in_quotes(name), info.name),
                       one_of(parameters, name));
    auto& value = given[static_cast<std::size_t>(known - parameters.begin())];
    if (value) throw file_error(whole_spec, known->name + " twice", "each parameter once");
    value = parse_number(part.substr(std::min(equals + 1, part.size())), *known, whole_spec);
  }

  std::vector<double> values;
  for (std::size_t k = 0; k < parameters.size(); ++k) values.push_back(given[k].value_or(parameters[k].initial));
  Family family = info.make(values);
  family.positions = static_cast<std::size_t>(values.back());
  return family;
}

}  // namespace draftproof
