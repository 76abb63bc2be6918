// No iteration emits a token that the target does not have, and none ends without a token, from one iteration to the
// next: a count above zero is a proof of failure. Seeded, deterministic.
#pragma once

#include <draftproof/properties/paths/iterations.hpp>
#include <draftproof/properties/paths/path_analysis.hpp>

namespace draftproof::checks::paths {

struct ZeroSupport {
  static constexpr std::string_view name = "zero_support";
  static constexpr std::string_view about = "no iteration emits a token with p = 0, or ends without one";
  static constexpr int every = 2;
  static constexpr bool explores = false;
  static constexpr Tier tier = Tier::edge;
  static constexpr std::uint64_t iterations = 12;

  static bool applies(const AnyPathVerifier&, const AnyTreeDrafter& drafter) { return declares_every_row(drafter); }
  static Answer check(PathInstanceAnalysis& at) {
    const auto conditionals = double_laws(at.instance());
    const auto plan = plan_on(at, conditionals);
    const auto wrong = first_fault(at, conditionals, *plan, iterations,
                                   [&](std::uint64_t t, const Iteration& one, const auto&, const auto&) {
                                     auto fault = fault_of(one.played, one, conditionals);
                                     if (fault) fault = place_of(t, one) + " " + *fault;
                                     return fault;
                                   });
    return Answer::held_if(!wrong, [&] { return *wrong; });
  }
};

}  // namespace draftproof::checks::paths
