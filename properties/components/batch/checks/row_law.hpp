// The exact law of every row in its batch: for any words of the other requests, if a step continues after a prefix,
// the next token has the target's law there, without masked tokens.
//
//   W        tokens of a request; drafts are part of the walk, stop tokens and limits are removed
//
// Cost: every drafted chain and every branch of the runner on it, in fractions, for each request in turn; the others
// read their counters.
//
// Correctness: rows are independent if the law given the others' words is the target's.
#pragma once

#include <draftproof/properties/components/batch/batch_law.hpp>

namespace draftproof::checks::batch {

struct RowLaw {
  static constexpr std::string_view name = "row_law";
  static constexpr std::string_view about = "each row has its target's law, whatever its neighbours draw";
  static constexpr Tier tier = Tier::proof;

  static Answer check(const BatchRunner& runner, const BatchCase& one, std::uint64_t& work) {
    return check(runner, one, work, {});
  }
  static Answer check(const BatchRunner& runner, const BatchCase& one, std::uint64_t& work, ExplorerLimits limits) {
    return judge_rows(runner, one, work, limits, &BatchLaw::wrong_prefix);
  }
};

}  // namespace draftproof::checks::batch
