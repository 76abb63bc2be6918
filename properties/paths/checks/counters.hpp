// Counters agree with tokens: a step that reports how many drafts it accepted (its extra token's `accepted`) emits as
// many and one more, and never more than were drafted. The output law does not show a wrong counter. Seeded,
// deterministic.
#pragma once

#include <draftproof/properties/paths/iterations.hpp>
#include <draftproof/properties/paths/path_analysis.hpp>

namespace draftproof::checks::paths {

struct Counters {
  static constexpr std::string_view name = "counters";
  static constexpr std::string_view about = "the number of accepted drafts is that of the emitted ones";
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
                                     auto fault = count_fault(one.played.output, one.tree);
                                     if (fault) fault = place_of(t, one) + " " + *fault;
                                     return fault;
                                   });
    return Answer::held_if(!wrong, [&] { return *wrong; });
  }
};

}  // namespace draftproof::checks::paths
