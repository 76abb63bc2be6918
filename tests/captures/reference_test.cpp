// Compares the rows in data/ with numbers that other programs computed: with the statistics in data/reference.json,
// which NumPy computed, and, for the target and its three cheaper copies, with a float64 forward pass from the weights
// that produced the rows.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <draftproof/captures/capture.hpp>
#include <draftproof/captures/json_input.hpp>
#include <draftproof/captures/row.hpp>
#include <draftproof/captures/tiny_lm.hpp>

namespace draftproof {
namespace {

const std::string data_directory = std::string(DRAFTPROOF_SOURCE_DIR) + "/data/";

using Distribution = std::vector<double>;

double distance(const Distribution& p, const Distribution& q) {
  double sum = 0;
  for (std::size_t x = 0; x < p.size(); ++x) sum += std::abs(p[x] - q[x]);
  return sum / 2;
}

double entropy(const Distribution& p) {
  double sum = 0;
  for (const double probability : p) sum -= probability > 0 ? probability * std::log(probability) : 0;
  return sum;
}

double divergence(const Distribution& p, const Distribution& q) {
  double sum = 0;
  for (std::size_t x = 0; x < p.size(); ++x) sum += p[x] > 0 ? p[x] * std::log(p[x] / q[x]) : 0;
  return sum;
}

/// Returns the acceptance of recursive rejection sampling: 1 minus the product over the rounds of the total variation
/// between the current residual and q.
double recursive_rejection(Distribution residual, const Distribution& q, int rounds) {
  double refused = 1;
  for (int round = 0; round < rounds; ++round) {
    refused *= distance(residual, q);
    if (refused == 0) break;
    for (std::size_t x = 0; x < q.size(); ++x) residual[x] = std::max(residual[x] - q[x], 0.0);
    normalise(residual);
  }
  return 1 - refused;
}

double bound(const Distribution& p, const Distribution& q, int drafts) {
  double sum = 0;
  for (std::size_t x = 0; x < p.size(); ++x) sum += std::min(p[x], 1 - std::pow(1 - q[x], drafts));
  return sum;
}

std::ptrdiff_t likeliest(const Distribution& p) { return std::max_element(p.begin(), p.end()) - p.begin(); }

std::map<std::string, double> statistics(const Capture& capture, const std::string& draft, double temperature) {
  std::map<std::string, double> sums;
  for (std::size_t i = 0; i < capture.positions(); ++i) {
    const Filter filter{.temperature = temperature};
    const Distribution p = capture.target(i, filter), q = capture.proposal(draft, i, filter);
    sums["tv"] += distance(p, q);
    sums["accept"] += 1 - distance(p, q);
    sums["entropy_target"] += entropy(p);
    sums["entropy_draft"] += entropy(q);
    sums["kl_target_draft"] += divergence(p, q);
    sums["top1_equal"] += likeliest(p) == likeliest(q) ? 1 : 0;
    sums["max_target"] += *std::max_element(p.begin(), p.end());
    sums["rrs2"] += recursive_rejection(p, q, 2);
    sums["rrs4"] += recursive_rejection(p, q, 4);
    sums["bound2"] += bound(p, q, 2);
    sums["bound4"] += bound(p, q, 4);
  }
  for (auto& [name, sum] : sums) sum /= static_cast<double>(capture.positions());
  return sums;
}

// An entry exp(row / T) has a relative error of a few 2^-53 times its exponent, which is at most 160 in size: 4e-14.
// Statistics are sums of entries times factors below 200 (a logarithm); summing 32000 terms adds a rounding error of at
// most 32000 * 2^-53 = 4e-12 here, and as much in NumPy. The total is below 1e-10; a wrong row or token changes a
// statistic by more than 1e-6.
constexpr double stored_tolerance = 1e-10;

void expect_reference(const std::string& file, std::size_t statistics_wanted) {
  const auto reference = read_json_object(data_directory + "reference.json");
  const Capture capture = Capture::open(data_directory + file);
  std::size_t compared = 0;
  for (const auto& [draft, temperatures] : reference.at(file).items())
    for (const auto& [temperature, wanted] : temperatures.items()) {
      const auto found = statistics(capture, draft, std::stod(temperature));
      for (const auto& [name, value] : wanted.items()) {
        ASSERT_TRUE(found.contains(name)) << name;
        EXPECT_NEAR(found.at(name), value.get<double>(), stored_tolerance)
            << draft << ' ' << temperature << ' ' << name;
        ++compared;
      }
    }
  EXPECT_EQ(compared, statistics_wanted);
}

TEST(Reference, Stories512) { expect_reference("stories512_positions.npz", 3 * 5 * 11); }
TEST(Reference, Mixed32k) { expect_reference("mixed32k_positions.npz", 2 * 5 * 11); }

TEST(Reference, SidecarsDescribeTheFiles) {
  for (const std::string set : {"stories512", "mixed32k"}) {
    const Capture capture = Capture::open(data_directory + set + "_positions.npz");
    EXPECT_EQ(capture.metadata().at("set"), set);
    EXPECT_EQ(capture.metadata().at("positions"), capture.positions());
    EXPECT_EQ(capture.metadata().at("drafts").size(), capture.proposals().size());
    EXPECT_TRUE(capture.next_token(0).has_value());
    EXPECT_FALSE(capture.context(0).empty());
  }
}

/// Returns the model's distribution of the token that follows `tokens`.
std::vector<double> distribution_after(const TinyLm& model, std::span<const std::int64_t> tokens) {
  std::deque<StoryMemory> memories;
  std::vector<const StoryMemory*> before;
  std::vector<double> distribution;
  for (const std::int64_t token : tokens) {
    distribution = model.read(static_cast<int>(token), before, memories.emplace_back());
    before.push_back(&memories.back());
  }
  for (double& value : distribution) value = std::exp(value);
  return distribution;
}

constexpr int enough = 16;  // number of positions that each test compares in a few seconds

/// Returns the largest difference between a stored and a computed probability, over positions whose context includes
/// the start of the text (token 1).
double largest_difference(const TinyLm& model, const Capture& rows, const std::string& name) {
  double largest = 0;
  int compared = 0;
  for (std::size_t i = 0; i < rows.positions(); ++i) {
    const auto tokens = rows.context(i);
    if (tokens.empty() || tokens.front() != 1) continue;
    if (++compared > enough) break;
    const std::vector<double> distribution = distribution_after(model, tokens);
    const std::vector<double> stored = name == "target" ? rows.target(i) : rows.proposal(name, i);
    for (std::size_t x = 0; x < distribution.size(); ++x)
      largest = std::max(largest, std::abs(distribution[x] - stored[x]));
  }
  EXPECT_GT(compared, enough);
  return largest;
}

class StoryReference : public testing::Test {
 protected:
  const TinyLm target_ = TinyLm::open(data_directory + "stories260k.bin");
  const Capture rows_ = Capture::open(data_directory + "stories512_positions.npz");
};

// Rows are stored as float32 logarithms, so p has an error of at most p |log p| 2^-24 <= 2^-24 / e, about 2.2e-8. Rows
// are normalised when they are read, which at most doubles the error. The forward pass in double adds about 1e-13.
constexpr double stored_precision = 0x1p-24;

// A rounded weight is an integer times a scale. The scale is rounded to float here and possibly not in the program that
// wrote the rows: a relative difference of at most 2^-23. Over 36 matrices this changes a logit of size below 32 by at
// most 36 * 2^-23 * 32, and a probability by at most a quarter of this, because p (1 - p) <= 1/4. A wrong integer
// changes a probability by a thousand times as much.
constexpr double rounded_precision = 36 * 0x1p-23 * 32 / 4;

TEST_F(StoryReference, TargetAndFirstFourLayers) {
  EXPECT_LT(largest_difference(target_, rows_, "target"), stored_precision);
  EXPECT_LT(largest_difference(target_.cut(4), rows_, "draft_exit4"), stored_precision);
}

TEST_F(StoryReference, FourAndThreeBits) {
  EXPECT_LT(largest_difference(target_.rounded(4), rows_, "draft_q4"), rounded_precision);
  EXPECT_LT(largest_difference(target_.rounded(3), rows_, "draft_q3"), rounded_precision);
}

// Rows of different models must differ by more than the tolerance, so that the tests above can distinguish the models.
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
