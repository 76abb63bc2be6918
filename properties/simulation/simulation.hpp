// Monte Carlo simulation of a drafter followed by a verifier on prepared laws.
#pragma once

#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <draftproof/properties/subjects/any_verifier.hpp>
#include <draftproof/sim/trials/run_trials.hpp>

namespace draftproof {

/// A simulation to run. Refers to the verifier and the drafter.
struct Simulation {
  const AnyVerifier& verifier;
  const AnyDrafter& drafter;
  int drafts;
  std::uint64_t seed;
  std::uint64_t first = 0;  ///< address of the first trial; different positions use different trials of a seed
  bool histogram = false;
  bool lazy = false;  ///< whether drafts after the accepted one are not drawn; verdicts are the same
};

/// Whether drafts may be drawn as they are tested. The verifier must decide on them in turn and flag every emitted
/// draft, so that neither verdict nor membership needs the others; the drafter must draw them one after the other.
bool can_be_lazy(const AnyVerifier& verifier, const AnyDrafter& drafter);
/// The same, and whether q has a token for every draft, so that their number is known before they are drawn.
bool can_be_lazy(const AnyVerifier& verifier, const AnyDrafter& drafter, const RatioTable& laws, int drafts);

/// The verifier prepared for `laws`, which must outlive it. Threads may share it.
template <class L>
class Simulator {
 public:
  /// Throws: std::invalid_argument if the verifier cannot be simulated on these laws, or not lazily.
  Simulator(const Simulation& what, const L& laws);

  /// An all-zero tally.
  Tally empty() const;
  /// Adds trials first .. first + count - 1 to `tally`: drafted, decided and counted.
  void run(std::uint64_t first, std::uint64_t count, Tally& tally) const;

 private:
  void run_lazily(std::uint64_t first, std::uint64_t count, Tally& tally) const;

  Simulation what_;
  const L& laws_;
  DeciderPtr<L, Philox> decider_;
};

/// Number of draft tuples up to which a plan may enumerate them; such plans take up to a second. Beyond it a report
/// says that the scheme does not run at this size.
inline constexpr double affordable_tuples = 20'736;  // 12^4

/// The form of the laws on which a scheme is simulated.
enum class SimulationBackend {
  table,  ///< prepared tables, any V
  rows,   ///< plain rows: the scheme's plan enumerates tuples, and there are few
  none,   ///< no form: there are too many tuples
};

/// Numbers of tokens with a positive weight in the rows of proposals.
class Supports {
 public:
  explicit Supports(std::span<const std::vector<double>> rows = {}) { add(rows); }
  void add(std::span<const std::vector<double>> rows);
  /// How many tokens a draft can be: those of the largest support, or all of them where a law goes on after q ran out.
  int drafted(const DrafterInfo& drafter, int drafts) const {
    return drafter.needs_k_tokens && smallest_ < drafts ? vocabulary_ : largest_;
  }

 private:
  int smallest_ = std::numeric_limits<int>::max(), largest_ = 0, vocabulary_ = 0;
};

/// The form for this verifier on drafts from such proposals.
SimulationBackend backend_for(const AnyVerifier& verifier, const AnyDrafter& drafter, const Supports& supports,
                              int drafts);

extern template class Simulator<RatioTable>;
extern template class Simulator<Rows<double>>;

/// Runs a simulator on all threads of the budget and returns its tally. Throws: std::invalid_argument if the verifier
/// cannot be simulated on `laws`; std::logic_error if the counts do not add up.
template <class L>
Tally simulate(const Simulation& what, const L& laws, const TrialBudget& budget) {
  const Simulator<L> simulator(what, laws);
  Tally tally = run_trials(
      budget, simulator.empty(),
      [&simulator](std::uint64_t first, std::uint64_t count, Tally& into) { simulator.run(first, count, into); });
  if (const std::string lost = tally.discrepancy(); !lost.empty())
    throw std::logic_error("counts of a simulation do not add up: " + lost);
  return tally;
}

}  // namespace draftproof
