// Monte Carlo of a drafter followed by a verifier on prepared laws.
#pragma once

#include <draftproof/properties/subject.hpp>
#include <draftproof/sim/trial_engine.hpp>

namespace draftproof {

struct Simulation {
  const AnyVerifier& verifier;
  const AnyDrafter& drafter;
  int drafts;
  std::uint64_t seed;
  std::uint64_t first = 0;    ///< address of the first trial: different positions use different trials of a seed
  bool histogram = false;
};

/// Draft tuples drawn and decided, counted. Throws std::invalid_argument if the verifier cannot be simulated.
template <class L>
Tally simulate(const Simulation& what, const L& laws, const TrialBudget& budget);

extern template Tally simulate(const Simulation&, const RatioTable&, const TrialBudget&);
extern template Tally simulate(const Simulation&, const Rows<double>&, const TrialBudget&);

}  // namespace draftproof
