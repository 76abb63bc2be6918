#include <draftproof/properties/simulation/backend.hpp>

#include <algorithm>
#include <chrono>

namespace draftproof {

std::uint64_t in_rounds(const TrialBudget& budget,
                        const std::function<void(std::uint64_t done, std::uint64_t count)>& run) {
  using Clock = std::chrono::steady_clock;
  constexpr std::uint64_t first_round = std::uint64_t{1} << 22, longest_round = std::uint64_t{1} << 28;
  const auto start = Clock::now();
  const auto stopped = [&] { return budget.stop && budget.stop->load(std::memory_order_relaxed); };
  std::uint64_t done = 0;
  for (std::uint64_t round = first_round; done < budget.trials && !stopped();
       round = std::min(2 * round, longest_round)) {
    const std::uint64_t count = std::min(round, budget.trials - done);
    run(done, count);
    done += count;
    if (budget.progress) budget.progress(done);
    if (budget.seconds > 0 && std::chrono::duration<double>(Clock::now() - start).count() >= budget.seconds) break;
  }
  return done;
}

Tally simulate(const Simulation& what, const TrialTable& on, const TrialBudget& budget) {
  if (what.lazy) throw std::invalid_argument("drafts are not drawn lazily on a device");
  const auto trials = [&](std::uint64_t done, std::uint64_t count) {
    return on.tally({what.verifier, what.drafter, what.drafts, what.seed, what.first + done, count}, what.histogram);
  };
  Tally tally = trials(0, 0);
  in_rounds(budget, [&](std::uint64_t done, std::uint64_t count) { tally += trials(done, count); });
  return tally;
}

}  // namespace draftproof
