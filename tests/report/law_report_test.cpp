// The document of `draftproof law`.
#include <draftproof/report/law_report.hpp>

#include <draftproof/doors/gate/judgement.hpp>
#include <draftproof/doors/gate/law_text.hpp>
#include <draftproof/tests/support/doors_in_process.hpp>

namespace draftproof::doors {
namespace {

Document law_document(const ProgramLaw& law, const Input& input) {
  return report_laws(std::span(&law, 1), std::span(&input, 1), {.name = "mine", .dtypes = {Dtype::float16}}, 7);
}

const Input half{.p = {{.5, .5}, {.5, .5}}, .q = {{0, 1}}, .drafts = {1}};

TEST(LawReport, OutcomesEdgesAndLimits) {
  // The coin's value 0 has an outcome of its own; the second coin does nothing; the third leads to a pick without mass.
  InProcess program([](const Input&, TapeDraws& draws) -> std::vector<Token> {
    const double u = draws.coin();
    draws.coin();
    if (u == 0) return {1, 0};
    if (u >= 0.75) draws.pick({0, 0});
    return {0};
  });
  const ProgramLaw law = law_of(program, half, {.dtype_bits = 11});
  const auto data = law_document(law, half).data;
  EXPECT_EQ(data["schema"], "draftproof.law/1");
  EXPECT_EQ(data["verifier"], "mine");
  EXPECT_EQ(data["level"], "chain");
  EXPECT_EQ(data["seed"], 7);
  const auto& input = data["inputs"][0];
  EXPECT_EQ(input["state"], "settled");
  EXPECT_EQ(input["outcomes"].dump(), R"([{"tokens":[0],"probability":0.7499999403953552,"text":"0.75"},)"
                                      R"({"tokens":[1,0],"probability":5.960464477539063e-08,"text":"2^-24"},)"
                                      R"({"status":"no_mass","probability":0.25,"text":"1/4"}])");
  EXPECT_EQ(input["edges"].dump(),
            R"([{"place":0,"kind":"coin","stream":"","bits":24,"first":0,"last":0,)"
            R"("probability":5.960464477539063e-08,"text":"2^-24",)"
            R"("outcomes":[{"tokens":[1,0],"probability":5.960464477539063e-08,"text":"2^-24"}]}])");
  EXPECT_EQ(input["idle_places"].dump(), "[1,2]");
  EXPECT_EQ(input["limit"], law.limit);
  EXPECT_EQ(input["rounding_limit"], rounding_limit(Dtype::float16, 1, 2));
  EXPECT_EQ(input["unexplored"], 0.0);
  EXPECT_EQ(input["calls"], program.runs_made);
  EXPECT_EQ(input["predicted"], law.predicted);
  EXPECT_FALSE(input.contains("tape"));
}

TEST(LawReport, AProgramThatIsNoFunction) {
  int calls = 0;
  InProcess program([&calls](const Input&, TapeDraws& draws) -> std::vector<Token> {
    draws.coin();
    return {++calls % 2};
  });
  const ProgramLaw law = law_of(program, half);
  ASSERT_EQ(law.state, LawState::not_a_function);
  const Document document = law_document(law, half);
  EXPECT_EQ(document.data["inputs"][0]["state"], "not_a_function");
  EXPECT_FALSE(document.data["inputs"][0]["tape"].empty());
  EXPECT_EQ(document.sections[0].title, "Input 0, drafts (1), not a function");
}

TEST(LawReport, TextsOfStretches) {
  EXPECT_EQ(stretch_text({.place = 2, .stream = "accept", .bits = 24, .first = 5, .last = 5}),
            "place 2, coin accept, 5 of 2^24");
  EXPECT_EQ(stretch_text({.place = 0, .kind = DrawKind::clock, .bits = 24, .first = 5, .last = 6}),
            "place 0, clock, 5 .. 6 of 2^24");
  ProgramLaw law;
  for (std::uint64_t i = 0; i < 100; ++i)
    law.stretches.push_back({.bits = 24, .first = i, .last = i, .probability = 0x1p-24});
  const auto lines = deciding_lines(law);
  ASSERT_EQ(lines.size(), 24u);
  EXPECT_EQ(lines.back(), "and 77 more");
  law.stretches = {{.bits = 24, .first = 0, .last = (1 << 24) - 1, .probability = 1}};
  EXPECT_TRUE(deciding_lines(law).empty());
}

}  // namespace
}  // namespace draftproof::doors
