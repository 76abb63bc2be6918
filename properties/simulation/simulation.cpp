#include <draftproof/properties/simulation/simulation.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <stdexcept>
#include <string>

namespace draftproof {

void Supports::add(std::span<const std::vector<double>> rows) {
  for (const auto& row : rows) {
    const auto size = static_cast<int>(std::count_if(row.begin(), row.end(), [](double q) { return q > 0; }));
    smallest_ = std::min(smallest_, size);
    largest_ = std::max(largest_, size);
    vocabulary_ = std::max(vocabulary_, static_cast<int>(row.size()));
  }
}

SimulationBackend backend_for(const AnyVerifier& verifier, const AnyDrafter& drafter, const Supports& supports,
                              int drafts) {
  if (verifier.info().unsupported.simulate.empty()) return SimulationBackend::table;
  return std::pow(supports.drafted(drafter.info(), drafts), drafts) <= affordable_tuples ? SimulationBackend::rows
                                                                                         : SimulationBackend::none;
}

bool can_be_lazy(const AnyVerifier& verifier, const AnyDrafter& drafter) {
  return verifier.info().sequential && verifier.info().claims.emitted_drafts_are_accepted &&
         drafter.info().prefix_consistent;
}

bool can_be_lazy(const AnyVerifier& verifier, const AnyDrafter& drafter, const RatioTable& distributions,
                 int drafts) {
  if (!can_be_lazy(verifier, drafter) || distributions.vocabulary() < drafts) return false;
  // If q has mass outside its drafts - 1 most probable tokens, it has mass outside any drafts - 1 tokens.
  Token greatest[max_drafts];
  for (int j = 0; j + 1 < drafts; ++j) greatest[j] = distributions.kth_most_probable(j);
  return distributions.mass_without(0, greatest, drafts - 1) > distributions.zero();
}

namespace {

/// Trials of a batch, whose drafts and verdicts fit in the cache. About a fifth of the trials need a second round or a
/// final draw, so these steps also run on many trials at once.
constexpr int batch_trials = 512;

}  // namespace

template <class L>
Simulator<L>::Simulator(const Simulation& what, const L& distributions)
    : what_{what}, distributions_{distributions}, decider_{what.verifier.simulate_on(distributions, what.drafts)} {
  if (!decider_)
    throw std::invalid_argument(std::string(what.verifier.info().name) +
                                " cannot be simulated: " + std::string(what.verifier.info().unsupported.simulate));
  if (!what.lazy) return;
  bool offered = false;
  if constexpr (std::same_as<L, RatioTable>)
    offered = can_be_lazy(what.verifier, what.drafter, distributions, what.drafts);
  if (!offered)
    throw std::invalid_argument(std::string(what.verifier.info().name) + " on " +
                                std::string(what.drafter.info().name) + " needs all its drafts");
}

template <class L>
Tally Simulator<L>::empty() const {
  Tally tally;
  if (what_.histogram) tally.histogram.resize(static_cast<std::size_t>(distributions_.vocabulary()));
  return tally;
}

template <class L>
void Simulator<L>::run(std::uint64_t first, std::uint64_t count, Tally& tally) const {
  if (what_.lazy) return run_lazily(first, count, tally);
  Token drafts[batch_trials * max_drafts];
  int lengths[batch_trials];
  Verdict verdicts[batch_trials];
  for (std::uint64_t done = 0; done < count; done += batch_trials) {
    const int trials = static_cast<int>(std::min<std::uint64_t>(batch_trials, count - done));
    const TrialBatch batch{what_.seed, what_.first + first + done, trials, what_.drafts, drafts, lengths};
    what_.drafter.draw(distributions_, what_.drafts, batch);
    decider_->decide(batch, verdicts);
    tally.add(verdicts, drafts, lengths, what_.drafts, trials);
  }
}

template <class L>
void Simulator<L>::run_lazily(std::uint64_t first, std::uint64_t count, Tally& tally) const {
  constexpr int at_first = 4;
  Token drafts[batch_trials * max_drafts];
  int lengths[batch_trials];
  Verdict verdicts[batch_trials];
  std::uint64_t trials[batch_trials];
  for (std::uint64_t done = 0; done < count; done += batch_trials) {
    int left = static_cast<int>(std::min<std::uint64_t>(batch_trials, count - done));
    for (int t = 0; t < left; ++t) trials[t] = what_.first + first + done + static_cast<std::uint64_t>(t);
    int known_rejections = 0;
    for (int at_hand = std::min(at_first, what_.drafts); left > 0; at_hand = std::min(4 * at_hand, what_.drafts)) {
      const TrialBatch batch{what_.seed, 0, left, at_hand, drafts, lengths, trials, what_.drafts, known_rejections};
      what_.drafter.draw(distributions_, at_hand, batch);
      decider_->decide(batch, verdicts);
      // Trials that these drafts do not decide get four times as many drafts, drawn again from the first draft; because
      // random bits are addressed, the first drafts are the same as before.
      int still = 0, done_now = 0, decided[batch_trials];
      known_rejections = max_drafts;
      for (int t = 0; t < left; ++t) {
        const bool wants = verdicts[t].token == drafts_exhausted;
        trials[still] = trials[t];
        still += wants;
        known_rejections = wants ? std::min(known_rejections, verdicts[t].accepted) : known_rejections;
        decided[done_now] = t;
        done_now += !wants;
      }
      tally.add(verdicts, drafts, lengths, at_hand, decided, done_now);
      left = still;
    }
  }
}

template class Simulator<RatioTable>;
template class Simulator<Rows<double>>;

}  // namespace draftproof
