#include <draftproof/bench/results/judge.hpp>

namespace draftproof::benchmarks {

std::vector<Judged> judge(std::span<const Goal> goals, const Results& results) {
  std::vector<Judged> judged;
  for (const Goal& goal : goals) {
    Judged& found = judged.emplace_back(Judged{.goal = goal});
    const Measurement* slower = results.find(plain_name(goal.slower));
    const Measurement* faster = results.find(plain_name(goal.faster));
    if (!slower || !faster || !slower->timed() || !faster->timed()) continue;
    found.ratio = slower->spread().median / faster->spread().median;
    const bool met = goal.sense == Goal::Sense::at_least ? found.ratio >= goal.bound : found.ratio <= goal.bound;
    found.verdict = met ? GoalResult::met : GoalResult::missed;
    if (slower->seconds.size() != faster->seconds.size()) continue;
    std::vector<double> rounds;
    for (std::size_t i = 0; i < slower->seconds.size(); ++i)
      rounds.push_back(slower->seconds[i] / faster->seconds[i]);
    found.rounds = spread_of(std::move(rounds));
  }
  return judged;
}

}  // namespace draftproof::benchmarks
