// Properties: statements that every verifier must satisfy, one per file in properties/checks/.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <draftproof/properties/proof/finding.hpp>
#include <draftproof/properties/proof/instance_analysis.hpp>
#include <draftproof/properties/proof/level.hpp>

namespace draftproof {

/// A property file defines a struct with static `name`, `about`, `every`, `bool applies(verifier, drafter)` and `Answer
/// check(InstanceAnalysis&)`. With `every` = n the property is checked on one generated instance in n, which limits
/// the cost of properties that enumerate many trees. With `static constexpr bool explores = false` it also applies to
/// verifiers that cannot be enumerated. Without `static constexpr Tier tier` it is a proof. A template over Level in
/// properties/checks/ is a property of positions and of paths.
template <class Level>
struct PropertyOf {
  std::string_view name;
  std::string_view about;
  int every;
  bool explores;
  Tier tier;
  bool (*applies)(const typename Level::Verifier&, const typename Level::Drafter&);
  Answer (*check)(typename Level::InstanceAnalysis&);
};

using Property = PropertyOf<TokenLevel>;

/// Returns the record of the property that file P defines.
template <class P, class Level>
PropertyOf<Level> property_of() {
  bool explores = true;
  if constexpr (requires { P::explores; }) explores = P::explores;
  Tier tier = Tier::proof;
  if constexpr (requires { P::tier; }) tier = P::tier;
  return {P::name, P::about, P::every, explores, tier, &P::applies, &P::check};
}

}  // namespace draftproof
