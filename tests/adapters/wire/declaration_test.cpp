#include <draftproof/adapters/declaration.hpp>

#include <fstream>
#include <iterator>
#include <string>

#include <nlohmann/json.hpp>

#include <draftproof/tests/support/adapters_messages.hpp>

namespace draftproof::adapters {
namespace {

using json = nlohmann::json;

json least_hello() { return {{"protocol", "draftproof-adapter"}, {"version", {1, 0}}, {"name", "x"}}; }

TEST(Declaration, EveryFieldIsOnThePageOfTheProtocol) {
  std::ifstream stream(DRAFTPROOF_SOURCE_DIR "/docs/adapters-protocol.md");
  const std::string page{std::istreambuf_iterator<char>(stream), {}};
  const auto begin = page.find("\n## hello (child)"), end = page.find("\n## ", begin + 1);
  ASSERT_NE(end, std::string::npos);
  const std::string hello = page.substr(begin, end - begin);
  const json fields = to_json(Declaration{});
  for (const auto& [field, value] : fields.items())
    EXPECT_NE(hello.find("\n| `" + field + "` |"), std::string::npos) << field;
}

TEST(Declaration, TextsAreOfOneLineWithoutControlCharacters) {
  json hello = least_hello();
  hello["name"] =
      "a\x1b[31mb\nc\x7f d\xc2\x9b"
      "e\xc3\xa9" +
      std::string(1000, 'x');
  const std::string name = read_declaration(hello).name;
  EXPECT_EQ(name.substr(0, 16), "a [31mb c  d e\xc3\xa9");
  EXPECT_EQ(name.size(), 102u);
  hello["name"] = std::string(99, 'x') + "\xc3\xa9 and more";
  EXPECT_EQ(read_declaration(hello).name, std::string(99, 'x') + "...") << "no half of a character";
}

TEST(Declaration, ComesBackAsItWas) {
  const Declaration all{.name = "engine",
                        .version = "0.9",
                        .level = Level::tree,
                        .draft_sampling = "without_replacement",
                        .randomness = {Randomness::seeded, Randomness::opaque},
                        .dtypes = {Dtype::bfloat16, Dtype::float16},
                        .rows = {RowKind::logits},
                        .functions = {"verify", "draft"},
                        .most_rows = 7,
                        .fewest_drafts = 2,
                        .most_drafts = 3,
                        .most_vocabulary = 100,
                        .ragged = false,
                        .deterministic = false,
                        .batch_invariant = true,
                        .tolerance = 0.125,
                        .coin_bits = 53};
  const Declaration read = read_declaration(to_json(all));
  EXPECT_EQ(to_json(read), to_json(all));
  EXPECT_EQ(read.level, Level::tree);
  EXPECT_EQ(read.fewest_drafts, 2);
  EXPECT_EQ(read.tolerance, 0.125);
  EXPECT_TRUE(read.batch_invariant);
  EXPECT_EQ(read.coin_bits, 53);
  EXPECT_TRUE(read.can(Randomness::opaque));
  EXPECT_FALSE(read.can(Randomness::scripted));
  EXPECT_TRUE(read.has("draft"));
  EXPECT_FALSE(read.has("generate"));
}

TEST(Declaration, NeedsThreeFieldsAndIgnoresUnknownOnes) {
  json hello = least_hello();
  hello["version"] = {1, 9};
  hello["later"] = {1, 2};
  Declaration wanted;
  wanted.name = "x";
  EXPECT_EQ(to_json(read_declaration(hello)), to_json(wanted));
}

TEST(Declaration, FaultsHaveFieldFoundAndWanted) {
  const auto refused = [](const char* field, const json& value, const std::string& part) {
    json hello = least_hello();
    if (value.is_null())
      hello.erase(field);
    else
      hello[field] = value;
    expect_parts(error_of([&] { read_declaration(hello); }), {part, field});
  };
  {
    json hello = least_hello();
    hello.update({{"fewest_drafts", 2}, {"most_drafts", 1}});
    EXPECT_EQ(error_of([&] { read_declaration(hello); }),
              "hello: most_drafts: got 1, expected at least fewest_drafts, 2, or 0 for no limit");
  }
  refused("protocol", nullptr, "got nothing, expected draftproof-adapter");
  refused("protocol", "other", "got \"other\"");
  refused("version", {2, 3}, "got 2.3, expected 1.x");
  refused("version", 1, "two whole numbers");
  refused("name", nullptr, "got nothing");
  refused("name", 3, "a text");
  refused("level", "line", "one of position, chain, tree");
  refused("randomness", json::array(), "a list of scripted, seeded, opaque");
  refused("dtypes", {"float8"}, "got \"float8\"");
  refused("rows", "probabilities", "a list of");
  refused("functions", {1}, "a list of verify");
  refused("most_rows", 0, "1 to");
  refused("most_rows", 18446744073709551615u, "1 to");
  refused("most_drafts", 1.5, "a whole number");
  refused("ragged", 1, "true or false");
  refused("coin_bits", 54, "1 to 53");
  refused("fewest_drafts", -1, "0 to");
  refused("tolerance", -0.5, "tolerance");
  refused("requests", true, "expected generate among the functions");
  const auto fault = [](const json& fields) {
    json hello = least_hello();
    hello.update(fields);
    return error_of([&] { read_declaration(hello); });
  };
  const json generates = {{"functions", {"generate"}}};
  EXPECT_EQ(fault(generates), "none");
  json asked = generates;
  asked["grammar"] = true;
  expect_parts(fault(asked), {"grammar", "expected requests: true"});
  asked["requests"] = true;
  EXPECT_EQ(fault(asked), "none");
  asked["memory"] = 2;
  expect_parts(fault(asked), {"memory", "expected no memory with requests"});
  json tempered = {{"settings", {"temperature"}}, {"dtypes", {"float32", "float16"}}};
  EXPECT_EQ(fault(tempered), "none");
  tempered["dtypes"] = {"float16", "float32"};
  expect_parts(fault(tempered), {"settings", "got a temperature for rows of float16"});
}

}  // namespace
}  // namespace draftproof::adapters
