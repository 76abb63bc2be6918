// Tests of sources of positions: parametric families, capture files, and the errors of their specifications.
#include <algorithm>
#include <cmath>
#include <set>

#include <draftproof/captures/families/generated.hpp>
#include <draftproof/captures/nearest_names.hpp>
#include <draftproof/captures/source.hpp>
#include <draftproof/tests/support/hostile.hpp>
#include <draftproof/tests/support/written_capture.hpp>

namespace draftproof {
namespace {

using hostile::expect_input_error;

class FamilyTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    register_family<families::Zipf>();
    register_family<families::Dirichlet>();
    register_family<families::GaussianLogits>();
    register_family<families::Uniform>();
    register_family<families::Bernoulli>();
    register_family<families::OneHot>();
    register_family<families::Zipf>();
  }
};

TEST(OneLine, HasNoControlCharactersAndOnlyWholeCharacters) {
  const struct {
    std::string text, line;
  } cases[] = {{"a\x1b[31mb\nc\td\x7f"
                "e",
                "a [31mb c d e"},
               {"c1 \xc2\x9b, lines \xe2\x80\xa8\xe2\x80\xa9, \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80",
                "c1  , lines   , \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"},
               {"\xff \xc3 \xc0\xaf \xed\xa0\x80 \xf4\x90\x80\x80 \xe2\x82", "? ? ?? ??? ???? ??"},
               {"12345678\xc3\xa9", "12345678\xc3\xa9"},
               {"123456789\xc3\xa9", "123456789..."},
               {std::string(100, 'x'), "xxxxxxxxxx..."}};
  for (const auto& [text, line] : cases)
    EXPECT_EQ(one_line(text, 10 + (text.find("12") != 0 && text.size() < 99) * 90), line);
  EXPECT_EQ(one_line(std::string(1000, 'x')).size(), 303u);
}

double overlap(const RowPair& rows) {
  double sum = 0;
  for (std::size_t x = 0; x < rows.target.size(); ++x) sum += std::min(rows.target[x], rows.proposals[0][x]);
  return sum;
}

double mean_overlap(std::string_view spec) {
  const Family family = parse_family(spec);
  double sum = 0;
  for (std::size_t i = 0; i < 50; ++i) sum += overlap(family.pair(1, i));
  return sum / 50;
}

TEST_F(FamilyTest, RegistryIsSortedAndWithoutDoubles) {
  std::vector<std::string> names;
  for (const FamilyInfo& info : known_families()) names.push_back(info.name);
  for (const char* name : {"bernoulli", "dirichlet", "gaussian_logits", "one_hot", "uniform", "zipf"})
    EXPECT_EQ(std::count(names.begin(), names.end(), name), 1) << name;
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
}

TEST_F(FamilyTest, EveryFamilyGivesDistributionsAtDefaultsAndAtTheEndsOfItsRanges) {
  for (const FamilyInfo& info : known_families())
    for (std::size_t k = 0; k <= 2 * info.parameters.size(); ++k) {
      std::vector<double> values;
      for (const ParameterInfo& p : info.parameters) values.push_back(p.name == "vocabulary" ? 40 : p.initial);
      if (k < 2 * info.parameters.size()) {
        const ParameterInfo& p = info.parameters[k / 2];
        if (p.name == "vocabulary" && k % 2 == 1) continue;  // the largest value, a million tokens, is slow
        values[k / 2] = k % 2 == 0 ? p.low : p.high;
      }
      const Family family = info.make(values);
      for (std::size_t i = 0; i < 3; ++i) {
        const RowPair rows = family.pair(3, i);
        ASSERT_EQ(rows.target.size(), family.vocabulary) << info.name;
        ASSERT_EQ(rows.proposals.size(), family.drafts) << info.name;
        EXPECT_NO_THROW(check_row(rows.target, {info.name, "target", i}, 1e-12)) << k;
        for (const auto& proposal : rows.proposals)
          EXPECT_NO_THROW(check_row(proposal, {info.name, "draft", i}, 1e-12)) << k;
      }
    }
}

