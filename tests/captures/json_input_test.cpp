#include <draftproof/captures/json_input.hpp>

#include <draftproof/tests/support/hostile.hpp>

namespace draftproof {
namespace {

using hostile::expect_input_error;

std::string nested(int depth) {
  const auto count = static_cast<std::size_t>(depth);
  return "{\"a\":" + std::string(count, '[') + std::string(count, ']') + "}";
}

TEST(JsonInput, BoundsNesting) {
  EXPECT_NO_THROW(parse_json_object(nested(deepest_json - 1), "x.json"));
  expect_input_error([] { parse_json_object(nested(deepest_json), "x.json"); }, {"x.json", "deeper than 64"});
  expect_input_error([] { parse_json_object(nested(1'000'000), "x.json"); }, {"x.json", "deeper than 64"});
}

TEST(JsonInput, RefusesRepeatedKeysInOneObjectOnly) {
  EXPECT_NO_THROW(parse_json_object(R"({"a":{"b":1},"b":{"a":1}})", "x.json"));
  expect_input_error([] { parse_json_object(R"({"c":{"a":1,"a":2}})", "x.json"); }, {"x.json", "\"a\" twice"});
}

TEST(JsonInput, RefusesWhatIsNoObject) {
  expect_input_error([] { parse_json_object("[1]", "x.json"); }, {"x.json: found a JSON array"});
  expect_input_error([] { parse_json_object("{\"a\":", "x.json"); }, {"x.json: found no JSON"});
  expect_input_error([] { parse_json_object("", "x.json"); }, {"x.json: found no JSON"});
  expect_input_error([] { parse_json_object("{\"a\":\"\xC3\x28\"}", "x.json"); }, {"x.json: found no JSON"});
}

}  // namespace
}  // namespace draftproof
