// Tests of surveys of positions that are interrupted.
#include <atomic>
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include <draftproof/properties/blocks/checkpoint.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/properties/survey/survey.hpp>

namespace draftproof {
namespace {

constexpr const char* twelve = "zipf:vocabulary=40,positions=12";

/// Returns a source of a family.
Source rows_of(const std::string& spec, std::uint64_t positions = 1 << 20) {
  registry();  // which registers the families
  return Source::open(spec, {.selection = {.end = positions}});
}

SurveyOptions two_verifiers(std::uint64_t tuples) {
  return {.drafts = {2}, .tuples = tuples, .threads = 1, .verifiers = {"k_seq", "recursive_rejection"}};
}

/// Returns the survey if it is stopped once it has drawn `drawn` tuples.
SurveyResult stopped_after(std::uint64_t drawn, const Source& source, SurveyOptions options) {
  std::atomic<bool> stop{false};
  options.stop = &stop;
  options.progress = [&stop, drawn](std::uint64_t tuples) { stop = stop || tuples >= drawn; };
  return survey(source, options);
}

/// Expects the values of a whole survey of the first positions, apart from counts.
void expect_means_of(const SurveyResult& part, std::uint64_t positions) {
  const Source first = rows_of(twelve, positions);
  const SurveyResult whole = survey(first, two_verifiers(positions));
  for (std::size_t r = 0; r < part.rows.size(); ++r) {
    EXPECT_DOUBLE_EQ(part.rows[r].optimum.value(), whole.rows[r].optimum.value()) << positions;
    EXPECT_DOUBLE_EQ(part.rows[r].single, whole.rows[r].single) << positions;
  }
}

TEST(Survey, AnInterruptCountsCompletePositionsAlone) {
  constexpr std::uint64_t each = 5000;
  const Source source = rows_of(twelve);
  for (const std::uint64_t drawn : {each, 3 * each, 4 * each, 11 * each}) {
    const SurveyResult result = stopped_after(drawn, source, two_verifiers(12 * each));
    EXPECT_FALSE(result.complete);
    const std::uint64_t positions = drawn / (2 * each);  // two verifiers draw at each position
    for (const SurveyRow& row : result.rows) EXPECT_EQ(row.tally.trials, positions * each) << drawn;
    if (positions > 0) expect_means_of(result, positions);
  }
}

TEST(Survey, APartOfAPositionHasItsShareOfTheOptimum) {
  constexpr std::uint64_t part = std::uint64_t{1} << 20;
  Checkpoint blocks;
  SurveyOptions options = two_verifiers(12 * 2 * part);
  options.checkpoint = &blocks;  // only work in blocks divides a position
  const SurveyResult result = stopped_after(6 * part, rows_of(twelve), options);
  const SurveyResult one = survey(rows_of(twelve, 1), two_verifiers(1)),
                     two = survey(rows_of(twelve, 2), two_verifiers(2));
  for (std::size_t r = 0; r < result.rows.size(); ++r) {
    EXPECT_EQ(result.rows[r].tally.trials, 3 * part) << "both parts of the first position, one of the second";
    const double first = one.rows[r].optimum.value(), second = 2 * two.rows[r].optimum.value() - first;
    // Each side has at most four roundings of numbers below 2.
    EXPECT_NEAR(result.rows[r].optimum.value(), (2 * first + second) / 3, 8 * 0x1p-53);
  }
}

TEST(Survey, AnInterruptAtTheOnlyPositionKeepsItsTrials) {
  const Source source = rows_of("zipf:vocabulary=40");
  const SurveyResult result = stopped_after(1, source, two_verifiers(5000));
  EXPECT_FALSE(result.complete);
  EXPECT_GT(result.rows.front().tally.trials, 0u);
  EXPECT_TRUE(result.rows.front().optimum);
}

}  // namespace
}  // namespace draftproof
