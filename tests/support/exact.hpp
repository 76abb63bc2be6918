// Exact distributions of registered schemes. The closed forms of acceptance are in the same namespace.
#pragma once

#include <algorithm>
#include <stdexcept>

#include <draftproof/optimum/iid_acceptance.hpp>
#include <draftproof/properties/proof/instance_analysis.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/verifiers/k_seq.hpp>

namespace draftproof::exact {

using Row = std::vector<Rational>;

/// Returns the exact distribution of a registered scheme, by exploration.
inline ExactDistribution<Rational> distribution(std::string_view scheme, std::string_view draft_sampling,
                                                const Rows<Rational>& rows, int drafts) {
  const AnyVerifier* verifier = registry().verifier(scheme);
  const AnyDrafter* drafter = registry().drafter(draft_sampling);
  if (!verifier || !drafter) throw std::invalid_argument("no such scheme or draft sampling");
  return explore_distribution(*drafter, *verifier->prove_on(rows, drafts), rows, drafts);
}

using namespace acceptance;

inline std::vector<double> as_doubles(const Row& row) {
  std::vector<double> doubles;
  for (const Rational& value : row) doubles.push_back(static_cast<double>(value));
  return doubles;
}

}  // namespace draftproof::exact
