// The requests of `draftproof distribution`: what is read, and the messages for mistakes.
#include <draftproof/adapters/gate/distribution_request.hpp>

#include <sstream>

#include <draftproof/captures/input_error.hpp>
#include <draftproof/tests/support/adapters_messages.hpp>

namespace draftproof::adapters {
namespace {

DistributionRequest requested(const std::string& text, const Declaration& declaration) {
  std::istringstream stream(text);
  return read_distribution_request(stream, "FILE", declaration);
}

void refused(const std::string& text, const std::string& message, const Declaration& declaration = {.name = "mine"}) {
  expect_error<InputError>([&] { requested(text, declaration); }, message);
}

/// Returns a request of one input with these fields.
std::string one(const std::string& p, const std::string& q, const std::string& drafts, const std::string& more = "") {
  return R"({"inputs": [{"p": )" + p + R"(, "q": )" + q + R"(, "drafts": )" + drafts + more + "}]}";
}

TEST(DistributionRequest, ReadsInputsOfEachLevel) {
  const auto chain = requested(one("[[0.5, 0.5], [1, 0]]", "[[0.25, 0.75]]", "[1]"), {});
  EXPECT_EQ(chain.inputs, (std::vector<Input>{{.p = {{.5, .5}, {1, 0}}, .q = {{.25, .75}}, .drafts = {1}}}));
  EXPECT_FALSE(chain.predictions || chain.seed);
  const auto position = requested(
      R"({"seed": 9, "predictions": 64, "inputs": [{"p": [[1]], "q": [[1]], "drafts": [0, 0]},
          {"p": [[1, 0]], "q": [[1, 0], [0, 1]], "drafts": [0, 1]}]})",
      {.name = "mine", .level = Level::position});
  ASSERT_EQ(position.inputs.size(), 2u);
  EXPECT_EQ(position.inputs[0].q.size(), 1u);
  EXPECT_EQ(position.inputs[1].q.size(), 2u);
  EXPECT_EQ(position.predictions, 64);
  EXPECT_EQ(position.seed, 9u);
  const auto tree = requested(one("[[1], [1], [1]]", "[[1], [1]]", "[0, 0]", R"(, "parents": [-1, 0])"),
                              {.name = "mine", .level = Level::tree});
  EXPECT_EQ(tree.inputs[0].parents, (std::vector<int>{-1, 0}));
}

TEST(DistributionRequest, NamesThePlace) {
  refused("{", "FILE: got no JSON");
  refused("[]", "FILE: got a JSON array, expected a JSON object");
  refused("{}", "FILE: inputs: got nothing, expected a list");
  refused(R"({"inputs": []})", "FILE: inputs: got none, expected at least one");
  refused(R"({"inputs": [3]})", "FILE: input 0: got 3, expected an object");
  refused(R"({"inputs": [{"p": [[1]]}], "sed": 1})", "got \"sed\", expected inputs, predictions or seed");
  refused(R"({"inputs": [], "predictions": 15})", "predictions: got 15, expected 16 .. ");
  refused(R"({"inputs": [], "seed": -1})", "seed: got -1, expected 0 .. ");
  refused(R"({"inputs": [], "seed": 1.5})", "seed: got 1.5, expected 0 .. ");
  const std::string p = "[[0.5, 0.5], [1, 0]]", q = "[[0, 1]]";
  refused(one("7", q, "[1]"), "FILE: input 0: p: got 7, expected a list");
  refused(one("[]", q, "[1]"), "input 0: p: got 0 rows, expected at least 1");
  refused(one("[[]]", q, "[1]"), "input 0: p, row 0: got 0 entries, expected at least 1");
  refused(one("[[1], 2]", q, "[1]"), "input 0: p, row 1: got 2, expected a list of numbers");
  refused(one("[[0.5, 0.5], [1]]", q, "[1]"), "input 0: p, row 1: got 1 entries, expected 2, as in row 0 of p");
  refused(one(p, "[[1]]", "[1]"), "input 0: q, row 0: got 1 entries, expected 2, as in row 0 of p");
  refused(one("[[0.5, -0.5], [1, 0]]", q, "[1]"), "input 0: p, row 0, token 1: got -0.5, expected a finite number");
  refused(one(p, "[[0, null]]", "[1]"),
          "input 0: q, row 0, token 1: got null, expected a finite number, not negative");
  refused(one("[[3, 5], [1, 0]]", q, "[1]"), "p, row 0: got a row with sum 8, expected probabilities with sum 1");
  refused(one(p, "[[0, 0]]", "[1]"), "input 0: q, row 0: got a row with sum 0, expected probabilities with sum 1");
  refused(one(p, "[[0, \"x\"]]", "[1]"), "token 1: got \"x\"");
  refused(one(p, "[[0, 1e999]]", "[1]"), "no JSON");
  refused(one(p, q, "[2]"), "input 0: drafts, entry 0: got 2, expected 0 .. 1");
  refused(one(p, q, "[1.0]"), "input 0: drafts, entry 0: got 1.0, expected 0 .. 1");
  refused(one(p, q, "[18446744073709551615]"), "drafts, entry 0: got 18446744073709551615, expected 0 .. 1");
  refused(one("[[0.5, 0.5]]", q, "[1]"), "input 0: p: got 1 rows, expected 2, one more than there are drafts");
  refused(one(p, "[[0, 1], [0, 1]]", "[1]"), "input 0: q: got 2 rows, expected 1, one for each draft");
  refused(one(p, q, "[1]", R"(, "draft": [1])"), "input 0: got \"draft\", expected one of p, q, drafts");
  refused(one(p, q, "[1]", R"(, "parents": [-1])"), "input 0: got \"parents\", expected one of p, q, drafts");
}

TEST(DistributionRequest, HoldsInputsToTheDeclaration) {
  const std::string p = "[[0.5, 0.5], [1, 0]]", q = "[[0, 1]]";
  refused(one(p, q, "[1]"), "input 0: p, row 0: got 2 entries, expected at most 1, as the program declares",
          {.name = "mine", .most_vocabulary = 1});
  refused(one(p, q, "[1]"), "input 0: drafts: got 1, expected 2 to 3, as the program declares",
          {.name = "mine", .fewest_drafts = 2, .most_drafts = 3});
  refused(one("[[0.5, 0.5]]", "[]", "[]"), "input 0: drafts: got 0, expected at least 1, as the program declares");
  const Declaration position{.name = "mine", .level = Level::position}, tree{.name = "mine", .level = Level::tree};
  refused(one(p, q, "[1]"), "input 0: p: got 2 rows, expected 1, at one position", position);
  refused(one("[[0.5, 0.5]]", "[[0, 1], [0, 1], [1, 0]]", "[1, 1]"),
          "input 0: q: got 3 rows, expected 2, one for each draft, or 1", position);
  refused(one(p, q, "[1]"), "input 0: parents: got nothing, expected a list", tree);
  refused(one(p, q, "[1]", R"(, "parents": [0])"), "input 0: parents, entry 0: got 0, expected -1 .. -1", tree);
  refused(one(p, q, "[1]", R"(, "parents": [])"), "input 0: parents: got 0 entries, expected 1, one for each draft",
          tree);
  refused(one(p, q, "[1]", R"(, "parents": [-1, 0])"), "input 0: parents: got 2 entries, expected 1", tree);
}

}  // namespace
}  // namespace draftproof::adapters
