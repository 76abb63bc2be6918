#include <draftproof/captures/capture_schema.hpp>

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include <draftproof/captures/input_error.hpp>

namespace draftproof {
namespace {

constexpr std::array all_values{Values::LogProbability, Values::Logit, Values::Probability};

Values parse_values(const nlohmann::json& declared, const std::string& file) {
  for (const Values values : all_values)
    if (declared == to_string(values)) return values;
  throw InputError(
      {.file = file,
       .found = "\"values\": " + in_quotes(declared.is_string() ? declared.get<std::string>() : declared.type_name()),
       .wanted = "log_probability, logit or probability"});
}

}  // namespace

std::string_view to_string(Values values) {
  switch (values) {
    case Values::LogProbability:
      return "log_probability";
    case Values::Logit:
      return "logit";
    case Values::Probability:
      return "probability";
  }
  return "unknown";
}

bool is_proposal_array(std::string_view name) { return name.starts_with("draft"); }

bool is_capture_array(std::string_view name) {
  constexpr std::array<std::string_view, 5> single{"target", "ids", "rest_target", "tokens", "next_token"};
  return is_proposal_array(name) || name.starts_with("rest_draft") ||
         std::find(single.begin(), single.end(), name) != single.end();
}

std::optional<std::filesystem::path> sidecar_of(const std::filesystem::path& capture) {
  const auto beside = [&capture](const std::string& stem) { return capture.parent_path() / (stem + ".json"); };
  const std::string stem = capture.stem().string();
  if (std::filesystem::exists(beside(stem))) return beside(stem);
  for (const std::string_view part : {"_positions", "_topk", "_trees", "_trees_full"}) {
    if (!stem.ends_with(part)) continue;
    const auto set = beside(stem.substr(0, stem.size() - part.size()));
    if (std::filesystem::exists(set)) return set;
  }
  return std::nullopt;
}

Declared read_declared(const nlohmann::json& metadata, bool truncated, const std::string& file) {
  if (const auto schema = metadata.find("schema"); schema != metadata.end() && *schema != capture_schema)
    throw InputError(
        {.file = file,
         .found = "schema " + in_quotes(schema->is_string() ? schema->get<std::string>() : schema->type_name()),
         .wanted = fmt::format("\"{}\", the only version this program knows", capture_schema)});
  Declared declared{.values = truncated ? Values::Probability : Values::LogProbability};
  if (const auto values = metadata.find("values"); values != metadata.end())
    declared.values = parse_values(*values, file);
  if (truncated && declared.values != Values::Probability)
    throw InputError({.file = file,
                      .found = fmt::format("{} values beside ids", to_string(declared.values)),
                      .wanted = "probability, the only form in which a rest can be added up"});
  const auto vocabulary = metadata.find("vocabulary");
  if (vocabulary == metadata.end()) return declared;
  // The metadata of safetensors contains strings only.
  std::string text = vocabulary->is_string() ? vocabulary->get<std::string>() : vocabulary->dump();
  const bool digits = !text.empty() && text.size() <= 10 &&
                      std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!digits || std::stoull(text) == 0)
    throw InputError(
        {.file = file, .found = "\"vocabulary\": " + in_quotes(text), .wanted = "a whole number of tokens"});
  declared.vocabulary = static_cast<std::size_t>(std::stoull(text));
  return declared;
}

}  // namespace draftproof
