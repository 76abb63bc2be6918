// Tests of the gate: its e-values equal the values of another program, its rates of false alarms and its power are
// measured by trials, and its schedule and error budget are as declared.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <draftproof/properties/statistics/count_models.hpp>
#include <draftproof/properties/statistics/error_budget.hpp>
#include <draftproof/properties/statistics/gate_suite.hpp>
#include <draftproof/properties/statistics/sample_size.hpp>
#include <draftproof/sim/random/philox4x32.hpp>
#include <draftproof/tests/support/example_rows.hpp>
#include <draftproof/tests/support/nightly.hpp>

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
    // The tolerance is the bound on rounding errors from count_models.hpp, which is far below 1e-7, the error of the
    // reference program.
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

// Tests on draws of (path, token), where the path is accepted or rejected, from single-draft verification. The draws
// come in Poisson batches, as in a gate.

struct GatePair {
  std::vector<double> p, q;
};

GatePair gate_pair(std::size_t vocabulary) {
  GatePair pair{std::vector<double>(vocabulary), std::vector<double>(vocabulary)};
  for (std::size_t x = 0; x < vocabulary; ++x) {
    const double u = static_cast<double>(philox_pair(3, x, 0, 1).first) * 0x1p-64;
    pair.p[x] = std::pow(static_cast<double>((x * 37) % vocabulary) + 2.7, -1.1);
    pair.q[x] = pair.p[x] * std::exp(2 * u);
  }
  return {examples::normalised(pair.p), examples::normalised(pair.q)};
}

/// Returns the rows (accepted, rejected) of single-draft verification that accepts with probability min(1, p /
/// (lenience q)).
std::vector<std::vector<double>> single_draft_rows(const GatePair& pair, double lenience = 1,
                                                   bool rest_is_target = false) {
  std::vector<std::vector<double>> rows(2, std::vector<double>(pair.p.size()));
  double rejected = 1, residual = 0;
  for (std::size_t x = 0; x < pair.p.size(); ++x) {
    rejected -= rows[0][x] = std::min(pair.q[x], pair.p[x] / lenience);
    residual += rows[1][x] = rest_is_target ? pair.p[x] : std::max(pair.p[x] - pair.q[x], 0.0);
  }
  for (double& cell : rows[1]) cell *= rejected / residual;
  return rows;
}

/// Draws cells by inversion of a running sum.
class CellDraws {
 public:
  explicit CellDraws(const std::vector<std::vector<double>>& rows) : vocabulary_{rows[0].size()} {
    for (const auto& row : rows)
      for (const double cell : row) reached_.push_back(cell + (reached_.empty() ? 0 : reached_.back()));
  }
  void run(GateCounts& counts, std::uint64_t trials, std::uint64_t seed, std::uint64_t batch) const {
    for (std::uint64_t i = 0; i < trials; ++i) {
      const PhiloxPair words = philox_pair(seed, i / 2, static_cast<std::uint32_t>(batch), 77);
      const double u = static_cast<double>((i % 2 ? words.second : words.first) >> 11) * 0x1p-53 * reached_.back();
      const auto cell =
          static_cast<std::size_t>(std::upper_bound(reached_.begin(), reached_.end(), u) - reached_.begin());
      counts.add(cell / vocabulary_, cell % vocabulary_);
    }
  }

 private:
  std::size_t vocabulary_;
  std::vector<double> reached_;
};

