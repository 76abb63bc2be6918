// Helpers for tests of planned schemes: exact distributions of a scheme with parameters, and generated instances.
#pragma once

#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <draftproof/properties/proof/instance_analysis.hpp>
#include <draftproof/properties/prover/prover.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/properties/subjects/erased.hpp>

namespace draftproof::planned {

/// V, declared as a mutant that is used in proofs only. The compiler then does not instantiate its code for simulation
/// and for rows without tables.
template <class V>
struct ForProof : V {
  static constexpr Info info = [] {
    Info text = V::info;
    text.derived_from = V::info.name;
    text.unsupported.simulate = text.unsupported.fresh = "proofs alone are asked";
    return text;
  }();
  ForProof(V scheme) : V{std::move(scheme)} {}
};

/// Calls body(analysis, instance) on generated instances for which `scheme` is defined under the draft sampling.
/// Returns the number of calls.
template <class V, class Body>
int for_instances(const V& scheme, std::string_view draft_sampling, int instances, Body body) {
  const VerifierOf<ForProof<V>> verifier(Kind::verifier, scheme);
  const AnyDrafter& drafter = *registry().drafter(draft_sampling);
  const int most = V::info.most_drafts == 0 ? 4 : V::info.most_drafts;
  int examined = 0;
  for (int n = 0; n < instances; ++n) {
    const Instance instance = generate_instance(2026, n, most, drafter.info().several_proposals);
    if (!InstanceAnalysis::possible(verifier, drafter, instance)) continue;
    InstanceAnalysis at(verifier, drafter, instance);
    body(at, instance);
    ++examined;
  }
  return examined;
}

/// Expects exact losslessness on generated instances, with acceptance at most the optimum, or equal to it if
/// `optimal`.
template <class V>
void expect_lossless(const V& scheme, std::string_view draft_sampling, bool optimal, int instances = 120) {
  const int examined =
      for_instances(scheme, draft_sampling, instances, [&](InstanceAnalysis& at, const Instance& instance) {
        const auto& distribution = at.distribution();
        ASSERT_TRUE(distribution.complete);
        EXPECT_EQ(distribution.output, normalised(instance.target)) << V::info.name << ' ' << instance.text();
        const Rational optimum = at.optimum();
        EXPECT_LE(distribution.draft_accepted, distribution.draft_emitted) << instance.text();
        EXPECT_LE(distribution.draft_emitted, optimum) << instance.text();
        if (optimal) {
          EXPECT_EQ(distribution.draft_accepted, optimum) << V::info.name << ' ' << instance.text();
        }
      });
  EXPECT_GE(examined, instances / 8) << V::info.name << " under " << draft_sampling;
}

/// Returns the share of `trials` simulated trials, a multiple of 1000, whose verdict has an accepted draft.
inline double flagged_share(const AnyVerifier& scheme, std::string_view draft_sampling, const RatioTable& table,
                            int drafts, int trials, std::uint64_t seed) {
  constexpr int batch = 1000;
  const auto decider = scheme.simulate_on(table, drafts);
  std::vector<Token> tokens(static_cast<std::size_t>(drafts) * batch);
  std::vector<int> lengths(batch);
  std::vector<Verdict> verdicts(batch);
  int flagged = 0;
  for (int first = 0; first < trials; first += batch) {
    const TrialBatch trial{seed, static_cast<std::uint64_t>(first), batch, drafts, tokens.data(), lengths.data()};
    registry().drafter(draft_sampling)->draw(table, drafts, trial);
    decider->decide(trial, verdicts.data());
    for (const Verdict& verdict : verdicts) {
      EXPECT_GE(verdict.token, 0);
      flagged += verdict.accepted >= 0;
    }
  }
  return static_cast<double>(flagged) / trials;
}

/// Returns weights 1 / (rank + 1)^s over a permutation of V tokens.
inline std::vector<double> zipf(int vocabulary, double s, int stride) {
  std::vector<double> row(static_cast<std::size_t>(vocabulary));
  double total = 0;
  for (int i = 0; i < vocabulary; ++i) {
    const auto x = static_cast<std::size_t>(static_cast<long long>(i) * stride % vocabulary);
    total += row[x] = std::pow(i + 1, -s);
  }
  for (double& entry : row) entry /= total;
  return row;
}

}  // namespace draftproof::planned
