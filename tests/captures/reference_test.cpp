// The statistics of data/reference.json, computed independently with NumPy, from the rows as this library
// reads them.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <draftproof/captures/capture.hpp>
#include <draftproof/captures/json_input.hpp>
#include <draftproof/captures/row.hpp>

namespace draftproof {
namespace {

using Law = std::vector<double>;

double distance(const Law& p, const Law& q) {
  double sum = 0;
  for (std::size_t x = 0; x < p.size(); ++x) sum += std::abs(p[x] - q[x]);
  return sum / 2;
}

double entropy(const Law& p) {
  double sum = 0;
  for (const double probability : p) sum -= probability > 0 ? probability * std::log(probability) : 0;
  return sum;
}

double divergence(const Law& p, const Law& q) {
  double sum = 0;
  for (std::size_t x = 0; x < p.size(); ++x) sum += p[x] > 0 ? p[x] * std::log(p[x] / q[x]) : 0;
  return sum;
}

/// 1 minus the product over `rounds` of the distance between the residual so far and q.
double recursive_rejection(Law residual, const Law& q, int rounds) {
  double refused = 1;
  for (int round = 0; round < rounds; ++round) {
    refused *= distance(residual, q);
    if (refused == 0) break;
    for (std::size_t x = 0; x < q.size(); ++x) residual[x] = std::max(residual[x] - q[x], 0.0);
    normalise(residual);
  }
  return 1 - refused;
}

double bound(const Law& p, const Law& q, int drafts) {
  double sum = 0;
  for (std::size_t x = 0; x < p.size(); ++x) sum += std::min(p[x], 1 - std::pow(1 - q[x], drafts));
  return sum;
}

std::ptrdiff_t likeliest(const Law& p) { return std::max_element(p.begin(), p.end()) - p.begin(); }

std::map<std::string, double> statistics(const Capture& capture, const std::string& draft, double temperature) {
  std::map<std::string, double> sums;
  for (std::size_t i = 0; i < capture.positions(); ++i) {
    const Filter filter{.temperature = temperature};
    const Law p = capture.target(i, filter), q = capture.proposal(draft, i, filter);
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

// Each law is correct to a few 2^-53 per entry times the magnitude of its exponent, at most row / T < 160: a relative
// error of 4e-14. Statistics are sums of laws times factors below 200 (a logarithm), and their own rounding over
// 32000 terms is at most 32000 * 2^-53 = 4e-12, on both sides. Together below 1e-10; a wrong row or token moves them
// by more than 1e-6.
constexpr double stored_tolerance = 1e-10;

void expect_reference(const std::string& file, std::size_t statistics_wanted) {
  const std::string data = std::string(DRAFTPROOF_SOURCE_DIR) + "/data/";
  const auto reference = read_json_object(data + "reference.json");
  const Capture capture = Capture::open(data + file);
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
    const Capture capture = Capture::open(std::string(DRAFTPROOF_SOURCE_DIR) + "/data/" + set + "_positions.npz");
    EXPECT_EQ(capture.metadata().at("set"), set);
    EXPECT_EQ(capture.metadata().at("positions"), capture.positions());
    EXPECT_EQ(capture.metadata().at("drafts").size(), capture.proposals().size());
    EXPECT_TRUE(capture.next_token(0).has_value());
    EXPECT_FALSE(capture.context(0).empty());
  }
}

}  // namespace
}  // namespace draftproof
