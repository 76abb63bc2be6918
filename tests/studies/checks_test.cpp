// A failed comparison is counted, named and fails the study; one within its tolerance does not.
#include <limits>

#include <gtest/gtest.h>

#include <draftproof/studies/checks.hpp>

namespace draftproof {
namespace {

TEST(Checks, HoldUpToTheTolerance) {
  Checks checks;
  checks.at_most(1, 1, 0, [] { return "equal"; });
  checks.at_most(1.25, 1, 0.25, [] { return "within"; });
  EXPECT_TRUE(checks.held());
  checks.at_most(1.5, 1, 0.25, [] { return "beyond"; });
  EXPECT_FALSE(checks.held());
}

TEST(Checks, ANumberThatIsNoneFails) {
  Checks checks;
  checks.at_most(std::numeric_limits<double>::quiet_NaN(), 1, 1, [] { return "nan"; });
  EXPECT_FALSE(checks.held());
}

TEST(Checks, ReportTurnsTheVerdictAndSaysWhy) {
  Checks checks;
  for (int i = 0; i < 20; ++i) checks.at_most(2, 1, 0, [i] { return fmt::format("number {}", i); });
  checks.at_most(0, 1, 0, [] { return "fine"; });
  StudyResult result;
  checks.report(result, "small ones only");
  EXPECT_FALSE(result.held);
  EXPECT_EQ(result.document.data["checks"]["checked"], 21);
  EXPECT_EQ(result.document.data["checks"]["violated"], 20);
  EXPECT_EQ(result.document.data["checks"]["violations"].size(), 10u);
  EXPECT_EQ(result.document.data["checks"]["violations"][0], "number 0: 2 > 1");
}

TEST(Checks, AResultThatFailedStaysFailed) {
  StudyResult result;
  result.held = false;
  Checks().report(result, "nothing");
  EXPECT_FALSE(result.held);
}

}  // namespace
}  // namespace draftproof
