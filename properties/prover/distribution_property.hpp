// Properties of the distribution of the tokens that one decision emits. Such a property is one file, and is
// checked on every subject whose distribution can be computed: verifiers of positions and of paths, by
// enumeration, and external verifiers (a C library, a child process, a function in Python), by calls.
//
// A header that is given to draftproof_add(KIND distribution_property) defines a struct of its name, with
//
//   struct MyCheck {
//     static constexpr std::string_view name = "my_check";
//     static constexpr std::string_view about = "what it checks";
//     // Returns the evidence of a failure, or nullopt.
//     static std::optional<std::string> violation(const EmittedDistribution& emitted);
//   };
//
// The property is checked on subjects that promise the target's distribution and keep no state between decisions.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <draftproof/optimum/exact/rational.hpp>
#include <draftproof/properties/prover/registry.hpp>

namespace draftproof {

/// The distribution of the strings that one decision emits on a small model.
struct EmittedDistribution {
  int vocabulary = 0;
  int length = 0;                        ///< largest number of tokens that a decision emits
  std::map<Tokens, Rational> emitted{};  ///< probability by string; strings never emitted may be missing
  /// Returns the target after a prefix of fewer than `length` tokens.
  std::function<std::vector<Rational>(const Tokens& prefix)> target{};
  /// The largest error of a probability: 0 for a proof in fractions; for an external verifier, the rounding error of
  /// its number formats plus the probability that was not enumerated.
  Rational limit = 0;
};

EmittedDistribution emitted_distribution(InstanceAnalysis& at);
EmittedDistribution emitted_distribution(PathInstanceAnalysis& at);

struct DistributionProperty {
  std::string_view name, about;
  std::optional<std::string> (*violation)(const EmittedDistribution&);
};

/// Returns the registered properties, for the gate of external verifiers. Proofs find them among the properties
/// of their level.
inline NamedList<DistributionProperty>& distribution_properties() {
  static NamedList<DistributionProperty> all;
  return all;
}

/// Makes a property of one level from P, which checks the emitted distribution.
template <class P, class Level>
struct DistributionPropertyOn {
  static constexpr std::string_view name = P::name, about = P::about;
  static constexpr int every = 1;

  static bool applies(const typename Level::Verifier& verifier, const typename Level::Drafter&) {
    if constexpr (requires { verifier.stateful(); })
      if (verifier.stateful()) return false;
    return verifier.info().promise == Promise::lossless;
  }
  static Answer check(typename Level::InstanceAnalysis& at) {
    if (!at.distribution().complete)
      return Answer::undecided("more than " + std::to_string(at.limits().leaves) + " branches");
    const std::optional<std::string> evidence = P::violation(emitted_distribution(at));
    return evidence ? Answer::failed(*evidence) : Answer::passed();
  }
};

/// Throws: std::logic_error if a property of any kind already has the name.
template <class P>
void register_distribution_property() {
  distribution_properties().add({P::name, P::about, &P::violation});
  Registry::instance().add(property_of<DistributionPropertyOn<P, TokenLevel>, TokenLevel>());
  PathRegistry::instance().add(property_of<DistributionPropertyOn<P, BlockLevel>, BlockLevel>());
}

}  // namespace draftproof