TEST_F(FamilyTest, PairsArePureFunctionsOfSeedAndPosition) {
  for (const char* spec :
       {"zipf:vocabulary=64,shuffle=1", "dirichlet:vocabulary=64", "gaussian_logits:vocabulary=64"}) {
    const Family family = parse_family(spec);
    EXPECT_EQ(family.pair(1, 5).target, parse_family(spec).pair(1, 5).target) << spec;
    EXPECT_NE(family.pair(1, 5).target, family.pair(2, 5).target) << spec;
    EXPECT_NE(family.pair(1, 5).target, family.pair(1, 6).target) << spec;
  }
}

TEST_F(FamilyTest, DraftsDiffer) {
  for (const char* spec : {"zipf:drafts=3", "dirichlet:drafts=3", "gaussian_logits:drafts=3"}) {
    const RowPair rows = parse_family(spec).pair(1, 0);
    ASSERT_EQ(rows.proposals.size(), 3u);
    EXPECT_NE(rows.proposals[0], rows.proposals[1]);
    EXPECT_NE(rows.proposals[1], rows.proposals[2]);
  }
}

TEST_F(FamilyTest, ClosedForms) {
  EXPECT_DOUBLE_EQ(overlap(parse_family("bernoulli:target=0.7,draft=0.4").pair(1, 0)), 0.7);
  EXPECT_DOUBLE_EQ(overlap(parse_family("uniform:vocabulary=10,draft_support=5,shift=8").pair(1, 0)), 0.5);
  EXPECT_EQ(parse_family("uniform:vocabulary=4,target_support=2,draft_support=2,shift=3").pair(1, 0).proposals[0],
            (std::vector<double>{0.5, 0, 0, 0.5}));
  const RowPair zipf = parse_family("zipf:vocabulary=3,exponent=1,draft_exponent=1,shift=1,noise=0").pair(1, 0);
  EXPECT_NEAR(zipf.target[0], 6.0 / 11, 1e-15);
  EXPECT_NEAR(zipf.proposals[0][2], 6.0 / 11, 1e-15);
  EXPECT_NEAR(mean_overlap("gaussian_logits:noise=0"), 1, 1e-14);
  EXPECT_EQ(mean_overlap("one_hot:agreement=1"), 1);
  EXPECT_EQ(mean_overlap("one_hot:agreement=0"), 0);
}

TEST_F(FamilyTest, CloserDraftsOverlapMore) {
  EXPECT_LT(mean_overlap("dirichlet:closeness=1") + 0.1, mean_overlap("dirichlet:closeness=100"));
  EXPECT_LT(mean_overlap("gaussian_logits:noise=2") + 0.1, mean_overlap("gaussian_logits:noise=0.5"));
}

// A token of Dirichlet(c, c) has mean 1/2 and variance 1 / (4 (2 c + 1)). With c = 1/4 this tests gamma variates of
// small shape. The tolerance is six standard errors of the mean square of 4000 draws; a standard error is at most 1/4 /
// sqrt(4000).
TEST_F(FamilyTest, DirichletHasItsVariance) {
  const Family family = parse_family("dirichlet:vocabulary=2,concentration=0.25");
  double square = 0;
  for (std::size_t i = 0; i < 4000; ++i) square += std::pow(family.pair(1, i).target[0] - 0.5, 2) / 4000;
  EXPECT_NEAR(square, 1.0 / 6, 6 / std::sqrt(4000.0) / 4);
}

// All machines give these values, because Philox counters determine the bits and Boost the algorithms; only the last
// digits depend on the mathematical library libm.
TEST_F(FamilyTest, RandomDistributionsArePinned) {
  const RowPair rows = parse_family("gaussian_logits:vocabulary=2,sigma=1,noise=1").pair(1, 0);
  EXPECT_NEAR(rows.target[0], 0.94571467985288549, 1e-12);
  EXPECT_NEAR(rows.proposals[0][0], 0.7725535010992719, 1e-12);
}

TEST_F(FamilyTest, SpecsSetPositionsAndSettings) {
  const Family family = parse_family("zipf:vocabulary=32000,exponent=1.1,positions=8");
  EXPECT_EQ(family.positions, 8u);
  EXPECT_EQ(family.vocabulary, 32000u);
  EXPECT_EQ(family.describe()["parameters"]["exponent"], 1.1);
  EXPECT_EQ(parse_family("zipf").vocabulary, 1000u);
  EXPECT_EQ(parse_family("zipf:").positions, 1u);
}

