// Properties of what one decision emits, whatever runs it. One file asks such a property of every subject whose law is
// found: verifiers of positions and of paths, whose branches are enumerated, and programs behind a door (a C library, a
// child process, a function in Python), whose law is found by calls.
//
// A header that is given to draftproof_add(KIND law_property) defines a struct of its name, with
//
//   struct MyCheck {
//     static constexpr std::string_view name = "my_check";
//     static constexpr std::string_view about = "what it says";
//     static std::optional<std::string> violation(const EmittedLaw& law);   // its evidence; nothing where it holds
//   };
//
// It is asked of subjects that promise the target and keep no state between decisions.
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

/// The law of the strings that one decision emits on a small model.
struct EmittedLaw {
  int vocabulary = 0;
  int length = 0;                        ///< most tokens that a decision emits
  std::map<Tokens, Rational> emitted{};  ///< by string; strings that are never emitted may be missing
  /// The target after a prefix of fewer than `length` tokens.
  std::function<std::vector<Rational>(const Tokens& prefix)> target{};
  /// By so much every probability may be off: 0 in fractions; of a program what its number formats explain, and what was
  /// not explored.
  Rational limit = 0;
};

EmittedLaw emitted_law(InstanceAnalysis& at);
EmittedLaw emitted_law(PathInstanceAnalysis& at);

struct LawProperty {
  std::string_view name, about;
  std::optional<std::string> (*violation)(const EmittedLaw&);
};

/// Those registered, which the gate of programs behind doors asks. Proofs ask them as properties of their level.
inline NamedList<LawProperty>& law_properties() {
  static NamedList<LawProperty> all;
  return all;
}

/// P as a property of one level.
template <class P, class Level>
struct LawPropertyOn {
  static constexpr std::string_view name = P::name, about = P::about;
  static constexpr int every = 1;

  static bool applies(const typename Level::Verifier& verifier, const typename Level::Drafter&) {
    const bool carries = on_level<Level>([](const auto&) { return false; },
                                         [](const auto& paths) { return paths.stateful(); })(verifier);
    return verifier.info().promise == Promise::lossless && !carries;
  }
  static Answer check(typename Level::InstanceAnalysis& at) {
    if (!at.law().complete) return Answer::undecided("more than " + std::to_string(at.limits().leaves) + " branches");
    const std::optional<std::string> evidence = P::violation(emitted_law(at));
    return evidence ? Answer::violated(*evidence) : Answer::held();
  }
};

/// Throws: std::logic_error if a property has the name already, on any kind of subject.
template <class P>
void register_law_property() {
  law_properties().add({P::name, P::about, &P::violation});
  Registry::instance().add(property_of<LawPropertyOn<P, TokenLevel>, TokenLevel>());
  PathRegistry::instance().add(property_of<LawPropertyOn<P, BlockLevel>, BlockLevel>());
}

}  // namespace draftproof
