#include <draftproof/properties/simulation.hpp>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace draftproof {

Ground ground_for(const AnyVerifier& verifier, int widest, int drafts) {
  if (verifier.info().cannot.simulate.empty()) return Ground::table;
  return std::pow(widest, drafts) <= affordable_tuples ? Ground::rows : Ground::none;
}

int widest_support(std::span<const std::vector<double>> rows) {
  std::ptrdiff_t widest = 0;
  for (const auto& row : rows)
    widest = std::max(widest, std::count_if(row.begin(), row.end(), [](double q) { return q > 0; }));
  return static_cast<int>(widest);
}

template <class L>
Simulator<L>::Simulator(const Simulation& what, const L& laws)
    : what_{what}, laws_{laws}, decider_{what.verifier.simulate_on(laws, what.drafts)} {
  if (!decider_)
    throw std::invalid_argument(std::string(what.verifier.info().name) +
                                " cannot be simulated: " + std::string(what.verifier.info().cannot.simulate));
}

template <class L>
Tally Simulator<L>::empty() const {
  Tally tally;
  if (what_.histogram) tally.histogram.resize(static_cast<std::size_t>(laws_.vocabulary()));
  return tally;
}

template <class L>
void Simulator<L>::run(std::uint64_t first, std::uint64_t count, Tally& tally) const {
  constexpr int batch_trials = 128;  // drafts and verdicts of a batch stay in the first-level cache
  Token drafts[batch_trials * max_drafts];
  int lengths[batch_trials];
  Verdict verdicts[batch_trials];
  for (std::uint64_t done = 0; done < count; done += batch_trials) {
    const int trials = static_cast<int>(std::min<std::uint64_t>(batch_trials, count - done));
    const TrialBatch batch{what_.seed, what_.first + first + done, trials, what_.drafts, drafts, lengths};
    what_.drafter.draw(laws_, what_.drafts, batch);
    decider_->decide(batch, verdicts);
    tally.add(verdicts, drafts, lengths, what_.drafts, trials);
  }
}

template class Simulator<RatioTable>;
template class Simulator<Rows<double>>;

}  // namespace draftproof
