// The forward pass against captured rows that another program computed in float64 from the same weights: contexts
// that are stored completely, for the target and its three cheaper copies.
#include <cmath>
#include <deque>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include <draftproof/captures/capture.hpp>
#include <draftproof/captures/tiny_lm.hpp>

namespace draftproof {
namespace {

const std::string data_directory = std::string(DRAFTPROOF_SOURCE_DIR) + "/data/";

/// Probabilities after `tokens`.
std::vector<double> law_after(const TinyLm& model, std::span<const std::int64_t> tokens) {
  std::deque<StoryMemory> memories;
  std::vector<const StoryMemory*> before;
  std::vector<double> law;
  for (const std::int64_t token : tokens) {
    law = model.read(static_cast<int>(token), before, memories.emplace_back());
    before.push_back(&memories.back());
  }
  for (double& value : law) value = std::exp(value);
  return law;
}

constexpr int enough = 16;  // positions: seconds

/// Largest difference of a probability, over positions whose context starts at the beginning of the text (token 1).
double largest_difference(const TinyLm& model, const Capture& rows, const std::string& name) {
  double largest = 0;
  int compared = 0;
  for (std::size_t i = 0; i < rows.positions(); ++i) {
    const auto tokens = rows.context(i);
    if (tokens.empty() || tokens.front() != 1) continue;
    if (++compared > enough) break;
    const std::vector<double> law = law_after(model, tokens);
    const std::vector<double> stored = name == "target" ? rows.target(i) : rows.proposal(name, i);
    for (std::size_t x = 0; x < law.size(); ++x) largest = std::max(largest, std::abs(law[x] - stored[x]));
  }
  EXPECT_GT(compared, enough);
  return largest;
}

class StoryReference : public testing::Test {
 protected:
  const TinyLm target_ = TinyLm::open(data_directory + "stories260k.bin");
  const Capture rows_ = Capture::open(data_directory + "stories512_positions.npz");
};

// Rows are stored as float32 logarithms: p has an error of at most p |log p| 2^-24 <= 2^-24 / e, about 2.2e-8; rows
// are normalised on reading, which at most doubles it. The pass in double adds about 1e-13.
constexpr double stored_precision = 0x1p-24;

TEST_F(StoryReference, Target) { EXPECT_LT(largest_difference(target_, rows_, "target"), stored_precision); }

TEST_F(StoryReference, FirstFourLayers) {
  EXPECT_LT(largest_difference(target_.cut(4), rows_, "draft_exit4"), stored_precision);
}

// A rounded weight is a step times a scale, which is rounded to float here and possibly not there: 2^-23 of its size.
// Over 36 matrices that is 36 2^-23 of a logit below 32 in size, and a quarter of it in a probability, since
// p (1 - p) <= 1/4. One weight rounded to another step changes a probability by a thousand times as much.
constexpr double rounded_precision = 36 * 0x1p-23 * 32 / 4;

TEST_F(StoryReference, FourBits) {
  EXPECT_LT(largest_difference(target_.rounded(4), rows_, "draft_q4"), rounded_precision);
}

TEST_F(StoryReference, ThreeBits) {
  EXPECT_LT(largest_difference(target_.rounded(3), rows_, "draft_q3"), rounded_precision);
}

// Without these tests, the tests above could not distinguish the copies from the target.
TEST_F(StoryReference, CopiesAreNotTheTarget) {
  EXPECT_GT(largest_difference(target_, rows_, "draft_q4"), 0.1);
  EXPECT_GT(largest_difference(target_.rounded(4), rows_, "draft_q3"), 0.1);
  EXPECT_GT(largest_difference(target_.cut(3), rows_, "draft_exit4"), 0.1);
}

TEST_F(StoryReference, PiecesAreText) {
  std::string text;
  for (const std::int64_t token : rows_.context(0)) text += target_.piece(static_cast<int>(token));
  EXPECT_TRUE(text.starts_with("<s>▁Once▁upon▁a▁time,")) << text;
}

}  // namespace
}  // namespace draftproof
