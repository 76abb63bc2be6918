// Every row of a source, after every chain of drafts, equals the row that the settings specify; the evidence names
// the first wrong prefix.
//
// Cost: V^L chains, in fractions.
//
// Correctness: penalties make rows depend on the prefix, so one chain does not suffice.
#pragma once

#include <draftproof/properties/components/target/chains.hpp>

namespace draftproof::checks::target {

struct RowsByPrefix {
  static constexpr std::string_view name = "rows_by_prefix";
  static constexpr std::string_view about = "after every prefix the row is the one asked for";
  static constexpr Tier tier = Tier::proof;

  static Answer check(const TargetSource& source, const TargetCase& one, std::uint64_t& work) {
    for (const std::vector<Token>& prefix : chains(one.request.vocabulary(), one.request.drafts())) {
      const auto wanted = wanted_row(source, one.request, prefix);
      if (!wanted) return Answer::not_applicable();
      const auto row = source.row(one.request, prefix.data(), static_cast<int>(prefix.size()));
      ++work;
      if (row != *wanted)
        return Answer::violated(fmt::format("after [{}] got {}, wanted {}, TV {}", fmt::join(prefix, " "),
                                            to_text(row), to_text(*wanted), to_text(total_variation(row, *wanted))));
    }
    return Answer::held();
  }
};

}  // namespace draftproof::checks::target
