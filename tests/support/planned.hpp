// Helpers for tests of planned schemes: exact laws of a scheme with parameters, and generated instances.
#pragma once

#include <utility>

#include <gtest/gtest.h>

#include <draftproof/properties/proof/instance_analysis.hpp>
#include <draftproof/properties/proof/output_law.hpp>
#include <draftproof/properties/prover/prover.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/properties/subjects/erased.hpp>

namespace draftproof::planned {

/// V with the forms that a proof asks, which are all that these helpers need: the others are not compiled.
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

/// Calls body(analysis, instance) on generated instances that are possible for `scheme` under the law. Returns how
/// many there were.
template <class V, class Body>
int for_instances(const V& scheme, std::string_view draft_law, int instances, Body body) {
  const VerifierOf<ForProof<V>> verifier(Kind::verifier, scheme);
  const AnyDrafter& drafter = *registry().drafter(draft_law);
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
void expect_lossless(const V& scheme, std::string_view draft_law, bool optimal, int instances = 120) {
  const int examined =
      for_instances(scheme, draft_law, instances, [&](InstanceAnalysis& at, const Instance& instance) {
        const auto& law = at.law();
        ASSERT_TRUE(law.complete);
        EXPECT_EQ(law.output, normalised(instance.target)) << V::info.name << ' ' << instance.text();
        const Rational optimum = at.optimum();
        EXPECT_LE(law.flag, law.membership) << instance.text();
        EXPECT_LE(law.membership, optimum) << instance.text();
        if (optimal) {
          EXPECT_EQ(law.flag, optimum) << V::info.name << ' ' << instance.text();
        }
      });
  EXPECT_GE(examined, instances / 8) << V::info.name << " under " << draft_law;
}

}  // namespace draftproof::planned
