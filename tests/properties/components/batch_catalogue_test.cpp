// Tests of wrong batch runners on instances that can be checked by hand, one instance for each wrong runner and check
// that fails on it, with the emitted distribution; and of correct runners that look wrong.
#include <set>
#include <string>

#include <gtest/gtest.h>

#include <draftproof/properties/components/batch/checks/other_rows.hpp>
#include <draftproof/properties/components/batch/checks/output.hpp>
#include <draftproof/properties/components/component_registry.hpp>
#include <draftproof/sim/components/batch/runners.hpp>
#include <draftproof/tests/package/kinds/slots_as_drafted.hpp>
#include <draftproof/verifiers/mutants/components/batch/output_columns.hpp>

namespace draftproof {
namespace {

/// Expects that the check fails for the runner on an instance, and that it fails for no correct runner. Returns the
/// evidence of the failed check.
std::string batch_complaint(std::string_view runner, std::string_view check, std::string_view instance) {
  for (const std::string_view correct : {"token_chain", "padded_output", "offsets_by_chunk"}) {
    const auto finding = examine_one(correct, check, instance);
    EXPECT_TRUE(finding && finding->status != Status::failed) << correct << ": " << finding->evidence;
  }
  const auto finding = examine_one(runner, check, instance);
  EXPECT_TRUE(finding && finding->status == Status::failed) << runner << ", " << check << ": " << instance;
  return finding ? finding->evidence : "";
}

struct WrongBatch {
  const char *runner, *check, *instance;
  std::string_view part;  ///< part of the evidence
};

const char* const two_rows = "order=(0 1) [p=(1 1)/2] [p=(1 1)/2]";
const char* const swapped = "order=(1 0) [p=(1 1)/2,(1 1)/2 q=(1 3)/4] [p=(1 1)/2,(1 1)/2 q=(3 1)/4]";
const char* const residual_masses =
    "order=(0 1) [p=(3 1 0)/4,(1 1 1)/3 q=(1 0 0)/1] [p=(2 1 1)/4,(1 1 1)/3 q=(1 0 0)/1]";
const char* const third_token = "order=(0) [p=(1 1 1)/3]";
const char* const stop = "order=(0) [p=(0 1)/1,(1 0)/1,(1 1)/2 q=(0 1)/1,(1 0)/1 stop=1]";
const char* const one_masked = "order=(0 1) [p=(1 1)/2 mask=(1 0)/1] [p=(1 1)/2 mask=(1 1)/2]";
const char* const two_calls = "order=(0 1) [p=(1 1)/2,(1 1)/2 q=(1 1)/2 seed=1] [p=(1 1)/2,(1 1)/2 q=(1 1)/2 seed=2]";

const WrongBatch wrong_batches[]{
    // Request 0 rejects its draft. The mutant then applies the mask of request 0's bonus row to request 1.
    {"mask_of_neighbour_row", "no_forbidden_token",
     "order=(0 1) [p=(0 1)/1,(1 1)/2 q=(1 0)/1 mask=(1 1)/2,(1 0)/1] [p=(1 1)/2 mask=(0 1)/1]",
     "request 1 emits [0]"},
    // The requests have 1 and 2 drafts. The mutant's offset of request 1 counts two proposal rows for request 0.
    {"proposal_row_offset_ragged", "row_distribution",
     "order=(0 1) [p=(1 2)/3,(1 1)/2 q=(1 0)/1] [p=(1 1)/2,(1 3)/4,(1 1)/2 q=(1 3)/4,(3 1)/4]", ""},
    // With the neighbour's row (3 1)/4 instead of (1 3)/4, token 0 is accepted with probability 2/3 and token 1 always,
    // and the residual has only token 1.
    {"proposals_not_permuted", "row_distribution", swapped, "got (1/6 5/6), expected (1/2 1/2), TV 1/3"},
    {"proposals_not_permuted", "slots_permuted", swapped, ""},
    {"one_seed_for_all_requests", "own_words", two_rows, "read twice"},
    // Each row alone has its distribution, but both rows emit the same token: TV 1/2 from independent rows.
    {"one_seed_for_all_requests", "row_distribution", two_rows, "TV 1/2"},
    // Request 0 has its first rejection at position 0, request 1 at position 1. The mutant writes the correction token
    // of request 1 at both positions.
    {"rejection_write_to_other_row", "row_alone",
     "order=(0 1) [p=(0 1)/1,(1 1)/2 q=(1 0)/1] [p=(1 0)/1,(0 1)/1,(1 1)/2 q=(1 0)/1,(1 0)/1]",
     "request 1 alone gives [0 1], 1 accepted, in the batch [1 1], 1 accepted"},
    {"pad_id_tested", "padding_ignored",
     "order=(0 1) [p=(0 1)/1,(0 1)/1 q=(0 1)/1] [p=(1 1)/2,(1 1)/2,(1 1)/2 q=(1 1)/2,(1 1)/2]",
     "request 0 has 1 drafts and 2 accepted"},
    // The residual masses of the two requests are 1/4 and 1/2. The mutant scans the second residual as if its mass were
    // 1/4, so its last token is never drawn.
    {"stale_block_sum", "row_distribution", residual_masses, ""},
    {"stale_block_sum", "row_alone", residual_masses, ""},
    // The mutant reads rows in tiles of two lanes; V = 3 leaves one lane of padding.
    {"padding_lanes_win", "row_distribution", third_token, "got (1/4 1/4 1/4 1/4)"},
    {"padding_lanes_win", "bad_rows_refused", third_token, ""},
    {"path_cut_late", "output_cut", stop, "cut [1 0], 2 accepted, expected [1], 1 accepted"},
    {"path_cut_early", "output_cut", stop, "cut [], 0 accepted"},
    {"masks_applied_in_place", "inputs_unchanged", one_masked,
     "entry 1 of the target rows has changed, restored after the call"},
    {"masks_applied_in_place", "rows_shared", one_masked, "where all share them"},
    {"settings_of_last_tenant", "histories", two_calls, "which no request has"},
    {"idle_position_not_advanced", "histories", two_calls, "which no request has"},
    {"coin_beside_last_draw", "draws_declared", "order=(0) [p=(1 1)/2]",
     "draws 1 uniform and 1 token, declared 0 uniforms and 1 token"}};

TEST(WrongBatches, AreReportedOnInstancesByHand) {
  for (const auto& [runner, check, instance, part] : wrong_batches)
    EXPECT_NE(batch_complaint(runner, check, instance).find(part), std::string::npos) << runner << ", " << check;
}

/// On an instance on which one check fails, checks that do not concern the bug pass.
TEST(WrongBatches, AreWrongInOneWay) {
  const auto passed = [](const char* runner, const char* check, const char* instance) {
    EXPECT_NE(examine_one(runner, check, instance)->status, Status::failed) << runner << ", " << check;
  };
  for (const char* check : {"row_distribution", "row_alone", "slots_permuted", "no_forbidden_token"})
    passed("masks_applied_in_place", check, one_masked);
  for (const char* runner : {"settings_of_last_tenant", "idle_position_not_advanced"})
    for (const char* check : {"row_distribution", "row_alone", "own_words", "draws_declared", "inputs_unchanged"})
      passed(runner, check, two_calls);
  passed("coin_beside_last_draw", "row_distribution", "order=(0) [p=(1 1)/2]");
  // The bugs of the runners below change nothing in a batch whose requests have equal lengths, keep their order and
  // have no masks.
  const char* equal = "order=(0 1) [p=(1 2)/3,(1 1)/2 q=(2 1)/3 seed=1] [p=(1 1)/2,(1 2)/3 q=(1 2)/3 seed=2]";
  for (const char* runner : {"mask_of_neighbour_row", "proposal_row_offset_ragged", "proposals_not_permuted",
                             "pad_id_tested", "one_seed_for_all_requests", "padding_lanes_win"})
    passed(runner, "row_distribution", equal);
}

TEST(WrongBatches, OffsetsIn32Bits) {
  const char* third_row = "order=(0 1 2) [p=(1 0)/1] [p=(1 0)/1] [p=(1 0)/1]";
  const auto correct = examine_one("token_chain", "wide_pitch", third_row);
  ASSERT_TRUE(correct);
  if (correct->status == Status::skipped) GTEST_SKIP() << correct->evidence;
  EXPECT_NE(batch_complaint("row_offset_int32", "wide_pitch", third_row).find("slot 2"), std::string::npos);
  // Unsigned offsets wrap at 2^32: here the third row begins at element 2^32 + 16. At 2^31 + 16 it would be read
  // correctly.
  EXPECT_NE(batch_complaint("row_offset_uint32", "wide_pitch", third_row).find("with 2147483656 elements"),
            std::string::npos);
  // A single row begins at element 0 for every pitch, so its offset cannot overflow.
  EXPECT_EQ(examine_one("row_offset_int32", "wide_pitch", "order=(0) [p=(1 0)/1]")->status, Status::passed);
}

TEST(WrongBatches, SettingsFromTheNinthSlotOn) {
  std::string eight = "order=(0 1 2 3 4 5 6 7", requests;
  for (int r = 0; r < 8; ++r) requests += " [p=(1 1)/2]";
  EXPECT_EQ(examine_one("settings_of_slot_in_chunk", "own_words", eight + ")" + requests)->status, Status::passed);
  const std::string nine = eight + " 8)" + requests + " [p=(1 1)/2]";
  EXPECT_NE(batch_complaint("settings_of_slot_in_chunk", "own_words", nine).find("read twice"), std::string::npos);
}

TEST(Batches, CasesHaveEverySizeUpToNineAndSizesBesidePowersOfTwo) {
  std::set<std::size_t> requests;
  std::set<int> vocabularies;
  for (const BatchCase& one : BatchGroup::cases(1, 1)) {
    requests.insert(one.requests.size());
    vocabularies.insert(one.vocabulary());
  }
  for (std::size_t size = 1; size <= 9; ++size) EXPECT_TRUE(requests.contains(size)) << size << " requests";
  for (const int size : {2, 3, 4, 5, 7, 8, 9, 15, 16, 17})
    EXPECT_TRUE(vocabularies.contains(size)) << size << " tokens";
  requests.clear();
  for (const BatchCase& one : BatchGroup::cases_of(components::batch::OffsetsByChunk::info, 1))
    requests.insert(one.requests.size());
  for (const std::size_t size : {3u, 4u, 5u, 9u}) EXPECT_TRUE(requests.contains(size)) << size << " requests";
}

/// A runner whose output has no slots.
struct NoSlots {
  static constexpr ComponentInfo info{.name = "no_slots", .summary = "", .source = ""};
  template <class Random>
  BatchOutput verify(const RaggedBatch&, Random&) {
    return {};
  }
};

TEST(Batches, FunctionsOfBatchesAreHeldByAllChecks) {
  component_registry();  // registers the checks
  for (const Finding& finding : ComponentOf<BatchGroup>(batch_runner<mine::RowByRow>(), Kind::verifier).examine({}))
    EXPECT_EQ(finding.status, finding.property == "wide_pitch" && finding.status == Status::skipped ? Status::skipped
                                                                                                    : Status::passed)
        << finding.property << ": " << finding.evidence << "\n"
        << finding.instance;
  const ComponentOf<BatchGroup> wrong(batch_runner<mine::SlotsAsDrafted>(), Kind::mutant);
  EXPECT_NE(
      wrong.examine_one("row_distribution", swapped)->evidence.find("got (1/6 5/6), expected (1/2 1/2), TV 1/3"),
      std::string::npos);
  EXPECT_EQ(wrong.examine_one("slots_permuted", swapped)->status, Status::failed);
  EXPECT_EQ(wrong.examine_one("row_distribution", two_rows)->status, Status::passed);
  const ComponentOf<BatchGroup> none(batch_runner<NoSlots>(), Kind::mutant);
  EXPECT_EQ(none.examine_one("row_alone", two_rows)->evidence, "got an output of 0 slots, expected 2");
}

TEST(Batches, ARowThatIsNotWalkedWholeIsUndecided) {
  using checks::batch::NoForbiddenToken, checks::batch::RowDistribution;
  const BatchRunner right = batch_runner<components::batch::TokenChain>();
  const BatchRunner wrong = batch_runner<mutants::components::batch::PaddingLanesWin>();  // TV 1/4 after a draft
  const BatchCase one = BatchCase::parse("order=(0) [p=(1 1 1)/3,(1 1 1)/3 q=(1 1 1)/3]");
  std::uint64_t branches = 0, work = 0;
  ASSERT_EQ(explore_batch_row(right, one, 0, 0, branches).unseen, 0);
  EXPECT_EQ(branches, 9u);
  for (const auto& [runner, status] : {std::pair(&right, Status::passed), std::pair(&wrong, Status::failed)}) {
    EXPECT_EQ(RowDistribution::check(*runner, one, work, {.leaves = 12}).status, status);
    const Answer cut = RowDistribution::check(*runner, one, work, {.leaves = 5});
    EXPECT_EQ(cut.status, Status::undecided) << cut.evidence;
    EXPECT_NE(cut.evidence.find("trial 0: request 0: more than 5 branches, probability 0."), std::string::npos);
  }
  EXPECT_EQ(NoForbiddenToken::check(right, one, work, {.leaves = 5}).status, Status::undecided);
  // A forbidden token with positive probability is a violation, even if some branches are not explored.
  const Answer seen = NoForbiddenToken::check(wrong, one, work, {.leaves = 8});
  EXPECT_EQ(seen.status, Status::failed) << seen.evidence;
}

TEST(Batches, RefusedDraftsStayBehindTheExtraToken) {
  const BatchCase one = BatchCase::parse("order=(0) [p=(0 1)/1,(1 1)/2,(1 1)/2 q=(1 0)/1,(1 0)/1]");
  const BatchRow row{.emitted = {1}, .accepted = 0, .refused = false};
  EXPECT_EQ(BuiltBatch(one, 0).run(batch_runner<components::batch::PaddedOutput>()).front(), row);
  EXPECT_EQ(BuiltBatch(one, 0).run(batch_runner<components::batch::TokenChain>()).front(), row);
}

TEST(Batches, OneHotTargetsNeedNoCoins) {
  // The targets are one-hot (temperature 0), so the step is the same for all random bits.
  const BatchCase one = BatchCase::parse("order=(0) [p=(0 1)/1,(1 0)/1,(0 1)/1 q=(0 1)/1,(0 1)/1]");
  for (std::uint32_t turn = 0; turn < batch_turns; ++turn)
    EXPECT_EQ(BuiltBatch(one, turn).run(batch_runner<components::batch::TokenChain>()).front().emitted,
              (std::vector<Token>{1, 0}));
}

TEST(BatchCases, TextIsReadBack) {
  for (int n = 0; n < 200; ++n) {
    const BatchCase one = generate_batch_case(7, n);
    ASSERT_TRUE(one.valid()) << one.text();
    EXPECT_EQ(BatchCase::parse(one.text()), one);
    for (const BatchCase& smaller : shrinks(one)) EXPECT_TRUE(smaller.valid()) << smaller.text();
  }
}

TEST(BatchCases, BadTextIsRefused) {
  for (const char* text : {"", "order=(0 1) [p=(3 1)/4,(1 1)/2 q=(1 0)/1] [p=(2 1 1)/4,(1 1 1)/3 q=(1 0 0)/1]",
                           "order=(0)", "order=(1) [p=(1)/1]", "order=(0 0) [p=(1)/1] [p=(1)/1]",
                           "order=(0) [p=(1 1)/2,(1 1)/2]", "order=(0) [p=(0 0)/0]", "order=(0) [p=(1 1)/2] x",
                           "order=(0) [p=(1 0)/1 mask=(0 1)/1]", "order=(0) [p=(1 0)/1 mask=(2 1)/3]",
                           "order=(0 1) [p=(1)/1 seed=1] [p=(1)/1 seed=1]", "order=(0) [p=(1)/1 stop=1]"})
    EXPECT_THROW(BatchCase::parse(text), std::invalid_argument) << text;
}

}  // namespace
}  // namespace draftproof