TEST_F(FamilyTest, BadSpecsNameWhatIsKnown) {
  const std::pair<const char*, std::vector<std::string>> bad[]{
      {"zapf:x=1", {"zapf:x=1: got no family \"zapf\"", "bernoulli", "did you mean zipf?"}},
      {"zipf:power=1", {"no parameter \"power\" of zipf", "exponent", "positions"}},
      {"zipf:exponent=-1", {"exponent = \"-1\"", "from 0 to 20"}},
      {"zipf:exponent=nan", {"exponent = \"nan\""}},
      {"zipf:vocabulary=2.5", {"a whole number from 2"}},
      {"zipf:vocabulary=1e9", {"vocabulary = \"1e9\""}},
      {"zipf:exponent=1x", {"exponent = \"1x\""}},
      {"zipf:exponent", {"exponent = \"\""}},
      {"zipf:exponent=1,exponent=2", {"exponent twice"}},
      {"zipf:positions=0", {"positions = \"0\""}},
      {"zipf:,", {"no parameter \"\""}}};
  for (const auto& [spec, parts] : bad) expect_input_error([&, text = spec] { parse_family(text); }, parts);
}

const std::string stories = std::string(DRAFTPROOF_SOURCE_DIR) + "/data/stories512_positions.npz";

class SourceTest : public FamilyTest {};

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
  EXPECT_EQ(two.name(), "stories512_positions:draft_exit4,draft_q4");
  EXPECT_EQ(Source::open(stories, {.proposals = {"draft_q3"}}).proposal_names().front(), "draft_q3");
  EXPECT_THROW(Source::open(stories + ":draft_q4", {.proposals = {"draft_q3"}}), InputError);
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
  EXPECT_EQ(source.pair(0).proposals[1], filtered_distribution(untempered, {.temperature = 2}));
  EXPECT_NE(source.pair(0).proposals[0], source.pair(0).proposals[1]);
}

TEST_F(SourceTest, RefusesDraftTemperaturesThatAreNone) {
  const auto refused = [](const std::string& spec, const SourceOptions& options,
                          const std::vector<std::string>& parts) {
    expect_input_error([&] { Source::open(spec, options); }, parts);
  };
  refused(stories, {.draft_temperatures = {1, -2}}, {"draft temperatures", "temperature -2"});
  refused(stories, {.draft_temperatures = {std::nan("")}}, {"temperature nan"});
  refused(stories, {.draft_temperatures = std::vector<double>(33, 1)}, {"33 draft temperatures", "at most 32"});
  refused(stories + ":draft_q4,draft_q3", {.draft_temperatures = {1, 2}},
          {"2 proposals", "one proposal of draft_q4, draft_q3"});
  refused(stories, {.proposal_filter = {.temperature = 2}, .draft_temperatures = {1, 2}},
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

TEST_F(SourceTest, ASampleHasOnePositionOfEachRange) {
  const auto addresses = [](const Selection& selection, std::uint64_t seed) {
    const Source source = Source::open("zipf:vocabulary=4,positions=12", {.seed = seed, .selection = selection});
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < source.positions(); ++i) found.push_back(source.address(i));
    return found;
  };
  std::vector<std::set<std::size_t>> ranges(3);
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const auto found = addresses({.first = 2, .end = 10, .sample = 3}, seed);
    ASSERT_EQ(found.size(), ranges.size());
    for (std::size_t i = 0; i < found.size(); ++i) ranges[i].insert(found[i]);
  }
  EXPECT_EQ(ranges, (std::vector<std::set<std::size_t>>{{2, 3, 4}, {5, 6, 7}, {8, 9}}));
  EXPECT_EQ(addresses({.first = 2, .end = 5, .sample = 8}, 1), (std::vector<std::size_t>{2, 3, 4}));
}

TEST_F(SourceTest, RefusesWhatItCannotOpen) {
  expect_input_error([] { Source::open("nothing"); },
                     {"nothing: got neither a file nor a family", "gaussian_logits"});
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
