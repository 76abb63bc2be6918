#include <draftproof/captures/capture_writer.hpp>

#include <cmath>

#include <draftproof/captures/capture.hpp>
#include <draftproof/captures/families/generated.hpp>

#include <draftproof/tests/support/hostile.hpp>

namespace draftproof {
namespace {

using namespace hostile;

/// Three positions of a family with two drafts, written in `format` and read back.
void expect_round_trip(const CaptureFormat& format, double tolerance) {
  const TemporaryDirectory directory;
  families::GaussianLogits family;
  family.vocabulary = 50;
  family.drafts = 2;
  CaptureWriter writer(50, {"draft_b", "draft_a"}, format);
  for (std::size_t i = 0; i < 3; ++i) writer.add(family.pair(7, i));
  writer.write(directory / "x.npz", {{"licence", "CC0"}});

  const Capture capture = Capture::open(directory / "x.npz");
  ASSERT_EQ(capture.positions(), 3u);
  ASSERT_EQ(capture.vocabulary(), 50u);
  EXPECT_EQ(capture.proposals(), (std::vector<std::string>{"draft_b", "draft_a"}));
  EXPECT_EQ(capture.metadata()["licence"], "CC0");
  EXPECT_EQ(capture.metadata()["schema"], "draftproof.capture/1");
  for (std::size_t i = 0; i < 3; ++i) {
    const RowPair wanted = family.pair(7, i);
    for (std::size_t x = 0; x < 50; ++x) {
      EXPECT_NEAR(capture.target(i)[x], wanted.target[x], tolerance * wanted.target[x]);
      EXPECT_NEAR(capture.proposal("draft_a", i)[x], wanted.proposals[1][x], tolerance * wanted.proposals[1][x]);
    }
  }
}

// A few units of 2^-53: the division by a sum that is 1 up to rounding.
TEST(CaptureWriter, DoubleProbabilitiesComeBack) {
  expect_round_trip({Values::Probability, DType::F64, Compression::Stored}, 1e-15);
}

// A logarithm of magnitude at most 32 is rounded by 2^-53 * 32, and again in exp.
TEST(CaptureWriter, DoubleLogProbabilitiesComeBack) {
  expect_round_trip({Values::LogProbability, DType::F64, Compression::Deflated}, 1e-14);
}

// The same with 2^-24 * 32 = 1.9e-6.
TEST(CaptureWriter, FloatLogProbabilitiesComeBack) { expect_round_trip({}, 2e-6); }

TEST(CaptureWriter, ZeroProbabilitiesComeBack) {
  const TemporaryDirectory directory;
  CaptureWriter writer(3, {"draft"});
  writer.add({{0, 0.5, 0.5}, {{1, 0, 0}}});
  writer.write(directory / "x.npz");
  const Capture capture = Capture::open(directory / "x.npz");
  EXPECT_EQ(capture.target(0)[0], 0);
  EXPECT_EQ(capture.proposal("draft", 0), (std::vector<double>{1, 0, 0}));
}

TEST(CaptureWriter, RefusesNamesAndPathsItCannotUse) {
  expect_input_error([] { CaptureWriter(2, {}); }, {"at least one"});
  expect_input_error([] { CaptureWriter(2, {"proposal"}); }, {"beginning with draft"});
  expect_input_error([] { CaptureWriter(2, {"draft", "draft"}); }, {"all different"});
  CaptureWriter writer(2, {"draft"});
  writer.add({{0.5, 0.5}, {{0.5, 0.5}}});
  expect_input_error([&] { writer.write("x.txt"); }, {"x.txt", ".npz"});
  expect_input_error([&] { writer.write("/nonexistent/x.npz"); }, {"/nonexistent/x.npz"});
}

}  // namespace
}  // namespace draftproof
