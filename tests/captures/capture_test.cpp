#include <draftproof/captures/capture.hpp>

#include <cmath>
#include <limits>

#include <draftproof/captures/families/generated.hpp>
#include <draftproof/sim/numeric/sums.hpp>
#include <draftproof/tests/support/hostile.hpp>
#include <draftproof/tests/support/written_capture.hpp>

namespace draftproof {
namespace {

using namespace hostile;

Array floats(std::vector<std::size_t> shape, const std::vector<float>& values) {
  return make_array<float>(std::move(shape), values);
}
Array doubles(std::vector<std::size_t> shape, const std::vector<double>& values) {
  return make_array<double>(std::move(shape), values);
}
Array integers(std::vector<std::size_t> shape, const std::vector<std::int32_t>& values) {
  return make_array<std::int32_t>(std::move(shape), values);
}

const std::vector<float> half_half{std::log(0.5f), std::log(0.5f), std::log(0.25f), std::log(0.75f)};

NamedArrays full(const std::vector<float>& target = half_half) {
  return {{"target", floats({2, 2}, target)}, {"draft", floats({2, 2}, half_half)}};
}

NamedArrays truncated() {
  return {{"ids", integers({2, 3}, {1, 5, 9, 0, 7, -1})},
          {"target", floats({2, 3}, {0.5f, 0.25f, 0.125f, 0.5f, 0.5f, 0})},
          {"draft", floats({2, 3}, {0.25f, 0.25f, 0.25f, 0.75f, 0.125f, 0})},
          {"rest_target", doubles({2}, {0.125, 0})},
          {"rest_draft", doubles({2}, {0.25, 0.125})}};
}

Array& array_of(NamedArrays& arrays, std::string_view name) {
  for (auto& [known, array] : arrays)
    if (known == name) return array;
  throw std::logic_error("no such array");
}

class CaptureFile : public testing::Test {
 protected:
  Capture open(const NamedArrays& arrays, const std::string& metadata = "") const {
    write_npz(directory_ / "x.npz", arrays, Compression::Stored);
    if (!metadata.empty()) directory_.write("x.json", metadata);
    return Capture::open(directory_ / "x.npz");
  }

  void expect_refused(const NamedArrays& arrays, std::vector<std::string> parts,
                      const std::string& metadata = "") const {
    parts.emplace_back(metadata.empty() ? "x.npz: " : "x.");
    expect_input_error(
        [&] {
          const Capture capture = open(arrays, metadata);
          for (std::size_t i = 0; i < capture.positions(); ++i) {
            capture.target(i);
            for (const auto& name : capture.proposals()) capture.proposal(name, i);
          }
        },
        parts);
  }

