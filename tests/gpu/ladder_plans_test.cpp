// Plans of the ladder made by a team against plans made by the host: bins, slopes, levels and the verdicts of several
// trials on each, bit for bit, with fibers as threads. Rows of few tokens, of more tokens than buckets, with zeros,
// with equal laws, and of every format.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <utility>
#include <vector>

#include <draftproof/sim/drafters/iid.hpp>
#include <draftproof/tests/support/gpu/outcome.hpp>
#include <draftproof/tests/support/gpu/register_lockstep_parity.hpp>
#include <draftproof/verifiers/ladder.hpp>

namespace draftproof::parity {
namespace {

using verifiers::Ladder;

constexpr int trials = 6;
constexpr std::uint64_t seed = 11;

template <class Entry>
struct Pair {
  std::vector<Entry> target, proposal;
  gpu::RowView<Entry> view() const { return {target.data(), proposal.data(), static_cast<int>(target.size())}; }
  FreshRows<Entry> host() const { return {std::span<const Entry>(target), std::span<const Entry>(proposal)}; }
};

/// Softmax of normal logits, and of the same with noise. With `zeros`, one token in eight has no p and one in eight
/// no q.
template <class Entry>
Pair<Entry> normal_pair(int vocabulary, double noise, bool zeros, unsigned number) {
  std::mt19937 words(number);
  std::normal_distribution<double> normal;
  std::vector<double> p, q;
  for (int x = 0; x < vocabulary; ++x) {
    const double logit = 2 * normal(words);
    p.push_back(std::exp(logit));
    q.push_back(std::exp(logit + noise * normal(words)));
    if (zeros && x > 0 && words() % 8 == 0) (words() % 2 == 0 ? p : q).back() = 0;
  }
  Pair<Entry> pair;
  for (auto [from, to] : {std::pair{&p, &pair.target}, std::pair{&q, &pair.proposal}}) {
    double sum = 0;
    for (const double weight : *from) sum += weight;
    for (const double weight : *from) to->push_back(Entry(static_cast<float>(weight / sum)));
  }
  return pair;
}

/// All members of a plan and its decisions.
struct Outcome {
  std::vector<double> numbers;
  bool operator==(const Outcome&) const = default;
};

template <class L>
Outcome outcome_on(const L& laws, int drafts, const std::vector<Token>& tuples) {
  const Ladder ladder;
  const auto plan = prepare(ladder, laws, drafts);
  const auto& core = plan.core();
  Outcome outcome;
  const auto tell = [&outcome](auto number) { outcome.numbers.push_back(static_cast<double>(number)); };
  tell(core.plan.acceptance);
  tell(plan.nothing_left);
  for (const auto& list : {core.plan.slope, core.plan.level})
    for (std::size_t i = 0; i < list.size(); ++i) tell(list[i]);
  for (std::size_t i = 0; i < core.plan.leaving.size(); ++i) tell(core.plan.leaving[i]);
  for (Token x = 0; x < laws.vocabulary(); ++x) tell(laws.proposal(x) > 0 ? laws.bin(core.bins, x) : -1);
  for (int t = 0; t < trials; ++t) {
    Philox random(seed, static_cast<std::uint64_t>(t), Philox::Role::verify);
    const Verdict verdict =
        verify(ladder, DraftedPosition<L>(laws, tuples.data() + t * drafts, drafts), plan, random);
    tell(verdict.token);
    tell(verdict.accepted);
  }
  return outcome;
}

/// Bins for which a plan distinguishes few stretches; with the usual 512, no rows would exceed them.
template <class Workspace>
struct FewStretches : BucketBinsIn<Workspace> {
  static constexpr int most_stretches = 6;
  DRAFTPROOF_DEVICE explicit FewStretches(const BucketBinsIn<Workspace>& all) : BucketBinsIn<Workspace>(all) {}
};

template <class L>
Outcome joined_on(const L& laws, int drafts) {
  const FewStretches<WorkspaceOf<L>> bins(laws.bins());
  const auto plan = plan_ladder(laws, bins, FixedCoverage<double>(drafts), true);
  Outcome outcome;
  for (std::size_t i = 0; i < plan.slope.size(); ++i) outcome.numbers.push_back(plan.slope[i]);
  for (std::size_t i = 0; i < plan.level.size(); ++i) outcome.numbers.push_back(plan.level[i]);
  return outcome;
}

/// Numbers of compared plans, of differing plans, and of special cases that must occur.
struct Tally {
  int plans = 0, wrong = 0, corrections = 0, moved = 0, certain = 0;
};

template <class Entry>
void compare(const Pair<Entry>& pair, int drafts, Mapping mapping, Tally& tally) {
  const auto host = pair.host();
  std::vector<Token> tuples(static_cast<std::size_t>(trials * drafts));
  for (int t = 0; t < trials; ++t) {
    Philox random(seed, static_cast<std::uint64_t>(t), Philox::Role::draft);
    drafters::Iid{}.draw(host, drafts, random, tuples.data() + t * drafts);
  }
  const Outcome wanted = outcome_on(host, drafts, tuples);
  const Outcome found = in_lockstep(
      pair.view(), [&](const auto& laws) { return outcome_on(laws, drafts, tuples); }, mapping,
      gpu::plan_bytes<Ladder>);
  ++tally.plans;
  const auto plan = Ladder{}.prepare(host, drafts);
  tally.moved += !plan.core().plan.leaving.empty();
  tally.certain += plan.nothing_left;
  for (int t = 0; t < trials; ++t)
    tally.corrections += wanted.numbers[wanted.numbers.size() - 1 - static_cast<std::size_t>(2 * t)] < 0;
  if (found == wanted) return;
  ++tally.wrong;
  std::size_t first = 0;
  while (first < std::min(found.numbers.size(), wanted.numbers.size()) &&
         found.numbers[first] == wanted.numbers[first])
    ++first;
  std::printf("V = %zu, K = %d, mapping %d: number %zu of %zu differs\n", pair.target.size(), drafts,
              static_cast<int>(mapping), first, wanted.numbers.size());
}

template <class Entry>
void compare_all(const std::vector<int>& vocabularies, const std::vector<int>& numbers_of_drafts, Tally& tally) {
  unsigned number = 0;
  for (const int vocabulary : vocabularies)
    for (const double noise : {0.0, 0.05, 0.5, 2.0})
      for (const int drafts : numbers_of_drafts) {
        ++number;
        compare(normal_pair<Entry>(vocabulary, noise, number % 3 == 0, number), drafts,
                static_cast<Mapping>(number % 4), tally);
      }
}

void compare_joined(Tally& tally) {
  for (const int vocabulary : {60, 900})
    for (const int drafts : {3, 8})
      for (const Mapping mapping : {Mapping::block, Mapping::warp, Mapping::split, Mapping::cluster}) {
        const auto pair = normal_pair<float>(vocabulary, 0.5, true, static_cast<unsigned>(vocabulary + drafts));
        const Outcome wanted = joined_on(pair.host(), drafts);
        const auto on_team = [&](const auto& laws) { return joined_on(laws, drafts); };
        ++tally.plans;
        tally.wrong += !(in_lockstep(pair.view(), on_team, mapping, gpu::plan_bytes<Ladder>) == wanted);
      }
}

}  // namespace
}  // namespace draftproof::parity

int main() {
  return draftproof::parity::outcome([] {
    using namespace draftproof;
    using namespace draftproof::parity;
    Tally tally;
    compare_all<float>({1, 2, 3, 17, 300, 1100}, {1, 2, 3, 5, 8, 16}, tally);
    compare_all<float>({4000}, {2, 4, 16}, tally);
    compare_all<double>({2, 150}, {1, 4}, tally);
    compare_all<Bfloat16>({40, 700}, {2, 8}, tally);
    compare_all<Half>({40, 700}, {2, 8}, tally);
    compare_joined(tally);
    std::printf("ladder plans: %d compared, %d differ; breaks leave in %d, %d leave nothing, %d corrections\n",
                tally.plans, tally.wrong, tally.moved, tally.certain, tally.corrections);
    // The comparison must include corrections, moved breaks and equal laws.
    return tally.wrong == 0 && tally.moved > 50 && tally.certain > 10 && tally.corrections > 50 ? 0 : 1;
  });
}
