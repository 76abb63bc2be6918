// Where p and q share no token after any prefix, no draft can be accepted and the one token emitted has law p.
#pragma once

#include <draftproof/properties/paths/path_analysis.hpp>

namespace draftproof::checks::paths {

struct DisjointSupports {
  static constexpr std::string_view name = "disjoint_supports";
  static constexpr std::string_view about =
      "p q = 0 after every prefix: nothing is accepted, the token emitted has law p";
  static constexpr int every = 4;

  static bool applies(const AnyPathVerifier& verifier, const AnyTreeDrafter&) {
    return verifier.info().promise == Promise::lossless;
  }
  static Answer check(PathInstanceAnalysis& at) {
    PathInstance apart = at.instance();
    for (auto& [prefix, weights] : apart.rows)
      for (std::size_t x = 0; x < weights.target.size(); ++x) (x % 2 ? weights.proposal[x] : weights.target[x]) = 0;
    if (!apart.valid()) return Answer::not_applicable();
    const auto law = at.law_of(apart);
    if (!law.complete) return Answer::undecided("the tree was not walked whole");
    std::vector<Rational> output(static_cast<std::size_t>(apart.vocabulary()));
    for (const auto& [tokens, probability] : law.emitted)
      if (tokens.size() == 1) output[static_cast<std::size_t>(tokens.front())] += probability;
    return Answer::held_if(law.accepted.front() == 1 && output == normalised(apart.after({}).target), [&] {
      return "on " + apart.text() + " nothing is accepted with probability " + to_text(law.accepted.front()) +
             ", the token emitted then has mass " + to_text(output);
    });
  }
};

}  // namespace draftproof::checks::paths
