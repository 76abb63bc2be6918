#include <draftproof/bench/results/judge.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace draftproof::benchmarks {

std::vector<Judged> judge(std::span<const Goal> goals, const Results& results) {
  std::vector<Judged> judged;
  for (const Goal& goal : goals) {
    Judged& found = judged.emplace_back(Judged{.goal = goal});
    const Measurement* slower = results.find(plain_name(goal.slower));
    const Measurement* faster = results.find(plain_name(goal.faster));
    if (!slower || !faster || !slower->timed() || !faster->timed()) continue;
    found.ratio = slower->spread().median / faster->spread().median;
    const auto meets = [&goal](double ratio) {
      return goal.sense == Goal::Sense::at_least ? ratio >= goal.bound : ratio <= goal.bound;
    };
    found.verdict = meets(found.ratio) ? GoalResult::met : GoalResult::missed;
    if (slower->seconds.size() != faster->seconds.size()) continue;
    std::vector<double> rounds;
    for (std::size_t i = 0; i < slower->seconds.size(); ++i)
      rounds.push_back(slower->seconds[i] / faster->seconds[i]);
    found.all_rounds = rounds.size();
    found.met_rounds = static_cast<std::size_t>(std::count_if(rounds.begin(), rounds.end(), meets));
    found.rounds = spread_of(std::move(rounds));
    found.verdict = found.met_rounds == found.all_rounds ? GoalResult::met
                    : found.met_rounds == 0              ? GoalResult::missed
                                                         : GoalResult::undecided;
  }
  return judged;
}

std::string verdict_text(const Judged& judged) {
  switch (judged.verdict) {
    case GoalResult::met:
      return "met";
    case GoalResult::missed:
      return "not met";
    case GoalResult::undecided:
      return fmt::format("met in {} of {} rounds", judged.met_rounds, judged.all_rounds);
    case GoalResult::not_run:
      break;
  }
  return "not run";
}

}  // namespace draftproof::benchmarks
