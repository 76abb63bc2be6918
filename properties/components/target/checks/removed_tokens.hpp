// A token that the settings remove after a prefix has no mass there, and no mass of a row is negative.
//
// Cost: V^L chains, in fractions.
//
// Correctness: one such token in an output is a proof, independent of the rest of the row.
#pragma once

#include <draftproof/properties/components/target/chains.hpp>

namespace draftproof::checks::target {

struct RemovedTokens {
  static constexpr std::string_view name = "removed_tokens";
  static constexpr std::string_view about = "tokens removed by filters and masks have no mass";
  static constexpr Tier tier = Tier::proof;

  static Answer check(const TargetSource& source, const TargetCase& one, std::uint64_t& work) {
    for (const std::vector<Token>& prefix : chains(one.request.vocabulary(), one.request.drafts())) {
      const auto wanted = wanted_row(source, one.request, prefix);
      if (!wanted) return Answer::not_applicable();
      const auto row = source.row(one.request, prefix.data(), static_cast<int>(prefix.size()));
      ++work;
      for (std::size_t x = 0; x < row.size(); ++x)
        if (row[x] < 0 || ((*wanted)[x] == 0 && row[x] > 0))
          return Answer::violated(
              fmt::format("after [{}] token {} has {}, wanted 0", fmt::join(prefix, " "), x, to_text(row[x])));
    }
    return Answer::held();
  }
};

}  // namespace draftproof::checks::target
