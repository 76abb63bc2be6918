// Monte Carlo simulation of a drafter followed by a verifier on prepared rows.
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

/// Whether drafts may be drawn lazily, as they are tested. The verifier must decide on them in order and count
/// every emitted draft as accepted, so that its results do not need later drafts; the drafter must draw them in
/// order.
bool can_be_lazy(const AnyVerifier& verifier, const AnyDrafter& drafter);
/// Whether drafts may be drawn lazily on these rows: also requires a token with q > 0 for every draft, so that the
/// number of drafts is known before they are drawn.
bool can_be_lazy(const AnyVerifier& verifier, const AnyDrafter& drafter, const RatioTable& distributions, int drafts);

/// The verifier prepared for `distributions`, which must outlive it. Threads may share it.
template <class L>
class Simulator {
 public:
  /// Throws: std::invalid_argument if the verifier cannot be simulated on `distributions`, or not lazily.
  Simulator(const Simulation& what, const L& distributions);

  /// Returns an all-zero tally.
  Tally empty() const;
  /// Drafts, decides and counts trials first .. first + count - 1, and adds them to `tally`.
  void run(std::uint64_t first, std::uint64_t count, Tally& tally) const;

 private:
  void run_lazily(std::uint64_t first, std::uint64_t count, Tally& tally) const;

  Simulation what_;
  const L& distributions_;
  DeciderPtr<L, Philox> decider_;
};

/// Largest number of draft tuples that a plan may enumerate, which takes up to a second. For larger sizes, reports
/// print that the scheme does not run.
inline constexpr double affordable_tuples = 20'736;  // 12^4

/// The form of the rows on which a scheme is simulated.
enum class SimulationBackend {
  table,  ///< prepared tables, at any V
  rows,   ///< plain rows, for a scheme whose plan enumerates at most affordable_tuples tuples
  none,   ///< the scheme is not simulated, because its plan would enumerate more tuples
};

/// The supports of proposals: how many tokens have a positive weight in each.
class Supports {
 public:
  explicit Supports(std::span<const std::vector<double>> rows = {}) { add(rows); }
  void add(std::span<const std::vector<double>> rows);
  /// Returns the number of possible tokens of a draft: the largest support, or V if a support has fewer tokens than
  /// there are drafts and the drafter then draws from the other tokens.
  int drafted(const DrafterInfo& drafter, int drafts) const {
    return drafter.needs_k_tokens && smallest_ < drafts ? vocabulary_ : largest_;
  }

 private:
  int smallest_ = std::numeric_limits<int>::max(), largest_ = 0, vocabulary_ = 0;
};

/// Returns the form for this verifier on drafts from these proposals.
SimulationBackend backend_for(const AnyVerifier& verifier, const AnyDrafter& drafter, const Supports& supports,
                              int drafts);

extern template class Simulator<RatioTable>;
extern template class Simulator<Rows<double>>;

/// Runs a simulator on all threads of the budget. Returns its tally. Throws: std::invalid_argument if the
/// verifier cannot be simulated on `distributions`; std::logic_error if the counts do not add up.
template <class L>
Tally simulate(const Simulation& what, const L& distributions, const TrialBudget& budget) {
  const Simulator<L> simulator(what, distributions);
  Tally tally = run_trials(
      budget, simulator.empty(),
      [&simulator](std::uint64_t first, std::uint64_t count, Tally& into) { simulator.run(first, count, into); });
  if (const std::string lost = tally.discrepancy(); !lost.empty())
    throw std::logic_error("counts of a simulation do not add up: " + lost);
  return tally;
}

}  // namespace draftproof
