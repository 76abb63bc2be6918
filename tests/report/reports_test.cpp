// Tests the schemas of machine-readable reports: names with versions, members, and null for unknown values.
#include <sstream>

#include <gtest/gtest.h>

#include <draftproof/adapters/gate/distribution_text.hpp>
#include <draftproof/adapters/gate/judgement.hpp>
#include <draftproof/cli/report/program_report.hpp>
#include <draftproof/cli/report/proof_report.hpp>
#include <draftproof/cli/report/survey_report.hpp>
#include <draftproof/tests/support/adapters_in_process.hpp>

namespace draftproof {
namespace {

using Json = nlohmann::ordered_json;

/// Expects the members `wanted`, separated by spaces. A schema may get more members, but these must stay.
void expect_members(const Json& object, const char* wanted) {
  std::istringstream names(wanted);
  for (std::string name; names >> name;) EXPECT_TRUE(object.contains(name)) << name << " in " << object.dump();
}

std::string member_names(const Json& object) {
  std::string names;
  for (const auto& [name, value] : object.items()) names += (names.empty() ? "" : " ") + name;
  return names;
}

const AnyVerifier& single_draft() { return *registry().verifier("single_draft"); }
const AnyDrafter& iid() { return *registry().drafter("iid"); }

class Surveyed : public testing::Test {
 protected:
  Document report(std::optional<double> optimum, bool timings, std::uint64_t trials = 10) {
    SurveyRow row{.verifier = &single_draft(), .drafter = &iid(), .drafts = 1, .tuples = options_.tuples};
    row.tally.trials = trials;
    row.tally.draft_accepted = row.tally.draft_emitted = trials / 10 * 7;
    row.single = 0.5;
    row.optimum = optimum;
    row.cpu_seconds = 1;
    surveyed_ = {&source_, {.positions = 1, .complete = true, .rows = {row}}};
    return report_survey({&surveyed_, 1}, proofs_, options_, 0.95, timings);
  }
  Json data(std::optional<double> optimum, bool timings) { return report(optimum, timings).data; }

