// No row emits a token of weight 0 or a masked token: the mass of such tokens over all branches is exactly 0.
//
// Cost: that of row_law, with the same walk.
//
// Correctness: one such token is a proof. A law may be wrong without one.
#pragma once

#include <draftproof/properties/components/batch/batch_law.hpp>

namespace draftproof::checks::batch {

struct NoForbiddenToken {
  static constexpr std::string_view name = "no_forbidden_token";
  static constexpr std::string_view about = "tokens of weight 0 or behind a mask are never emitted";
  static constexpr Tier tier = Tier::proof;

  static Answer check(const BatchRunner& runner, const BatchCase& one, std::uint64_t& work) {
    return check(runner, one, work, {});
  }
  static Answer check(const BatchRunner& runner, const BatchCase& one, std::uint64_t& work, ExplorerLimits limits) {
    return judge_rows(runner, one, work, limits, &BatchLaw::forbidden);
  }
};

}  // namespace draftproof::checks::batch
