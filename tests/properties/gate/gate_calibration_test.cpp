// Tests the statistical gate on correct verifiers, with the same code as production runs: drafts, decisions, Poisson
// batches, all components, and an evaluation after every batch. The e-values of 2,400 runs must have mean at most 1.
//
// The test is a bet on the mean of the e-values e: W = average over f = 2^-1 .. 2^-12 of the product over runs of 1 + f
// (e - 1). If every e has mean at most 1, so has W, and it reaches 10^6 with probability at most 10^-6. With e-values
// of mean 1.03 and standard deviation 0.3, W would be about 10^4, with mean 1.05 about 10^13; a single e of 10^11 among
// ordinary e-values raises W to 10^7.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <draftproof/properties/gate/sampled_gate.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/properties/statistics/error_budget.hpp>
#include <draftproof/properties/statistics/log_mean_exp.hpp>
#include <draftproof/properties/statistics/sample_size.hpp>
#include <draftproof/tests/support/example_rows.hpp>

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

/// Returns the verdict of one run on a correct verifier. One in eight runs has enough trials that serial_dependence
/// counts pairs.
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
  std::vector<double> log_e(runs);
  std::vector<char> impossible(runs);
#pragma omp parallel for schedule(dynamic, 8)
  for (int run = 0; run < runs; ++run) {
    const SampledVerdict verdict = null_run(run);
    log_e[static_cast<std::size_t>(run)] = verdict.log_e;
    impossible[static_cast<std::size_t>(run)] = verdict.impossible > 0;
  }
  double mean = 0, least = 1;
  std::uint64_t above_100 = 0;
  std::vector<double> bets(12);
  for (const double value : log_e) {
    const double e = std::exp(value);
    mean += e / runs;
    least = std::min(least, e);
    above_100 += value >= std::log(100);
    for (std::size_t f = 0; f < bets.size(); ++f) bets[f] += std::log1p(std::ldexp(e - 1, -1 - static_cast<int>(f)));
  }
  const double largest = std::exp(*std::max_element(log_e.begin(), log_e.end()));
  RecordProperty("mean_e", std::to_string(mean));
  RecordProperty("largest_e", std::to_string(largest));
  EXPECT_EQ(std::count(impossible.begin(), impossible.end(), 1), 0);
  EXPECT_LT(log_mean_exp(bets), std::log(1e6)) << "mean e " << mean;
  EXPECT_LE(lower_confidence_bound(above_100, runs, 1e-6), 0.01);
  // If no e-value were above 1, or no e-value below 1, the test would show nothing.
  EXPECT_GT(largest, 1.5);
  EXPECT_LT(least, 0.8);
  EXPECT_GT(mean, 0.3);
}

}  // namespace
}  // namespace draftproof
