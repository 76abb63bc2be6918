// Decisions at fresh rows that use look-ups instead of a plan: the same words give the same tokens.
#include <gtest/gtest.h>

#include <draftproof/sim/distributions/streamed_rows.hpp>
#include <draftproof/sim/random/philox.hpp>
#include <draftproof/tests/support/example_rows.hpp>
#include <draftproof/verifiers/recursive_rejection_independent.hpp>

namespace draftproof {
namespace {

/// Weights in steps, so that many tokens tie; some are zero.
std::vector<double> stepped_row(std::uint64_t seed, std::size_t size) {
  std::vector<double> row(size);
  double total = 0;
  for (std::size_t x = 0; x < size; ++x) {
    const double u = examples::uniform(seed, x);
    total += row[x] = std::floor(u * u * u * 6) + (x == 0);
  }
  for (double& weight : row) weight /= total;
  return row;
}

TEST(FreshDecisions, DifferentProposalsAreRefusedAsByTheRowsAPlanKeeps) {
  constexpr int drafts = 6;  // more than terms that passes unroll
  const std::size_t size = 300;
  const auto p = stepped_row(7, size);
  std::vector<std::vector<double>> q;
  for (std::uint64_t k = 0; k < drafts; ++k) q.push_back(stepped_row(8 + k, size));
  const FreshRows<double> rows(std::span<const double>(p), {q.begin(), q.end()});
  const verifiers::RecursiveRejectionIndependent verifier{.order = {2, 0}};
  const int tested[drafts] = {2, 0, 1, 3, 4, 5};
  int refused = 0;
  for (std::uint64_t trial = 0; trial < 400; ++trial) {
    Philox drafter(3, trial, Philox::Role::draft), here(3, trial, Philox::Role::verify), there = here;
    Token tokens[drafts];
    for (int k = 0; k < drafts; ++k) tokens[k] = drafter.pick(rows.row(k));
    const Verdict found = verifier.verify(DraftedPosition(rows, tokens, drafts), here);
    // The rows, one after another.
    std::vector<double> left = p;
    double mass = 1;
    Verdict wanted;
    for (const int k : tested) {
      const auto at = static_cast<std::size_t>(tokens[k]);
      if (there.flip(left[at], mass * rows.proposal(tokens[k], k))) {
        wanted = accepted(tokens[k], k);
        break;
      }
      for (std::size_t x = 0; x < size; ++x)
        left[x] = std::max(left[x] - mass * q[static_cast<std::size_t>(k)][x], 0.0);
      mass = fixed_sum(static_cast<int>(size), [&left](Token x) { return left[static_cast<std::size_t>(x)]; });
    }
    if (wanted.token < 0)
      wanted = there.emit(
          FixedWeights(static_cast<int>(size), [&left](Token x) { return left[static_cast<std::size_t>(x)]; }));
    EXPECT_EQ(found.token, wanted.token);
    EXPECT_EQ(found.accepted, wanted.accepted);
    refused += wanted.accepted < 0;
  }
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace draftproof
