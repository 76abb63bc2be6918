// Monte Carlo of a drafter followed by a verifier on prepared laws.
#pragma once

#include <span>
#include <vector>

#include <draftproof/properties/subjects/any_verifier.hpp>
#include <draftproof/sim/trials/run_trials.hpp>

namespace draftproof {

struct Simulation {
  const AnyVerifier& verifier;
  const AnyDrafter& drafter;
  int drafts;
  std::uint64_t seed;
  std::uint64_t first = 0;  ///< address of the first trial: different positions use different trials of a seed
  bool histogram = false;
  bool lazy = false;  ///< drafts after the accepted one are not drawn: the same verdicts for less
};

/// Whether drafts may be drawn as they are tested: the verifier decides on them in turn and emits no draft unflagged,
/// so neither verdict nor membership asks for the others; the drafter draws one after the other.
bool can_be_lazy(const AnyVerifier& verifier, const AnyDrafter& drafter);
/// And q has a token for every draft, so that all agree on how many there are before they are drawn.
bool can_be_lazy(const AnyVerifier& verifier, const AnyDrafter& drafter, const RatioTable& laws, int drafts);

/// The verifier prepared for `laws`, which must outlive it. Shared between threads.
template <class L>
class Simulator {
 public:
  /// Throws std::invalid_argument if the verifier cannot be simulated on these laws, or not lazily.
  Simulator(const Simulation& what, const L& laws);

  /// A tally that counts nothing yet.
  Tally empty() const;
  /// Adds trials first .. first + count - 1: draft tuples drawn, decided and counted.
  void run(std::uint64_t first, std::uint64_t count, Tally& tally) const;

 private:
  void run_lazily(std::uint64_t first, std::uint64_t count, Tally& tally) const;

  Simulation what_;
  const L& laws_;
  DeciderPtr<L, Philox> decider_;
};

/// Draft tuples that a plan may enumerate before a report says that the scheme does not run at this size: such plans
/// take up to a second.
inline constexpr double affordable_tuples = 20'736;  // 12^4

/// Where a simulation of a scheme runs.
enum class SimulationBackend {
  table,  ///< prepared tables, any V
  rows,   ///< plain rows: the scheme's plan enumerates tuples, and here there are few
  none,   ///< too many tuples
};

/// `widest` is the largest support of a proposal.
SimulationBackend backend_for(const AnyVerifier& verifier, int widest, int drafts);

/// Tokens with a positive weight in the widest of `rows`.
int widest_support(std::span<const std::vector<double>> rows);

extern template class Simulator<RatioTable>;
extern template class Simulator<Rows<double>>;

/// Runs a simulator on all threads of the budget.
template <class L>
Tally simulate(const Simulation& what, const L& laws, const TrialBudget& budget) {
  const Simulator<L> simulator(what, laws);
  return run_trials(budget, simulator.empty(), [&simulator](std::uint64_t first, std::uint64_t count, Tally& tally) {
    simulator.run(first, count, tally);
  });
}

}  // namespace draftproof
