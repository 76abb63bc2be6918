// E-values against a program that shares no code with this one: tests/golden/gate.json.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <draftproof/statistics/gamma_poisson.hpp>
#include <draftproof/statistics/gate_suite.hpp>

namespace draftproof {
namespace {

nlohmann::json gate_vectors() {
  std::ifstream file(DRAFTPROOF_SOURCE_DIR "/tests/golden/gate.json");
  return nlohmann::json::parse(file);
}

TEST(GateGolden, CellsAgreeToTheirOwnErrorBound) {
  const auto cells = gate_vectors().at("cells");
  ASSERT_EQ(cells.size(), 6u);
  for (const auto& cell : cells) {
    const double count = cell.at("count"), mean = cell.at("mean"), shape = cell.at("shape");
    // The bound of gamma_poisson.hpp, far below the 1e-7 that the reference program itself keeps.
    const double off = std::abs(count - mean);
    const double bound = 8 * 0x1p-53 *
                         (off * (1 + std::log1p(off / (shape + mean))) + 40 +
                          std::log1p((count + mean) / shape) * std::min(count + 1, 48.0));
    EXPECT_NEAR(log_gamma_poisson(count, mean, shape), cell.at("log_e").get<double>(), bound) << cell;
    EXPECT_LT(bound, 1e-7);
  }
}

TEST(GateGolden, SuitesAgree) {
  const auto vectors = gate_vectors();
  const GateSuite suite({vectors.at("p"), vectors.at("q"), vectors.at("paths")});
  ASSERT_EQ(vectors.at("suites").size(), 4u);
  for (const auto& entry : vectors.at("suites")) {
    GateCounts counts = suite.empty_counts();
    for (std::size_t k = 0; k < counts.paths(); ++k)
      for (std::size_t x = 0; x < counts.vocabulary(); ++x) counts.add(k, x, entry.at("counts")[k][x]);
    const GateEvidence evidence = suite.evidence(counts, entry.at("exposure"));
    const auto compare = [&](std::string_view name, double log_e) {
      const auto& wanted = entry.at("log_e").at(std::string(name));
      if (wanted.is_string())
        EXPECT_TRUE(std::isinf(log_e) && log_e > 0) << name;
      else
        EXPECT_NEAR(log_e, wanted.get<double>(), 1e-6) << name;
    };
    compare("all", evidence.log_e);
    ASSERT_EQ(evidence.components.size(), 5u);
    for (const GateComponent& component : evidence.components) compare(component.name, component.log_e);
  }
}

}  // namespace
}  // namespace draftproof
