// What changed between two results, and the writers for other programs: CSV, JSON Lines, marks of hosted CI.
#include <draftproof/report/page/comparison.hpp>

#include <sstream>

#include <gtest/gtest.h>

#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/report/register_writer.hpp>

namespace draftproof::page {
namespace {

std::string as(const std::string& format, const Json& data) {
  registry();  // writers are found with everything else
  std::ostringstream out;
  for (const Writer& writer : found_writers())
    if (writer.name == format) writer.write({data, {}}, out, {});
  return out.str();
}

Json proof(const char* verifier, const char* verdict) {
  Json data{{"verifier", verifier}, {"law", "iid"}, {"verdict", verdict}, {"instances", 3}};
  if (std::string(verdict) == "refuted")
    data["findings"] = {{{"property", "exact_law"},
                         {"status", "violated"},
                         {"counterexample", "p=(1 1)/2 q=(0 1)/1 K=1"},
                         {"evidence", "got (1/4 3/4), wanted (1/2 1/2), TV 1/4"},
                         {"replay", "draftproof replay a, b: 100 %"}}};
  return data;
}

Json proofs(std::initializer_list<Json> list) {
  return {{"schema", "draftproof.prove/2"}, {"seed", 1}, {"proofs", Json(std::vector<Json>(list))}};
}

Json survey(double rate, double low, double high) {
  return {{"schema", "draftproof.survey/2"},
          {"sources",
           {{{"source", "s, \"t\""},
             {"rows",
              {{{"verifier", "a"},
                {"law", "iid"},
                {"drafts", 2},
                {"membership", {{"rate", rate}, {"low", low}, {"high", high}}},
                {"accepted_by_draft", {3, 4}},
                {"optimum", nullptr}}}}}}}};
}

TEST(Comparison, VerdictsFirst) {
  const Json before = proofs({proof("a", "proved"), proof("b", "refuted"), proof("c", "undecided"),
                              proof("d", "proved"), proof("e", "proved")});
  const Json after = proofs({proof("a", "refuted"), proof("b", "proved"), proof("c", "undecided"),
                             proof("e", "lossy"), proof("f", "proved")});
  const Comparison comparison = compare({"old.json", before}, {"new.json", after});
  EXPECT_EQ(comparison.worse, 2) << "a refuted, e lossy";
  EXPECT_EQ(comparison.gone, 1);
  const Json& data = comparison.document.data;
  std::string changes;
  for (const Json& entry : data["verdicts"])
    changes += entry["subject"].get<std::string>() + " " + entry["change"].get<std::string>() + ", ";
  EXPECT_EQ(changes, "a worse, e worse, d gone, b better, f new, ");
  EXPECT_EQ(data["same_verdicts"], 1);
  EXPECT_NE(data["verdicts"][0]["counterexample"].get<std::string>().find("got (1/4 3/4)"), std::string::npos);
  EXPECT_EQ(compare({"", before}, {"", before}).worse, 0);
  EXPECT_TRUE(compare({"", before}, {"", before}).document.data["verdicts"].empty());
}

TEST(Comparison, AcceptanceBeyondBothIntervals) {
  const auto change = [](const Json& after) {
    const Json data = compare({"", survey(0.5, 0.4, 0.6)}, {"", after}).document.data;
    return data["acceptance"].empty() ? std::string() : data["acceptance"][0]["change"].get<std::string>();
  };
  EXPECT_EQ(change(survey(0.65, 0.55, 0.75)), "") << "the intervals meet";
  EXPECT_EQ(change(survey(0.7, 0.61, 0.8)), "more");
  EXPECT_EQ(change(survey(0.3, 0.2, 0.39)), "less");
}

TEST(Comparison, OfJoinedResultsTakesTheWorstVerdict) {
  const Json joint = joined({{"1", proofs({proof("a", "refuted")})}, {"2", proofs({proof("a", "proved")})}});
  EXPECT_EQ(compare({"", proofs({proof("a", "proved")})}, {"", joint}).worse, 1);
}

TEST(CsvWriter, QuotesAndKeepsDigits) {
  EXPECT_EQ(as("csv", survey(0.1, 0.05, 1.0 / 3)),
            "source,verifier,law,drafts,membership.rate,membership.low,membership.high,accepted_by_draft,optimum\r\n"
            "\"s, \"\"t\"\"\",a,iid,2,0.1,0.05,0.3333333333333333,3 4,\r\n");
  EXPECT_EQ(as("csv", {{"schema", "draftproof.x/1"}}), "");
}

TEST(JsonlWriter, HasARowALine) {
  EXPECT_EQ(as("jsonl", survey(0.1, 0.05, 0.2)),
            "{\"source\":\"s, \\\"t\\\"\",\"verifier\":\"a\",\"law\":\"iid\",\"drafts\":2,\"membership.rate\":0.1,"
            "\"membership.low\":0.05,\"membership.high\":0.2,\"accepted_by_draft\":[3,4],\"optimum\":null}\n");
  EXPECT_EQ(as("jsonl", proofs({proof("a", "proved"), proof("b", "refuted")})).find("verifier"), 2u)
      << "without surveys the first table";
}

TEST(AnnotationsWriter, NamesSchemeAndCounterexample) {
  EXPECT_EQ(
      as("annotations", proofs({proof("a", "refuted"), proof("b", "proved"), proof("c", "lossy")})),
      "::error title=a (iid)%3A exact_law violated::on p=(1 1)/2 q=(0 1)/1 K=1: got (1/4 3/4), wanted (1/2 1/2), "
      "TV 1/4%0Adraftproof replay a, b: 100 %25\n");
  const Json worse =
      compare({"", proofs({proof("a", "proved")})}, {"", proofs({proof("a", "undecided")})}).document.data;
  EXPECT_EQ(as("annotations", worse), "::error title=a (iid) got worse::proved -> undecided. \n");
  EXPECT_EQ(as("annotations", {{"schema", "draftproof.mutants/2"},
                               {"mutants", {{{"mutant", "m"}, {"with", "iid"}, {"caught", false}}}}}),
            "::error title=m (iid)%3A not caught::\n");
}

}  // namespace
}  // namespace draftproof::page