  Source source_ = (registry(), Source::open("bernoulli"));
  SurveyedSource surveyed_{};
  std::vector<Proof> proofs_;
  SurveyOptions options_{};
};

TEST_F(Surveyed, HasItsKeys) {
  const Json report = data(0.9, false);
  EXPECT_EQ(report.begin().key(), "schema");
  EXPECT_EQ(report["schema"], "draftproof.survey/3");
  expect_members(report, "schema seed tuples_per_row confidence sources tuples");
  expect_members(report["sources"][0], "source about vocabulary positions complete rows");
  const Json& row = report["sources"][0]["rows"][0];
  expect_members(
      row,
      "verifier draft_sampling drafts verdict tuples draft_accepted draft_emitted single_draft impossible optimum "
      "gap_closed accepted_by_draft");
  EXPECT_EQ(member_names(row["draft_accepted"]), "rate low high count");
  EXPECT_EQ(row["verdict"], "not proved");
  EXPECT_EQ(row["draft_emitted"]["rate"], 0.7);
  EXPECT_NEAR(row["gap_closed"].get<double>(), 0.5, 1e-12);
  EXPECT_LT(row["draft_accepted"]["low"], 0.7);
  EXPECT_GT(row["draft_accepted"]["high"], 0.7);
}

TEST_F(Surveyed, UnknownValuesAreNullAndTimesOnRequest) {
  const auto row = [this](std::optional<double> optimum, bool timings) {
    return Json(data(optimum, timings)["sources"][0]["rows"][0]);
  };
  EXPECT_TRUE(row(std::nullopt, false).at("optimum").is_null());
  EXPECT_TRUE(row(std::nullopt, false).at("gap_closed").is_null());
  EXPECT_EQ(row(0.5, false).at("optimum"), 0.5);
  EXPECT_TRUE(row(0.5, false).at("gap_closed").is_null()) << "no gap";
  EXPECT_FALSE(row(0.9, false).contains("nanoseconds_per_tuple"));
  EXPECT_TRUE(row(0.9, true).contains("nanoseconds_per_tuple"));
}

TEST_F(Surveyed, ShowsAnExcessBeyondTheIntervalAsItWasMeasured) {
  const auto closed = [this](double optimum, std::uint64_t trials) {
    const Table table = report(optimum, false, trials).sections.at(1).table;
    for (std::size_t c = 0; c < table.columns.size(); ++c)
      if (table.columns[c].title == "gap closed") return table.rows.at(0).at(c).text;
    return std::string("no column");
  };
  EXPECT_EQ(closed(0.9, 10), "50 %");
  EXPECT_EQ(closed(0.69, 10), "100 %") << "the interval of 7 in 10 reaches down to 0.69";
  EXPECT_EQ(closed(0.69, 100'000), "105 %") << "the interval of 70,000 in 100,000 ends at 0.697";
}

TEST(PathSurveyReport, HasItsKeysAndAVerdict) {
  registry();
  const auto source = PathSource::open("bernoulli", {});
  StepRow row{.verifier = path_registry().verifier("block"), .drafter = path_registry().drafter("iid_paths")};
  row.tally.trials = row.tally.steps = 10;
  const SurveyedPaths item{source.get(), {row}, 2};
  const PathProof proof{.verifier = row.verifier,
                        .drafter = row.drafter,
                        .instances = 3,
                        .findings = {{.property = "completed_distribution", .status = Status::passed, .passed = 3}}};
  const auto report = [&item](std::span<const PathProof> proofs) {
    return report_path_survey({&item, 1}, proofs, {.length = 2}, true, false).data;
  };
  const Json with = report({&proof, 1}), without = report({});
  EXPECT_EQ(with["schema"], "draftproof.survey-paths/3");
  EXPECT_EQ(with["proofs"][0]["verdict"], "proved");
  EXPECT_FALSE(without.contains("proofs"));
  const Json& data = with["sources"][0]["rows"][0];
  expect_members(data,
                 "verifier draft_sampling drafts length verdict trials steps mean_accepted standard_error "
                 "block_efficiency impossible accepted");
  EXPECT_EQ(data["verdict"], "proved (3)");
  EXPECT_EQ(without["sources"][0]["rows"][0]["verdict"], "not proved");
}

Proof proof_with(Status status) {
  Proof proof{.verifier = &single_draft(), .drafter = &iid(), .instances = 3, .leaves = 12};
  Finding finding{.property = "exact_distribution", .status = status, .passed = 2};
  if (status == Status::failed) {
    finding.instance = "p=(1 1)/2 q=(0 1)/1 K=1";
    finding.evidence = "got this";
    finding.replay = "draftproof prove x";
  }
  proof.findings.push_back(finding);
  return proof;
}

TEST(ProofReport, HasItsKeys) {
  const std::vector<Proof> proofs{proof_with(Status::passed), proof_with(Status::failed)};
  const Json report = report_proofs(proofs, {}, false).data;
  EXPECT_EQ(report["schema"], "draftproof.prove/3");
  expect_members(report, "schema seed proofs");
  expect_members(report["proofs"][0], "verifier draft_sampling verdict instances branches findings");
  EXPECT_EQ(member_names(report["proofs"][0]["findings"][0]), "property status passed undecided");
  const Json& failed = report["proofs"][1]["findings"][0];
  EXPECT_EQ(failed["counterexample"], "p=(1 1)/2 q=(0 1)/1 K=1");
  EXPECT_EQ(failed["replay"], "draftproof prove x");
  EXPECT_EQ(failed["evidence"], "got this");
  EXPECT_FALSE(report["proofs"][0].contains("seconds"));
  EXPECT_TRUE(report_proofs(proofs, {}, true).data["proofs"][0].contains("seconds"));
}

TEST(ProofReport, SaysThatADistributionIsNotProved) {
  const AnyVerifier& gls = *registry().verifier("gls");
  const Proof proof{.verifier = &gls,
                    .drafter = registry().drafter("gumbel_iid"),
                    .instances = 3,
                    .findings = {{.property = "drafter_invariance", .status = Status::passed, .passed = 3}}};
  EXPECT_FALSE(proof.exact());
  EXPECT_TRUE(proof.kept());
  EXPECT_EQ(verdict_cell(proof).text, "distribution not proved");
  const Document document = report_proofs({&proof, 1}, {}, false);
  EXPECT_EQ(document.data["proofs"][0]["verdict"], "distribution not proved");
  EXPECT_EQ(document.data["proofs"][0]["why_not_proved"], gls.info().unsupported.explore);
  ASSERT_EQ(document.sections[0].after.size(), 1u);
  EXPECT_NE(document.sections[0].after[0].find("drafter_invariance on 3 instances"), std::string::npos);

  Proof nothing_asked = proof;
  nothing_asked.findings[0].passed = 0;
  nothing_asked.findings[0].status = Status::skipped;
  EXPECT_FALSE(nothing_asked.kept());
}

TEST(ProofReport, SaysHowFarALossySchemeIsFromTheTarget) {
  Proof proof = proof_with(Status::failed);
  proof.verifier = registry().verifier("typical_acceptance");
  proof.distance = Distance{Rational(1, 4), Instance::parse("p=(1 1)/2 q=(0 1)/1 K=1"), 2};
  EXPECT_EQ(verdict_cell(proof).text, "lossy, TV to 0.2500");
  EXPECT_EQ(refutation_title(proof), "typical_acceptance with iid drafts is lossy by design");
  EXPECT_EQ(violation_lines(proof).back(),
            "  TV to p: positive on 2 of 3 instances; the largest is 0.250000, on p=(1 1)/2 q=(0 1)/1 K=1");
  const Json data = proof_data(proof, false);
  EXPECT_EQ(data["verdict"], "lossy");
  EXPECT_EQ(data["total_variation"]["largest"], 0.25);
  EXPECT_EQ(data["total_variation"]["instances_off"], 2);
  EXPECT_EQ(data["total_variation"]["instance"], "p=(1 1)/2 q=(0 1)/1 K=1");
  proof.verifier = registry().verifier("resample_from_target");
  EXPECT_EQ(verdict_cell(proof).text, "refuted") << "a bug is not lossy by design";
  EXPECT_EQ(proof_data(proof, false)["total_variation"]["largest"], 0.25);
}

TEST(ProofReport, ProofsOfPathsHaveTheSameShape) {
  const std::vector<Proof> proofs{proof_with(Status::passed)};
  PathProof of_paths{.verifier = path_registry().verifier("block"),
                     .drafter = path_registry().drafter("iid_paths"),
                     .instances = 3,
                     .leaves = 12};
  of_paths.findings.push_back({.property = "completed_distribution",
                               .status = Status::failed,
                               .evidence = "after [0] got this",
                               .instance = "L=1 K=1 [] p=(1 1)/2 q=(0 1)/1",
                               .replay = "draftproof prove block"});
  const Document document = report_proofs(proofs, {&of_paths, 1}, {}, false);
  EXPECT_EQ(document.data["schema"], "draftproof.prove/3");
  const Json& one = document.data["proofs"][0];
  const Json& two = document.data["proofs"][1];
  EXPECT_EQ(member_names(one), member_names(two));
  EXPECT_EQ(one["level"], "position");
  EXPECT_EQ(two["level"], "paths");
  EXPECT_EQ(two["draft_sampling"], "iid_paths");
  EXPECT_EQ(two["verdict"], "refuted");
  EXPECT_EQ(two["findings"][0]["counterexample"], "L=1 K=1 [] p=(1 1)/2 q=(0 1)/1");
  EXPECT_EQ(two["findings"][0]["evidence"], "after [0] got this");
  ASSERT_EQ(document.sections.size(), 3u) << "a table a level, and the violation";
  EXPECT_EQ(report_proofs({}, {&of_paths, 1}, {}, false).sections.size(), 2u) << "no table without rows";
}

TEST(ProofReport, VerdictsInWords) {
  EXPECT_EQ(report_proofs({}, {}, false).data["proofs"], Json::array());
  EXPECT_EQ(verdict_cell(proof_with(Status::passed)).text, "proved (3)");
  EXPECT_EQ(verdict_cell(proof_with(Status::failed)).text, "refuted");
  EXPECT_EQ(verdict_cell(proof_with(Status::undecided)).text, "undecided");
  EXPECT_EQ(violation_lines(proof_with(Status::passed)).size(), 0u);
  const auto lines = violation_lines(proof_with(Status::failed));
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[2], "    replay: draftproof prove x");
}

TEST(DemoReport, CountsWrongDraftersOfBothLevelsApartFromComponents) {
  KillMatrix bugs;
  for (const char* level : {"position", "paths", "drafters", "tree drafters", "sampler"})
    bugs.rows.push_back({.level = level,
                         .name = "wrong",
                         .mutant_of = "",
                         .partner = "",
                         .findings = {{.property = "some_distribution", .status = Status::failed}},
                         .first = 0,
                         .decided = 0});
  const Json data =
      report_demo(
          {.surveyed = {}, .proofs = {}, .path_proofs = {}, .bugs = &bugs, .drafts = 4, .tables = "", .page = ""})
          .data["bugs"];
  EXPECT_EQ(data["schemes"], 4);
  EXPECT_EQ(data["components"], 1);
  EXPECT_EQ(data["refuted"], 4);
  EXPECT_EQ(data["missed"], 0);
  EXPECT_EQ(data["caught_by"], (Json{{"some_distribution", 1}}));
}

TEST_F(Surveyed, TheDemoNamesATruncatedSource) {
  const KillMatrix bugs;
  const auto notes = [&](const std::string& capture) {
    report(0.9, false);
    const Source source = Source::open(std::string(DRAFTPROOF_SOURCE_DIR) + "/data/" + capture);
    surveyed_.source = &source;
    const Document document = report_demo({.surveyed = {&surveyed_, 1},
                                           .proofs = {},
                                           .path_proofs = {},
                                           .bugs = &bugs,
                                           .drafts = 1,
                                           .tables = "",
                                           .page = ""});
    EXPECT_EQ(document.sections.at(1).table.columns.at(1).title, capture.substr(0, capture.find('_')));
    std::string all;
    for (const std::string& line : document.sections.at(1).after) all += line + "\n";
    return all;
  };
  EXPECT_NE(
      notes("smollm2_positions.npz").find("  smollm2 has the likeliest tokens of each row; the others count as one"),
      std::string::npos);
  EXPECT_EQ(notes("stories512_positions.npz").find("likeliest"), std::string::npos);
  EXPECT_NE(notes("stories512_positions.npz").find("95 % interval is ±0.3525 at 10 tuples. "), std::string::npos);
}

}  // namespace
}  // namespace draftproof

namespace draftproof::adapters {
namespace {

Document distribution_document(const ProgramDistribution& distribution, const Input& input) {
  return report_distributions(std::span(&distribution, 1), std::span(&input, 1),
                              {.name = "mine", .dtypes = {Dtype::float16}}, 7);
}

const Input half{.p = {{.5, .5}, {.5, .5}}, .q = {{0, 1}}, .drafts = {1}};

TEST(DistributionReport, OutcomesEdgesAndLimits) {
  // The coin's value 0 has a separate outcome; the second coin has no effect; the third leads to a pick without mass.
  InProcess program([](const Input&, TapeDraws& draws) -> std::vector<Token> {
    const double u = draws.coin();
    draws.coin();
    if (u == 0) return {1, 0};
    if (u >= 0.75) draws.pick({0, 0});
    return {0};
  });
  const ProgramDistribution distribution = distribution_of(program, half, {.dtype_bits = 11});
  const auto data = distribution_document(distribution, half).data;
  EXPECT_EQ(data["schema"], "draftproof.distribution/1");
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
  EXPECT_EQ(input["limit"], distribution.limit);
  EXPECT_EQ(input["rounding_limit"], rounding_limit(Dtype::float16, 1, 2));
  EXPECT_EQ(input["unexplored"], 0.0);
  EXPECT_EQ(input["calls"], program.runs_made);
  EXPECT_EQ(input["predicted"], distribution.predicted);
  EXPECT_FALSE(input.contains("tape"));
}

TEST(DistributionReport, AProgramThatIsNoFunction) {
  int calls = 0;
  InProcess program([&calls](const Input&, TapeDraws& draws) -> std::vector<Token> {
    draws.coin();
    return {++calls % 2};
  });
  const ProgramDistribution distribution = distribution_of(program, half);
  ASSERT_EQ(distribution.state, DistributionState::not_a_function);
  const Document document = distribution_document(distribution, half);
  EXPECT_EQ(document.data["inputs"][0]["state"], "not_a_function");
  EXPECT_FALSE(document.data["inputs"][0]["tape"].empty());
  EXPECT_EQ(document.sections[0].title, "Input 0, drafts (1), not a function");
}

TEST(DistributionReport, TextsOfStretches) {
  EXPECT_EQ(stretch_text({.place = 2, .stream = "accept", .bits = 24, .first = 5, .last = 5}),
            "place 2, coin accept, 5 of 2^24");
  EXPECT_EQ(stretch_text({.place = 0, .kind = DrawKind::clock, .bits = 24, .first = 5, .last = 6}),
            "place 0, clock, 5 .. 6 of 2^24");
  ProgramDistribution distribution;
  for (std::uint64_t i = 0; i < 100; ++i)
    distribution.stretches.push_back({.bits = 24, .first = i, .last = i, .probability = 0x1p-24});
  const auto lines = deciding_lines(distribution);
  ASSERT_EQ(lines.size(), 24u);
  EXPECT_EQ(lines.back(), "and 77 more");
  distribution.stretches = {{.bits = 24, .first = 0, .last = (1 << 24) - 1, .probability = 1}};
  EXPECT_TRUE(deciding_lines(distribution).empty());
}

}  // namespace
}  // namespace draftproof::adapters
