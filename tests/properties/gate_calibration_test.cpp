// The statistical gate on right verifiers, through the engine that runs it in earnest: drafts, decisions, Poisson
// batches, all components, looks after every batch. What it says of 2,400 runs must be what e-values may say.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <draftproof/properties/registry.hpp>
#include <draftproof/properties/sampled_gate.hpp>
#include <draftproof/statistics/interval.hpp>
#include <draftproof/tests/sim/example_rows.hpp>

namespace draftproof {
namespace {

struct RightGate {
  const char *verifier, *drafter;
  int drafts;
};

constexpr RightGate right_gates[] = {{"single_draft", "iid", 1},
                                     {"recursive_rejection", "iid", 3},
                                     {"recursive_rejection_wor", "without_replacement", 3},
                                     {"k_seq", "iid", 2},
                                     {"sample_and_match", "fixed_top_k", 2},
                                     {"ladder", "iid", 2}};

/// One in eight runs is long enough for pairs of neighbours.
SampledVerdict null_run(int run) {
  const auto n = static_cast<std::uint64_t>(run);
  const RightGate& gate = right_gates[n % std::size(right_gates)];
  const std::size_t vocabulary = 8 + n % 5 * 8;
  const RatioTable table(examples::random_row(2 * n, vocabulary, 2, 0.1),
                         {examples::random_row(2 * n + 1, vocabulary, 1, 0.1)});
  return sampled_gate(*registry().verifier(gate.verifier), *registry().drafter(gate.drafter), table, table,
                      gate.drafts,
                      {.trials = run / 6 % 8 == 0 ? 8192.0 : 1024.0,
                       .alpha = 1e-9,
                       .seed = 1000 + n,
                       .threads = 1,
                       .first_batch = 128});
}

TEST(GateCalibration, RightVerifiersGiveEValues) {
  registry();
  constexpr int runs = 2400;
  constexpr double cap = 4;
  std::vector<double> log_e(runs);
  std::vector<char> impossible(runs);
#pragma omp parallel for schedule(dynamic, 8)
  for (int run = 0; run < runs; ++run) {
    const SampledVerdict verdict = null_run(run);
    log_e[static_cast<std::size_t>(run)] = verdict.log_e;
    impossible[static_cast<std::size_t>(run)] = verdict.impossible > 0;
  }
  double capped = 0, mean = 0;
  std::uint64_t above_100 = 0;
  for (const double value : log_e) {
    capped += std::min(std::exp(value), cap) / runs;
    mean += std::exp(value) / runs;
    above_100 += value >= std::log(100);
  }
  RecordProperty("mean_e", std::to_string(mean));
  RecordProperty("largest_log_e", std::to_string(*std::max_element(log_e.begin(), log_e.end())));
  EXPECT_EQ(std::count(impossible.begin(), impossible.end(), 1), 0);
  // Hoeffding: of numbers in [0, 4] with mean at most 1 the average of 2,400 exceeds 1.22 with probability 1e-6.
  EXPECT_LE(capped, 1 + cap * std::sqrt(std::log(1e6) / (2.0 * runs)));
  EXPECT_LE(lower_confidence_bound(above_100, runs, 1e-6), 0.01);
  // Not vacuous: e-values that bet differ from run to run, and the bets are not all lost.
  EXPECT_GT(*std::max_element(log_e.begin(), log_e.end()), std::log(2));
  EXPECT_GT(capped, 0.3);
}

}  // namespace
}  // namespace draftproof
