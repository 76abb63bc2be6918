// Token ids are names: permuting them permutes the law of the step and leaves the number accepted alone.
#pragma once

#include <algorithm>

#include <draftproof/properties/paths/path_analysis.hpp>

namespace draftproof::checks::paths {

struct Relabelling {
  static constexpr std::string_view name = "relabelling";
  static constexpr std::string_view about = "reversing the token ids reverses the law of the step";
  static constexpr int every = 4;

  /// Ids matter to those who rank tokens by them.
  static bool applies(const AnyPathVerifier& verifier, const AnyTreeDrafter& drafter) {
    return !drafter.info().ranks_tokens && !verifier.info().ranks_tokens;
  }
  static Answer check(PathInstanceAnalysis& at) {
    const Token last = at.instance().vocabulary() - 1;
    const auto reversed_ids = [last](Tokens tokens) {
      for (Token& x : tokens) x = last - x;
      return tokens;
    };
    PathInstance reversed = at.instance();
    reversed.rows.clear();
    for (const auto& [prefix, weights] : at.instance().rows) reversed.rows.emplace(reversed_ids(prefix), weights);
    for (auto* row : rows_of(reversed)) std::reverse(row->begin(), row->end());
    const auto law = at.law_of(reversed);
    if (!law.complete || !at.law().complete) return Answer::undecided("the tree was not walked whole");
    if (law.accepted != at.law().accepted)
      return Answer::violated("accepts " + to_text(at.law().accepted) + ", with reversed ids " +
                              to_text(law.accepted));
    std::map<Tokens, Rational> back;
    for (const auto& [tokens, probability] : law.emitted) back.emplace(reversed_ids(tokens), probability);
    for (const auto& [tokens, probability] : at.law().emitted)
      if (const auto found = back.find(tokens); found == back.end() || found->second != probability)
        return Answer::violated("emits " + prefix_text(tokens) + " with probability " + to_text(probability) +
                                ", with reversed ids " + (found == back.end() ? "0" : to_text(found->second)));
    return Answer::held();
  }
};

}  // namespace draftproof::checks::paths