  TemporaryDirectory directory_;
};

TEST_F(CaptureFile, ReadsLogProbabilitiesByDefault) {
  NamedArrays arrays = full();
  arrays.emplace_back("tokens", integers({2, 3}, {-1, 0, 1, -1, -1, -1}));
  arrays.emplace_back("next_token", integers({2}, {1, 0}));
  const Capture capture = open(arrays);
  EXPECT_EQ(capture.positions(), 2u);
  EXPECT_EQ(capture.vocabulary(), 2u);
  EXPECT_NEAR(capture.target(1)[1], 0.75, 1e-7);
  EXPECT_NEAR(compensated_sum(capture.proposal("draft", 1)), 1, 1e-15);
  EXPECT_EQ(capture.context(0), (std::vector<std::int64_t>{0, 1}));
  EXPECT_TRUE(capture.context(1).empty());
  EXPECT_EQ(capture.next_token(0), 1);
  EXPECT_EQ(capture.token_id(0, 1), 1);
  expect_input_error([&] { capture.proposal("draft_x", 0); }, {"no proposal \"draft_x\"", "one of draft"});
}

TEST_F(CaptureFile, MetadataDeclaresLogitsAndProbabilities) {
  const std::vector<float> logits{3, 3, 0, std::log(3.0f)};
  const Capture capture =
      open(full(logits), R"({"schema": "draftproof.capture/1", "values": "logit", "origin": "here"})");
  EXPECT_NEAR(capture.target(0)[0], 0.5, 1e-15);
  EXPECT_NEAR(capture.target(1)[1], 0.75, 1e-7);
  EXPECT_EQ(capture.metadata()["origin"], "here");
  NamedArrays probabilities{{"target", floats({1, 2}, {0.25f, 0.75f})}, {"draft", floats({1, 2}, {0, 1})}};
  EXPECT_EQ(open(probabilities, R"({"values": "probability"})").target(0), (std::vector<double>{0.25, 0.75}));
}

/// Writes four positions with two drafts in each stored form, the last position with many zeros, and compares the rows
/// that are read. Tolerances: division by a sum near 1 has an error of a few times 2^-53; a logarithm of size at most
/// 32 is rounded by at most 32 * 2^-53 when it is stored, and exp adds an error of this size; logarithms in float are
/// rounded by at most 32 * 2^-24 = 1.9e-6.
TEST_F(CaptureFile, RowsComeBackFromEveryStoredForm) {
  families::GaussianLogits family;
  family.vocabulary = 50;
  family.drafts = 2;
  std::vector<RowPair> pairs{family.pair(7, 0), family.pair(7, 1), family.pair(7, 2)};
  pairs.push_back({std::vector<double>(50), {std::vector<double>(50), std::vector<double>(50)}});
  pairs[3].target[1] = pairs[3].target[2] = 0.5;
  pairs[3].proposals[0][0] = pairs[3].proposals[1][3] = 1;
  for (const auto& [format, tolerance] :
       {std::pair(CaptureFormat{Values::Probability, DType::F64, Compression::Stored}, 1e-15),
        std::pair(CaptureFormat{Values::LogProbability, DType::F64, Compression::Deflated}, 1e-14),
        std::pair(CaptureFormat{}, 2e-6)}) {
    write_capture(directory_ / "x.npz", {"draft_b", "draft_a"}, pairs, format, {{"licence", "CC0"}});
    const Capture capture = Capture::open(directory_ / "x.npz");
    ASSERT_EQ(capture.positions(), 4u);
    ASSERT_EQ(capture.vocabulary(), 50u);
    EXPECT_EQ(capture.proposals(), (std::vector<std::string>{"draft_b", "draft_a"}));
    EXPECT_EQ(capture.metadata()["licence"], "CC0");
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t x = 0; x < 50; ++x) {
        const double p = pairs[i].target[x], q = pairs[i].proposals[1][x];
        EXPECT_NEAR(capture.target(i)[x], p, tolerance * p);
        EXPECT_NEAR(capture.proposal("draft_a", i)[x], q, tolerance * q);
      }
  }
}

TEST_F(CaptureFile, FindsTheSidecarOfItsSet) {
  directory_.write("books.json", R"({"values": "logit"})");
  for (const char* name : {"books_positions.npz", "books.npz"}) {
    write_npz(directory_ / name, full({7, 7, 0, 0}));
    EXPECT_EQ(Capture::open(directory_ / name).values(), Values::Logit);
  }
}

TEST_F(CaptureFile, MinusInfinityIsProbabilityZero) {
  const float minus_infinity = -std::numeric_limits<float>::infinity();
  EXPECT_EQ(open(full({minus_infinity, 0, 0, minus_infinity})).target(0), (std::vector<double>{0, 1}));
}

TEST_F(CaptureFile, OfTreesNamesTheCommandsThatReadIt) {
  NamedArrays arrays = full();
  arrays.emplace_back("node_parent", integers({2}, {-1, 0}));
  expect_refused(arrays, {"got captured trees, expected rows of positions", "survey-paths"});
}

TEST_F(CaptureFile, NamesTheTokenThatIsNoLogProbability) {
  const float nan = std::nanf(""), infinity = std::numeric_limits<float>::infinity();
  expect_refused(full({half_half[0], half_half[1], 0, nan}),
                 {"target, row 1, token 1: got NaN, expected a log-probability"});
  expect_refused(full({infinity, 0, 0, 0}), {"target, row 0, token 0: got inf"});
  expect_refused(full({0.5f, 0, 0, 0}), {"target, row 0, token 0: got 0.5"});
  expect_refused(full({-infinity, -infinity, 0, 0}), {"target, row 0", "every token"});
  expect_refused(full({half_half[0], half_half[1], -1, -1}), {"target, row 1", "sum to 0.7357"});
}

TEST_F(CaptureFile, LogProbabilitySumsHaveTheDerivedTolerance) {
  // A row of two tokens with probability 1/2 each: log(1/2 + e) is about -0.693 + 2 e, so if both logarithms are too
  // large by 2 e, the probabilities sum to 1 + 2 e.
  const auto row = [](double e) { return static_cast<float>(std::log(0.5) + 2 * e); };
  EXPECT_NO_THROW(open(full({row(4e-6), row(4e-6), 0, 0})).target(0));
  expect_refused(full({row(6e-6), row(6e-6), 0, 0}), {"target, row 0"});
}

TEST_F(CaptureFile, NamesTheTokenThatIsNoProbabilityOrLogit) {
  const float infinity = std::numeric_limits<float>::infinity();
  const auto refused = [this](const std::vector<float>& rows, const std::string& part, const std::string& values) {
    const NamedArrays arrays{{"target", floats({2, 2}, rows)}, {"draft", floats({2, 2}, {1, 0, 1, 0})}};
    expect_refused(arrays, {part}, "{\"values\": \"" + values + "\"}");
  };
  refused({1, 0, 1.5f, -0.5f}, "target, row 1, token 1: got -0.5", "probability");
  refused({1, 0, 0.5f, 0.375f}, "target, row 1: got probabilities with sum 0.875", "probability");
  refused({1, 0, 0, infinity}, "target, row 1, token 1: got inf, expected a finite logit", "logit");
}

TEST_F(CaptureFile, TruncatedFormIsADistributionWithARest) {
  const Capture capture = open(truncated());
  EXPECT_TRUE(capture.truncated());
  EXPECT_EQ(capture.vocabulary(), 4u);
  EXPECT_EQ(capture.target(0), (std::vector<double>{0.5, 0.25, 0.125, 0.125}));
  EXPECT_EQ(capture.proposal("draft", 1), (std::vector<double>{0.75, 0.125, 0, 0.125}));
  EXPECT_EQ(capture.token_id(0, 2), 9);
  EXPECT_EQ(capture.token_id(1, 2), -1);
  EXPECT_EQ(capture.token_id(0, 3), -1);
  expect_input_error([&] { capture.target(0, {.temperature = 0.5}); }, {"x.npz: target", "truncated", "no filter"});
  expect_input_error([&] { capture.target(0, {.top_k = 2}); }, {"x.npz: target", "truncated"});
}

TEST_F(CaptureFile, TruncatedFormIsChecked) {
  const auto refused = [this](std::string_view name, Array array, const std::string& part,
                              const std::string& metadata = "") {
    NamedArrays arrays = truncated();
    array_of(arrays, name) = std::move(array);
    expect_refused(arrays, {part}, metadata);
  };
  refused("ids", integers({2, 3}, {1, 1, 9, 0, 7, -1}), "ids, row 0, token 1: got id 1");
  refused("ids", integers({2, 3}, {1, 5, 9, 0, -1, 7}), "ids, row 1, token 2: got id 7 after padding");
  refused("ids", integers({2, 3}, {1, 5, 9, -2, 7, -1}), "ids, row 1, token 0: got id -2");
  refused("ids", integers({3, 2}, {1, 5, 9, 0, 7, -1}), "ids: got i32 of shape [3, 2]");
  refused("ids", floats({2, 3}, {1, 5, 9, 0, 7, -1}), "ids: got f32");
  refused("target", floats({2, 3}, {0.5f, 0.25f, 0.125f, 0.5f, 0.25f, 0.25f}),
          "target, row 1, token 2: got 0.25 at padding");
  refused("rest_draft", doubles({2}, {0.25, 0.5}), "draft, row 1: got probabilities with sum 1.375");
  refused("rest_draft", doubles({2}, {0.25, std::nan("")}), "rest_draft, row 1: got NaN");
  refused("rest_draft", doubles({1}, {0.25}), "rest_draft: got shape [1]");
  refused("ids", integers({2, 3}, {1, 5, 9, 0, 7, -1}), "got id 9", R"({"vocabulary": 9})");
  refused("ids", integers({2, 3}, {1, 5, 9, 0, 7, -1}),
          "log_probability values in a truncated capture (one with ids)", R"({"values": "log_probability"})");
}

TEST_F(CaptureFile, NeedsTargetProposalsAndMatchingShapes) {
  const Array good = floats({2, 2}, half_half);
  expect_refused({{"draft", good}}, {"target: got no such array"});
  expect_refused({{"target", good}}, {"no proposal"});
  expect_refused({{"target", good}, {"draft", floats({1, 4}, half_half)}},
                 {"draft: got shape [1, 4], expected [2, 2]"});
  expect_refused({{"target", floats({4}, half_half)}, {"draft", good}}, {"target: got shape [4]"});
  expect_refused({{"target", floats({0, 4}, {})}, {"draft", good}}, {"target: got shape [0, 4]"});
  expect_refused({{"target", integers({2, 2}, {0, 0, 0, 0})}, {"draft", good}}, {"target: got i32"});
  NamedArrays lacks_rest = truncated();
  lacks_rest.pop_back();
  expect_refused(lacks_rest, {"rest_draft: got no such array"});
}

TEST_F(CaptureFile, ContextIdsAreInsideTheVocabulary) {
  const auto refused = [this](std::string name, Array array, const std::string& part) {
    NamedArrays arrays = full();
    arrays.emplace_back(std::move(name), std::move(array));
    expect_refused(arrays, {part});
  };
  refused("next_token", integers({2}, {0, 2}), "next_token, row 1, token 0: got id 2");
  refused("next_token", integers({2}, {0, -1}), "next_token, row 1, token 0: got id -1");
  refused("tokens", integers({2, 2}, {0, 1, -2, 1}), "tokens, row 1, token 0: got id -2");
  refused("tokens", integers({1, 2}, {0, 1}), "tokens: got i32 of shape [1, 2]");
}

TEST_F(CaptureFile, MetadataIsChecked) {
  const auto refused = [this](const std::string& metadata, const std::string& part) {
    expect_refused(full(), {part}, metadata);
  };
  refused(R"({"schema": "draftproof.capture/2"})", "draftproof.capture/2");
  refused(R"({"schema": 1})", "schema");
  refused(R"({"values": "logits"})", "log_probability, logit or probability");
  refused(R"({"vocabulary": 3})", "got 2 columns, expected 3");
  refused(R"({"vocabulary": -2})", "\"vocabulary\": \"-2\"");
  refused(R"({"vocabulary": 1e3})", "vocabulary");
  refused("{", "x.json");
  refused("[]", "x.json");
}

TEST_F(CaptureFile, ReadsSafetensorsWithMetadataInside) {
  const std::string header = R"({"__metadata__":{"schema":"draftproof.capture/1","values":"logit","vocabulary":"2"},)"
                             R"("target":{"dtype":"BF16","shape":[1,2],"data_offsets":[0,4]},)"
                             R"("draft":{"dtype":"F32","shape":[1,2],"data_offsets":[4,12]}})";
  const std::string data =
      raw(std::vector<std::uint16_t>{0x4000, 0x4000}) + raw(std::vector<float>{0, std::log(3.0f)});
  const Capture capture = Capture::open(directory_.write("x.safetensors", safetensors(header, data)));
  EXPECT_EQ(capture.target(0), (std::vector<double>{0.5, 0.5}));
  EXPECT_NEAR(capture.proposal("draft", 0)[1], 0.75, 1e-7);
}

TEST_F(CaptureFile, RefusesHalfPrecisionUnlessItHoldsLogits) {
  const std::string header = R"({"target":{"dtype":"F16","shape":[1,2],"data_offsets":[0,4]},)"
                             R"("draft":{"dtype":"F16","shape":[1,2],"data_offsets":[4,8]}})";
  const auto file = directory_.write("x.safetensors", safetensors(header, std::string(8, '\0')));
  expect_input_error([&] { Capture::open(file); }, {"x.safetensors: target: got f16", "only for logits"});
}

TEST_F(CaptureFile, ReadsPlanesOfAPlainNpy) {
  const std::string planes =
      raw(std::vector<float>{half_half[0], half_half[1], 0, -std::numeric_limits<float>::infinity()});
  const Capture capture = Capture::open(directory_.write("x.npy", npy("<f4", "(2, 1, 2)", planes)));
  EXPECT_EQ(capture.proposals(), std::vector<std::string>{"draft"});
  EXPECT_EQ(capture.proposal("draft", 0), (std::vector<double>{1, 0}));
  const auto flat = directory_.write("flat.npy", npy("<f4", "(2, 2)", planes));
  expect_input_error([&] { Capture::open(flat); }, {"flat.npy", "[D, N, V]"});
  const auto empty = directory_.write("empty.npy", npy("<f4", "(1000000000000, 0, 2)", ""));
  expect_input_error([&] { Capture::open(empty); }, {"empty.npy"});
}

TEST_F(CaptureFile, RefusesOtherFiles) {
  expect_input_error([&] { Capture::open(directory_ / "none.npz"); }, {"none.npz", "no such file"});
  expect_input_error([&] { Capture::open(directory_.write("x.csv", "1,2")); },
                     {"x.csv", ".npz, .safetensors or .npy"});
  expect_input_error([&] { Capture::open(directory_.write("text.npz", "hello")); }, {"text.npz", "zip archive"});
}

}  // namespace
}  // namespace draftproof
