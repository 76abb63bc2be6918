#include <draftproof/properties/simulation.hpp>

#include <stdexcept>
#include <string>

namespace draftproof {

template <class L>
Tally simulate(const Simulation& what, const L& laws, const TrialBudget& budget) {
  const auto decider = what.verifier.simulate_on(laws, what.drafts);
  if (!decider)
    throw std::invalid_argument(std::string(what.verifier.info().name) +
                                " cannot be simulated: " + std::string(what.verifier.info().cannot.simulate));
  Tally empty;
  if (what.histogram) empty.histogram.resize(static_cast<std::size_t>(laws.vocabulary()));
  constexpr int batch_trials = 128;  // drafts and verdicts of a batch stay in the first-level cache
  return run_trials(budget, empty, [&](std::uint64_t first, std::uint64_t count, Tally& tally) {
    Token drafts[batch_trials * max_drafts];
    int lengths[batch_trials];
    Verdict verdicts[batch_trials];
    for (std::uint64_t done = 0; done < count; done += batch_trials) {
      const int trials = static_cast<int>(std::min<std::uint64_t>(batch_trials, count - done));
      const TrialBatch batch{what.seed, what.first + first + done, trials, what.drafts, drafts, lengths};
      what.drafter.draw(laws, what.drafts, batch);
      decider->decide(batch, verdicts);
      for (int t = 0; t < trials; ++t) tally.add(verdicts[t], drafts + t * what.drafts, lengths[t]);
    }
  });
}

template Tally simulate(const Simulation&, const RatioTable&, const TrialBudget&);
template Tally simulate(const Simulation&, const Rows<double>&, const TrialBudget&);

}  // namespace draftproof
