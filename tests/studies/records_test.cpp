// Tests that records give a table and data, that published numbers are compared to their printed digits, and that a
// failed comparison is counted, named and fails the study.
#include <limits>

#include <gtest/gtest.h>

#include <draftproof/bench/studies/records.hpp>

namespace draftproof {
namespace {

TEST(Records, AreTableAndDataInOne) {
  Records records{{.title = "title"}};
  for (const int k : {1, 2})
    records.add({word("scheme", "verifier", "ladder"), number("K", "drafts", k),
                 number("mean", "", 0.25 * k, "{:.2f}"), datum("mean", 0.25 * k), verdict("", k == 1)});
  Document document;
  records.write(document, document.data["of"], "rows");
  EXPECT_EQ(document.data["of"]["rows"].dump(),
            R"([{"verifier":"ladder","drafts":1,"mean":0.25},{"verifier":"ladder","drafts":2,"mean":0.5}])");
  const Table& table = document.sections.at(0).table;
  ASSERT_EQ(table.columns.size(), 4u);
  EXPECT_EQ(table.columns[2].title, "mean");
  EXPECT_TRUE(table.columns[2].numeric);
  EXPECT_FALSE(table.columns[0].numeric);
  EXPECT_EQ(table.rows.at(1)[2].text, "0.50");
  EXPECT_EQ(table.rows[1][3].text, "differs");
  EXPECT_EQ(table.rows[1][3].tone, Tone::bad);
}

TEST(Reference, AgreesToHalfAUnitOfItsLastDigit) {
  const Reference printed{"0.8650"};
  EXPECT_EQ(printed.value(), 0.865);
  EXPECT_EQ(Reference{"3/4"}.value(), 0.75);
  EXPECT_TRUE(printed.agrees(0.86504));
  EXPECT_TRUE(printed.agrees(0.86496));
  EXPECT_FALSE(printed.agrees(0.86506));
  EXPECT_FALSE(printed.agrees(0.86494));
  EXPECT_TRUE(printed.agrees(0.86506, 2e-5)) << "a given error widens it";
  EXPECT_TRUE(Reference{"1"}.agrees(1.4));
  EXPECT_FALSE(Reference{"1.000000"}.agrees(0.99999));
  EXPECT_FALSE(Reference{"nothing"}.agrees(0)) << "what is no number agrees with nothing";
  EXPECT_TRUE(Reference{}.agrees(0.1)) << "nothing was published";
  EXPECT_TRUE(Reference{"2/3"}.matches({4, 6}, 0));
  EXPECT_FALSE(Reference{"2/3"}.matches({667, 1000}, 1)) << "fractions are equal or not";
  EXPECT_TRUE(Reference{"0.67"}.matches({2, 3}, 0));
}

TEST(Checks, HoldUpToTheTolerance) {
  Checks checks;
  checks.at_most(1, 1, 0, [] { return "equal"; });
  checks.at_most(1.25, 1, 0.25, [] { return "within"; });
  checks.holds(true, [] { return "true"; });
  EXPECT_TRUE(checks.passed());
  checks.at_most(1.5, 1, 0.25, [] { return "beyond"; });
  EXPECT_FALSE(checks.passed());
  for (const bool condition : {true, false}) {
    Checks others;
    if (condition)
      others.holds(false, [] { return "false"; });
    else
      others.at_most(std::numeric_limits<double>::quiet_NaN(), 1, 1, [] { return "NaN is not a number"; });
    EXPECT_FALSE(others.passed());
  }
}

TEST(Checks, ReportTurnsTheVerdictAndSaysWhy) {
  Checks checks;
  for (int i = 0; i < 20; ++i) checks.at_most(2, 1, 0, [i] { return fmt::format("number {}", i); });
  checks.at_most(0, 1, 0, [] { return "fine"; });
  StudyResult result;
  checks.report(result, "small ones only");
  EXPECT_FALSE(result.passed);
  EXPECT_EQ(result.document.data["checks"]["checked"], 21);
  EXPECT_EQ(result.document.data["checks"]["failed"], 20);
  EXPECT_EQ(result.document.data["checks"]["violations"].size(), 10u);
  EXPECT_EQ(result.document.data["checks"]["violations"][0], "number 0: 2 > 1");
  Checks().report(result, "nothing");
  EXPECT_FALSE(result.passed) << "a result that failed stays failed";
}

}  // namespace
}  // namespace draftproof
