#include <draftproof/captures/source.hpp>

#include <draftproof/captures/capture.hpp>
#include <draftproof/captures/families/generated.hpp>
#include <draftproof/captures/family.hpp>

#include <draftproof/tests/support/hostile.hpp>
#include <draftproof/tests/support/written_capture.hpp>

namespace draftproof {
namespace {

using hostile::expect_input_error;
const std::string stories = std::string(DRAFTPROOF_SOURCE_DIR) + "/data/stories512_positions.npz";

class SourceTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { register_family<families::GaussianLogits>(); }
};

TEST_F(SourceTest, FileGivesItsFirstProposalUnlessAskedForOthers) {
  const Source source = Source::open(stories);
  EXPECT_EQ(source.name(), "stories512_positions");
  EXPECT_EQ(source.positions(), 288u);
  EXPECT_EQ(source.vocabulary(), 512u);
  EXPECT_EQ(source.proposal_names(), std::vector<std::string>{"draft_q4"});
  EXPECT_EQ(Source::open(stories + ":draft_q3").proposal_names(), std::vector<std::string>{"draft_q3"});
  const Source two = Source::open(stories + ":draft_exit4,draft_q4");
  EXPECT_EQ(two.proposal_names(), (std::vector<std::string>{"draft_exit4", "draft_q4"}));
  EXPECT_EQ(two.pair(3).proposals[1], source.pair(3).proposals[0]);
  EXPECT_EQ(Source::open(stories + ":draft_q4", {.proposals = {"draft_q3"}}).proposal_names().front(), "draft_q3");
}

TEST_F(SourceTest, FiltersAreSeparate) {
  const Source source = Source::open(stories, {.target_filter = {.temperature = 0}, .proposal_filter = {.top_k = 4}});
  const RowPair rows = source.pair(0);
  EXPECT_EQ(std::count(rows.target.begin(), rows.target.end(), 0.0), 511);
  EXPECT_EQ(std::count(rows.proposals[0].begin(), rows.proposals[0].end(), 0.0), 508);
  EXPECT_EQ(source.describe()["target_filter"]["temperature"], 0);
  EXPECT_EQ(source.describe()["proposal_filter"]["top_k"], 4);
}

TEST_F(SourceTest, DraftTemperaturesMakeAProposalEachOfOne) {
  const Source source = Source::open(stories, {.proposal_filter = {.top_k = 9}, .draft_temperatures = {1, 0, 1.5}});
  EXPECT_EQ(source.proposal_names(), (std::vector<std::string>{"draft_q4@1", "draft_q4@0", "draft_q4@1.5"}));
  EXPECT_EQ(source.describe()["draft_temperatures"], (std::vector<double>{1, 0, 1.5}));
  EXPECT_EQ(source.describe()["proposal_filter"]["top_k"], 9);
  EXPECT_FALSE(source.describe()["proposal_filter"].contains("temperature"));
  const RowPair rows = source.pair(5);
  ASSERT_EQ(rows.proposals.size(), 3u);
  for (std::size_t k = 0; k < 3; ++k) {
    const double temperature = source.describe()["draft_temperatures"][k];
    const Filter filter{.temperature = temperature, .top_k = 9};
    EXPECT_EQ(rows.proposals[k], Source::open(stories, {.proposal_filter = filter}).pair(5).proposals[0]);
  }
  EXPECT_EQ(rows.target, Source::open(stories).pair(5).target);
  EXPECT_FALSE(Source::open(stories).describe().contains("draft_temperatures"));
}

TEST_F(SourceTest, DraftTemperaturesTemperOneProposalOfAFamily) {
  const std::string family = "gaussian_logits:vocabulary=20,drafts=3";
  const Source source = Source::open(family, {.proposals = {"draft_2"}, .draft_temperatures = {0.5, 2}, .seed = 9});
  EXPECT_EQ(source.proposal_names(), (std::vector<std::string>{"draft_2@0.5", "draft_2@2"}));
  const auto untempered = Source::open(family, {.seed = 9}).pair(0).proposals[1];
  EXPECT_EQ(source.pair(0).proposals[1], filtered_law(untempered, {.temperature = 2}));
  EXPECT_NE(source.pair(0).proposals[0], source.pair(0).proposals[1]);
}

TEST_F(SourceTest, RefusesDraftTemperaturesThatAreNone) {
  expect_input_error(
      [] {
        Source::open(stories, {.draft_temperatures = {1, -2}});
      },
      {"draft temperatures", "temperature -2"});
  expect_input_error([] { Source::open(stories, {.draft_temperatures = {std::nan("")}}); }, {"temperature nan"});
  expect_input_error([] { Source::open(stories, {.draft_temperatures = std::vector<double>(33, 1)}); },
                     {"33 draft temperatures", "at most 32"});
  expect_input_error(
      [] {
        Source::open(stories + ":draft_q4,draft_q3", {.draft_temperatures = {1, 2}});
      },
      {"2 proposals", "one proposal of draft_q4, draft_q3"});
  expect_input_error(
      [] {
        Source::open(stories, {.proposal_filter = {.temperature = 2}, .draft_temperatures = {1, 2}});
      },
      {"proposal temperature 2", "one or the other"});
}

TEST_F(SourceTest, DescribesProvenance) {
  const auto description = Source::open(stories).describe();
  EXPECT_EQ(description["kind"], "capture");
  EXPECT_EQ(description["metadata"]["set"], "stories512");
  EXPECT_TRUE(description["metadata"].contains("licence"));
}

TEST_F(SourceTest, FamilyBySpec) {
  const Source source = Source::open("gaussian_logits:vocabulary=20,drafts=3,positions=4",
                                     {.proposals = {"draft_3", "draft_1"}, .seed = 9});
  EXPECT_EQ(source.positions(), 4u);
  EXPECT_EQ(source.vocabulary(), 20u);
  const RowPair all = parse_family("gaussian_logits:vocabulary=20,drafts=3").pair(9, 2);
  EXPECT_EQ(source.pair(2).proposals[0], all.proposals[2]);
  EXPECT_EQ(source.pair(2).proposals[1], all.proposals[0]);
  EXPECT_EQ(source.describe()["seed"], 9);
  EXPECT_EQ(Source::open("gaussian_logits").proposal_names(), std::vector<std::string>{"draft"});
}

TEST_F(SourceTest, RefusesWhatItCannotOpen) {
  expect_input_error([] { Source::open("nothing"); },
                     {"nothing: found neither a file nor a family", "gaussian_logits"});
  expect_input_error([] { Source::open("/none/x.npz"); }, {"/none/x.npz", "no such file"});
  expect_input_error([] { Source::open("/none/x.npz:draft"); }, {"/none/x.npz", "no such file"});
  expect_input_error([] { Source::open(stories + ":draft_x"); },
                     {"no proposal \"draft_x\"", "draft_q4, draft_q3, draft_exit4"});
  expect_input_error([] { Source::open("gaussian_logits", {.proposals = {"x"}}); },
                     {"no proposal \"x\"", "one of draft"});
  expect_input_error([] { Source::open(stories, {.proposal_filter = {.top_p = 2}}); },
                     {"proposal filter", "top-p 2"});
}

TEST_F(SourceTest, TruncatedCaptureRefusesAFilterOnOpening) {
  const hostile::TemporaryDirectory directory;
  const auto file = directory / "x_topk.npz";
  write_npz(file, {{"ids", make_array<std::int32_t>({1, 1}, std::vector<std::int32_t>{4})},
                   {"target", make_array<double>({1, 1}, std::vector<double>{0.75})},
                   {"draft", make_array<double>({1, 1}, std::vector<double>{0.5})},
                   {"rest_target", make_array<double>({1}, std::vector<double>{0.25})},
                   {"rest_draft", make_array<double>({1}, std::vector<double>{0.5})}});
  EXPECT_EQ(Source::open(file.string()).pair(0).target, (std::vector<double>{0.75, 0.25}));
  expect_input_error([&] { Source::open(file.string(), {.target_filter = {.top_k = 1}}); },
                     {"x_topk.npz", "truncated"});
  expect_input_error(
      [&] {
        Source::open(file.string(), {.draft_temperatures = {1, 2}});
      },
      {"x_topk.npz", "truncated"});
  EXPECT_EQ(Source::open(file.string(), {.draft_temperatures = {1, 1}}).pair(0).proposals.size(), 2u);
}

}  // namespace
}  // namespace draftproof
