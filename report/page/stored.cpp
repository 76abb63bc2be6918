#include <draftproof/report/page/stored.hpp>

#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include <draftproof/captures/input_error.hpp>

namespace draftproof::page {

namespace {

[[noreturn]] void refuse_result(const std::string& file, std::string found) {
  throw InputError({.file = file,
                    .found = std::move(found),
                    .wanted = "what `draftproof COMMAND --json` or `--format html` writes"});
}

}  // namespace

Json read_result(const std::string& file) {
  constexpr int deepest = 64;
  std::ifstream in(file, std::ios::binary);
  if (!in) refuse_result(file, "a file that cannot be read");
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (in.bad()) refuse_result(file, "a file that cannot be read");
  std::string_view body = text;
  const std::size_t first = body.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) refuse_result(file, "an empty file");
  if (body[first] == '<') {
    const auto block = data_block(body);
    if (!block) refuse_result(file, "a page without data of draftproof");
    body = *block;
  }
  bool deep = false;
  const auto watch = [&deep](int depth, Json::parse_event_t, Json&) {
    deep = deep || depth > deepest;
    return !deep;
  };
  Json data;
  try {
    data = Json::parse(body, watch);
  } catch (const Json::parse_error& error) {
    refuse_result(file, fmt::format("no JSON from byte {} on", error.byte));
  } catch (const Json::exception& error) {
    refuse_result(file, std::string("a value that cannot be read: ") + error.what());
  }
  if (deep) refuse_result(file, fmt::format("JSON nested deeper than {} levels", deepest));
  const std::string schema = text_of(data, "schema");
  if (!data.is_object() || schema.empty()) refuse_result(file, "JSON without a schema");
  if (!begins(schema, "draftproof.")) refuse_result(file, "schema " + in_quotes(schema));
  return data;
}

}  // namespace draftproof::page
