#include <draftproof/adapters/wire/result_reader.hpp>

#include <cmath>

#include <draftproof/tests/support/adapters_messages.hpp>

namespace draftproof::adapters {
namespace {

/// The fields of a batch that a reader needs: two rows of V = 3 with up to 2 drafts and tapes of 3 numbers.
const ServedBatch two_rows{.rows = 2, .vocabulary = 3, .drafts_a_row = 2, .places = 3};

ServedResult read_line(const std::string& line) {
  ServedResult result;
  size_result(two_rows, WireFunction::verify, result);
  read_result(decode_line(line, "reply"), Form::lines, two_rows, WireFunction::verify, 24, 0, result);
  return result;
}

std::string line_of(const std::string& tokens, const std::string& counts, const std::string& rest) {
  return R"({"type": "result", "tokens": )" + tokens + R"(, "counts": )" + counts + rest + "}";
}

TEST(ResultReader, ReadsTheListsOfLines) {
  const ServedResult result = read_line(line_of(
      "[[1, 2], [0]]", "[2, 0]",
      R"(, "status": [0, 4], "messages": {"1": "no mass"}, "draws": [[["coin", 0, 0, "accept"],)"
      R"(["pick", 2, 0, "bonus", [0.5, 1]]], [["integer", 3, 0], ["pick", 1, 0, "bonus", [null]], ["clock", 2, 0, null]]])"));
  EXPECT_EQ(result.tokens, (std::vector<std::int32_t>{1, 2, -1, -1, -1, -1}));
  EXPECT_EQ(result.counts, (std::vector<std::int32_t>{2, 0}));
  EXPECT_EQ(result.status, (std::vector<std::int32_t>{0, 4}));
  EXPECT_EQ(result.messages.at(1), "no mass");
  ASSERT_EQ(result.draws.size(), 2u);
  EXPECT_TRUE(result.draws[0] ==
              (std::vector<Draw>{{DrawKind::coin, 0, 24, "accept"}, {DrawKind::pick, 2, 0, "bonus", {0.5, 1}}}));
  ASSERT_EQ(result.draws[1].size(), 3u);
  EXPECT_EQ(result.draws[1][0], (Draw{DrawKind::integer, 3, 0}));
  EXPECT_EQ(result.draws[1][1].stream, "bonus");
  ASSERT_EQ(result.draws[1][1].weights.size(), 1u);
  EXPECT_TRUE(std::isnan(result.draws[1][1].weights[0]));  // allowed, because the row's status is no_mass
  EXPECT_EQ(result.draws[1][2], (Draw{DrawKind::clock, 2, 0}));
}

TEST(ResultReader, FaultsOfLinesHaveRowFieldFoundAndWanted) {
  const auto refused = [](const std::string& draws, const std::string& words, const std::string& rest = "") {
    const std::string line = line_of("[[1], [0]]", "[1, 1]", rest + (draws.empty() ? "" : ", \"draws\": " + draws));
    expect_error([&] { read_line(line); }, words);
  };
  refused("[[]]", "expected a list for each of 2 rows");
  refused("[[], 3]", "row 1: draws: got \"3\"");
  refused(R"([[], [["dice", 0, 0, "a"]]])", "row 1: draws: kind: got");
  refused(R"([[], [["coin", 0]]])", "row 1: draws: got");
  refused(R"([[], [["coin", 0.5, 24]]])", "row 1: draws: size: got \"0.5\"");
  refused(R"([[], [["integer", 18446744073709551615, 0]]])", "row 1: draws: size");
  refused(R"([[], [["coin", 0, 54]]])", "row 1: draws: bits of a coin: got 54, expected 1 .. 53");
  refused(R"([[], [["integer", 0, 0]]])", "row 1: draws: size of an integer: got 0");
  refused(R"([[], [["pick", 2, 0, "a", [1]]]])", "row 1: draws: weights: got \"[1]\", expected a list of 2");
  refused(R"([[], [["pick", 2, 0, "a"]]])", "row 1: draws: weights: got nothing");
  refused(R"([[], [["pick", -1, 0, "a", []]]])", "row 1: draws: size of a pick: got -1");
  refused(R"([[["coin", 0, 1]], [["coin", 0, 1], ["pick", 2, 0, "a", [1, null]]]])",
          "row 1: weights of draw 1: cell 1: got nan");
  refused(R"([[["coin", 0, 1], ["coin", 0, 1], ["coin", 0, 1], ["coin", 0, 1]], []])",
          "row 0: draw_counts: got 4, expected 0 .. 3");
  refused("", "draws: got nothing");
  refused("[[], []]", "messages: got the key \"2\"", R"(, "messages": {"2": "x"})");
  refused("[[], []]", "status: got i32 [1], expected i32 [2]", R"(, "status": [0])");
}

TEST(ResultReader, ARowHasAtMostOneTokenMoreThanItsOwnDrafts) {
  const std::vector<std::int32_t> lengths{2, 1};
  ServedBatch batch = two_rows;
  batch.lengths = lengths;
  const auto read = [&](const std::string& tokens, const std::string& counts) {
    ServedResult result;
    size_result(batch, WireFunction::verify, result);
    read_result(decode_line(line_of(tokens, counts, ", \"draws\": [[], []]"), "reply"), Form::lines, batch,
                WireFunction::verify, 24, 0, result);
  };
  EXPECT_NO_THROW(read("[[1, 2, 0], [0, 1]]", "[3, 2]"));
  expect_error([&] { read("[[1, 2, 0], [0, 1, 1]]", "[3, 3]"); }, "row 1: counts: got 3, expected 1 .. 2");
}

TEST(ResultReader, ATextInPlaceOfAnArrayIsShown) {
  expect_error([] { read_line(line_of("\"no\"", "[1, 1]", "")); }, "tokens: got \"no\", expected an array");
  expect_error([] { read_line(R"({"type": "result", "tokens": [[1], [0]]})"); }, "counts: got nothing");
}

TEST(ResultReader, NamesOfStreamsAreOneLine) {
  const std::string draws = R"([[["coin", 0, 0, "red\u001b[31m\nline)" + std::string(1000, 'x') + R"("]], []])";
  const std::string stream = read_line(line_of("[[1], [0]]", "[1, 1]", ", \"draws\": " + draws)).draws[0][0].stream;
  EXPECT_EQ(stream.substr(0, 14), "red [31m linex");
  EXPECT_EQ(stream.size(), 303u);
}

TEST(ResultReader, AnErrorIsARefusalOfTheBatch) {
  EXPECT_THROW(read_line(R"({"type": "error", "message": "no"})"), BatchRefused);
  EXPECT_THROW(read_line(R"({"type": "results"})"), AdapterError);
}

TEST(ResultReader, ALimitHoldsTheLargestReply) {
  ServedBatch batch{.rows = 1000, .vocabulary = 50, .drafts_a_row = 4, .places = 7};
  const std::uint64_t arrays = 1000 * (5 * 4 + 4 + 4 + 4 + 7 * (16 + 50 * 8));
  EXPECT_GT(reply_limit(batch, WireFunction::verify).frame_bytes, arrays);
  EXPECT_LT(reply_limit(batch, WireFunction::verify).frame_bytes, arrays + (2u << 20));
  batch.randomness = Randomness::opaque;
  EXPECT_LT(reply_limit(batch, WireFunction::verify).frame_bytes, 2u << 20);
}

}  // namespace
}  // namespace draftproof::adapters