TEST(GateNull, ExactVerifiersAreLeftInPeace) {
  const GatePair pair = gate_pair(200);
  const auto rows = single_draft_rows(pair);
  const GateSuite suite({pair.p, pair.q, rows});
  const CellDraws draws(rows);
  const int runs = swept(5000, 20'000);
  std::vector<double> e(static_cast<std::size_t>(runs));
#pragma omp parallel for schedule(dynamic, 16)
  for (int run = 0; run < runs; ++run) {
    const std::uint64_t planned = std::uint64_t{32} << run % 5;
    GateCounts counts = suite.empty_counts();
    draws.run(counts, poisson_count(planned, 11, static_cast<std::uint64_t>(run)), static_cast<std::uint64_t>(run),
              0);
    e[static_cast<std::size_t>(run)] = std::exp(suite.evidence(counts, static_cast<double>(planned)).log_e);
  }
  double capped = 0;
  std::uint64_t above_10 = 0, above_100 = 0;
  for (const double value : e) {
    capped += std::min(value, 10.0) / runs;
    above_10 += value >= 10;
    above_100 += value >= 100;
  }
  RecordProperty("mean_e", std::to_string(std::accumulate(e.begin(), e.end(), 0.0) / runs));
  RecordProperty("largest_e", std::to_string(*std::max_element(e.begin(), e.end())));
  // If e has mean at most 1, each of the three expectations below fails with probability at most 1e-9; the first by
  // Hoeffding's inequality for values in [0, 10] with mean at most 1.
  EXPECT_LE(capped, 1 + 10 * std::sqrt(std::log(1e9) / (2.0 * runs)));
  EXPECT_LE(lower_confidence_bound(above_10, static_cast<std::uint64_t>(runs)), 0.1);
  EXPECT_LE(lower_confidence_bound(above_100, static_cast<std::uint64_t>(runs)), 0.01);
  // The test would be vacuous for an e-value that is always 1.
  EXPECT_GT(*std::max_element(e.begin(), e.end()), 1);
  EXPECT_GT(capped, 0.3);
}

TEST(GateNull, LookingAfterEveryBatchCostsNothing) {
  const GatePair pair = gate_pair(200);
  const auto rows = single_draft_rows(pair);
  const GateSuite suite({pair.p, pair.q, rows});
  const CellDraws draws(rows);
  constexpr int runs = 400;
  std::vector<int> reached(runs);
#pragma omp parallel for schedule(dynamic, 4)
  for (int run = 0; run < runs; ++run) {
    GateCounts counts = suite.empty_counts();
    double exposure = 0;
    for (std::uint64_t batch = 0; batch < 7; ++batch) {
      const std::uint64_t planned = 32u << batch;
      const std::uint64_t trials = poisson_count(planned, static_cast<std::uint64_t>(run), batch);
      draws.run(counts, trials, 1'000'000 + static_cast<std::uint64_t>(run), batch);
      exposure += static_cast<double>(planned);
      if (suite.evidence(counts, exposure).log_e >= std::log(20)) reached[static_cast<std::size_t>(run)] = 1;
    }
  }
  const auto often = static_cast<std::uint64_t>(std::accumulate(reached.begin(), reached.end(), 0));
  EXPECT_LE(lower_confidence_bound(often, runs), 1.0 / 20);
}

/// Runs a gate on draws from `rows` until it decides, and returns its schedule.
GateSchedule gate_of(const GateSuite& suite, const std::vector<std::vector<double>>& rows, std::uint64_t budget) {
  const CellDraws draws(rows);
  GateSchedule schedule(256, budget, ErrorBudget::even(1).log_threshold(0));
  GateCounts counts = suite.empty_counts();
  for (std::uint64_t batch = 0; schedule.next() > 0; ++batch) {
    draws.run(counts, poisson_count(schedule.next(), 4, batch), 4, batch);
    const auto exposure = static_cast<double>(schedule.exposure() + schedule.next());
    schedule.observe(suite.evidence(counts, exposure).log_e);
  }
  return schedule;
}

TEST(GatePower, WrongVerifiersFailAndRightOnesDoNot) {
  const GatePair pair = gate_pair(1000);
  const auto right = single_draft_rows(pair);
  const GateSuite with_paths({pair.p, pair.q, right}), with_proposal({pair.p, pair.q}), target_only({pair.p});
  constexpr std::uint64_t budget = 1 << 15;
  EXPECT_EQ(gate_of(with_paths, right, budget).state(), GateState::ok);
  EXPECT_EQ(gate_of(with_paths, single_draft_rows(pair, 1, true), budget).state(), GateState::failed);
  EXPECT_EQ(gate_of(with_paths, single_draft_rows(pair, 0.8), budget).state(), GateState::failed);
  // A gate without paths receives only the token, so the rows are summed into one row.
  const auto fold = [](std::vector<std::vector<double>> rows) {
    for (std::size_t x = 0; x < rows[0].size(); ++x) rows[0][x] += rows[1][x];
    rows.pop_back();
    return rows;
  };
  for (const GateSuite* suite : {&with_proposal, &target_only}) {
    EXPECT_EQ(gate_of(*suite, fold(right), budget).state(), GateState::ok);
    EXPECT_EQ(gate_of(*suite, fold(single_draft_rows(pair, 1, true)), budget).state(), GateState::failed);
  }
}

TEST(GatePower, TheWorstCellIsTheOneThatIsWrong) {
  const GatePair pair = gate_pair(1000);
  auto rows = single_draft_rows(pair);
  const GateSuite suite({pair.p, pair.q, rows});
  const std::size_t wrong = 37, path = rows[0][wrong] > rows[1][wrong] ? 0 : 1;
  rows[path][wrong] *= 4;
  GateCounts counts = suite.empty_counts();
  CellDraws(rows).run(counts, poisson_count(1 << 17, 1, 0), 1, 0);
  const WorstCell worst = suite.worst_cell(counts, 1 << 17);
  EXPECT_EQ(worst.path, static_cast<int>(path));
  EXPECT_EQ(worst.token, wrong);
  EXPECT_GT(worst.ratio(), 3);
  EXPECT_GT(worst.log_e, 20);
}

TEST(GateLeak, ADeclaredBudgetIsNotAProofAndAnOverrunIs) {
  GatePair pair{{0.5, 0.5, 0}, {0.25, 0.5, 0.25}};
  const GateSuite strict({pair.p, pair.q, single_draft_rows(pair)});
  const GateSuite lenient({pair.p, pair.q, single_draft_rows(pair), 1e-3});
  GateCounts counts = strict.empty_counts();
  counts.add(0, 0, 250);
  counts.add(0, 1, 500);
  counts.add(1, 0, 250);
  counts.add(1, 2, 1);
  EXPECT_TRUE(std::isinf(strict.evidence(counts, 1000).log_e));
  EXPECT_EQ(strict.worst_cell(counts, 1000).token, 2u);
  const GateEvidence evidence = lenient.evidence(counts, 1000);
  ASSERT_EQ(evidence.components.size(), 6u);
  double weights = 0;
  for (const GateComponent& component : evidence.components) weights += component.weight;
  EXPECT_NEAR(weights, 1, 1e-15);
  EXPECT_LT(evidence.log_e, 0);
  counts.add(1, 1, 40);
  EXPECT_GT(lenient.evidence(counts, 1000).log_e, 20.7);
}

std::vector<std::uint64_t> batches_of(GateSchedule& schedule, double log_e) {
  std::vector<std::uint64_t> batches;
  while (const std::uint64_t size = schedule.next()) {
    batches.push_back(size);
    schedule.observe(log_e);
  }
  return batches;
}

TEST(GateSchedule, DoublesUpToItsBudgetAndStopsThere) {
  GateSchedule schedule(100, 1000, 20.7);
  EXPECT_EQ(batches_of(schedule, 0), (std::vector<std::uint64_t>{100, 100, 200, 400, 200}));
  EXPECT_EQ(schedule.state(), GateState::ok);
  EXPECT_FALSE(schedule.undecided());
}

TEST(GateSchedule, GoesOnToSixteenBudgetsWhileItIsNotOk) {
  for (const auto& [log_e, state] :
       {std::pair{std::log(100.001), GateState::watch}, std::pair{std::log(1.001e5), GateState::suspicious}}) {
    GateSchedule schedule(512, 1024, 20.7);
    EXPECT_EQ(batches_of(schedule, log_e), (std::vector<std::uint64_t>{512, 512, 1024, 2048, 4096, 8192}));
    EXPECT_EQ(schedule.exposure(), 16u * 1024);
    EXPECT_EQ(schedule.state(), state);
    EXPECT_TRUE(schedule.undecided());
  }
  GateSchedule calms(1024, 1024, 20.7);
  calms.observe(std::log(200));
  EXPECT_EQ(calms.next(), 1024u);
  calms.observe(std::log(99.9));
  EXPECT_EQ(calms.next(), 0u);
  EXPECT_FALSE(calms.undecided());
}

TEST(GateSchedule, FailsAtTheThresholdForGood) {
  GateSchedule schedule(100, 1000, 20.7);
  schedule.observe(20.69);
  EXPECT_EQ(schedule.state(), GateState::suspicious);
  schedule.observe(20.7);
  EXPECT_EQ(schedule.next(), 0u);
  EXPECT_EQ(name(schedule.state()), "failed");
  schedule.observe(0);
  EXPECT_EQ(schedule.state(), GateState::failed);
  EXPECT_FALSE(schedule.undecided());
  EXPECT_EQ(schedule.exposure(), 200u);
}

TEST(ErrorBudget, SharesSumToTheTotal) {
  const ErrorBudget budget({1, 2, 5}, 1e-9);
  EXPECT_NEAR(budget.alpha(0) + budget.alpha(1) + budget.alpha(2), 1e-9, 3 * 0x1p-52 * 1e-9);
  EXPECT_DOUBLE_EQ(budget.alpha(1), 2.5e-10);
}

TEST(ErrorBudget, EvenSharesAskForABillionTimesTheNumberOfGates) {
  for (const std::size_t gates : {1u, 7u, 10000u}) {
    const ErrorBudget budget = ErrorBudget::even(gates);
    // The tolerance is for logarithms of numbers below 1e14, each rounded twice.
    EXPECT_NEAR(budget.log_threshold(gates - 1), std::log(1e9 * static_cast<double>(gates)) + 1e-3, 1e-13);
  }
}

}  // namespace
}  // namespace draftproof
