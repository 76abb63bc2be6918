// A drafter draws from the law it declares: the walk of its draws against the closed form its file states, prefix by
// prefix, so that the first wrong draft is named. A drafter that is wrong on purpose is held to the law it poses as.
//
//   drawn(s)      explored probability that the tuple begins with s
//   mass(s)       the declared one, AnyDrafter::declared_mass
//
// Equal for every prefix and every token after it decides the law, lengths too: a tuple ends after s with what its
// continuations leave of drawn(s). Verifiers are tested apart from this, on drafts that may have any law.
#pragma once

#include <map>

#include <draftproof/properties/instances/path_instance.hpp>
#include <draftproof/properties/proof/property.hpp>

namespace draftproof::checks {

struct DeclaredDrafts {
  static constexpr std::string_view name = "declared_drafts";
  static constexpr std::string_view about = "draft by draft, tuples have the law the drafter declares";
  static constexpr int every = 4;
  static constexpr bool explores = false;  // the drafter is walked, not the verifier

  /// Shared noise cannot be walked: in its place would be the drafter whose law it declares.
  static bool applies(const AnyVerifier&, const AnyDrafter& drafter) { return !drafter.info().shared_noise(); }
  static Answer check(InstanceAnalysis& at) {
    const auto rows = at.instance().rows();
    const auto drafts = static_cast<std::size_t>(at.instance().drafts);
    std::map<Tokens, Rational, ShorterFirst> drawn;
    const bool whole = at.each_tuple([&](std::span<const Token> tuple, const Rational& probability) {
      for (std::size_t n = 0; n <= tuple.size(); ++n) {
        const auto prefix = tuple.first(n);
        drawn[Tokens(prefix.begin(), prefix.end())] += probability;
      }
    });
    if (!whole) return Answer::undecided("more than " + std::to_string(at.limits().leaves) + " branches");
    for (const auto& [prefix, mass] : drawn) {
      if (prefix.size() == drafts) break;
      bool right = true;
      std::vector<Rational> got, wanted;
      Tokens longer = prefix;
      longer.push_back(0);
      for (Token& x = longer.back(); x < rows.vocabulary(); ++x) {
        const auto declared = at.drafter().declared_mass(rows, at.instance().drafts, longer);
        if (!declared) return Answer::not_applicable();
        const auto found = drawn.find(longer);
        got.push_back(found == drawn.end() ? Rational(0) : Rational(found->second / mass));
        wanted.push_back(*declared / mass);  // the prefix itself was right
        right = right && got.back() == wanted.back();
      }
      if (!right)
        return Answer::violated("draft " + std::to_string(prefix.size()) + " after " + prefix_text(prefix) +
                                " has law " + to_text(got) + ", declared " + to_text(wanted) + ", TV " +
                                to_text(total_variation(got, wanted)));
    }
    return Answer::held();
  }
};

}  // namespace draftproof::checks
