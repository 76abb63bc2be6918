// Compares plans of the ladders made by a team of fibers with the host's plans, bit for bit: bins, slopes, levels and
// the verdicts of several trials on each. Rows have few tokens, more tokens than buckets, zeros, equal distributions,
// one heavy token, and every format; some have more drafts than q has tokens.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <utility>
#include <vector>

#include <draftproof/sim/drafters/sampled.hpp>
#include <draftproof/tests/support/gpu/outcome.hpp>
#include <draftproof/tests/support/gpu/register_lockstep_parity.hpp>
#include <draftproof/verifiers/ladder.hpp>
#include <draftproof/verifiers/ladder_wor.hpp>

namespace draftproof::parity {
namespace {

using verifiers::Ladder;
using verifiers::LadderWor;

constexpr int trials = 6;
constexpr std::uint64_t seed = 11;

template <class Entry>
struct Pair {
  std::vector<Entry> target, proposal;
  gpu::RowView<Entry> view() const { return {target.data(), proposal.data(), static_cast<int>(target.size())}; }
  FreshRows<Entry> host() const { return {std::span<const Entry>(target), std::span<const Entry>(proposal)}; }
};

/// Returns p, a softmax of normal logits, and q, a softmax of the same logits plus noise. With `zeros`, one token in
/// eight has p = 0 or q = 0.
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

/// All numbers of a plan, followed by the decisions that it gives.
struct Outcome {
  std::vector<double> numbers;
  bool operator==(const Outcome&) const = default;
};

/// Returns the outcome of trials. Trial t reads the next `drafts` tokens of `tuples`, of which the first `lengths[t]`
/// are drafts.
template <class V, class L>
Outcome outcome_on(const L& distributions, int drafts, const std::vector<Token>& tuples,
                   const std::vector<int>& lengths) {
  const V ladder;
  const auto plan = prepare(ladder, distributions, drafts);
  const auto& core = plan.core();
  Outcome outcome;
  const auto tell = [&outcome](auto number) { outcome.numbers.push_back(static_cast<double>(number)); };
  tell(core.plan.acceptance);
  tell(plan.nothing_left);
  for (const auto& list : {core.plan.slope, core.plan.level})
    for (std::size_t i = 0; i < list.size(); ++i) tell(list[i]);
  for (std::size_t i = 0; i < core.plan.leaving.size(); ++i) tell(core.plan.leaving[i]);
  for (Token x = 0; x < distributions.vocabulary(); ++x)
    tell(distributions.proposal(x) > 0 ? distributions.bin(core.bins, x) : -1);
  for (int t = 0; t < trials; ++t) {
    Philox random(seed, static_cast<std::uint64_t>(t), Philox::Role::verify);
    const DraftedPosition<L> at(distributions, tuples.data() + t * drafts, lengths[static_cast<std::size_t>(t)]);
    // ladder_wor needs another plan for tuples that exhaust q.
    const Verdict verdict = std::is_same_v<V, Ladder>
                                ? verify(ladder, at, plan, random)
                                : verify(ladder, at, prepare(ladder, distributions, drafts), random);
    tell(verdict.token);
    tell(verdict.accepted);
  }
  return outcome;
}

/// Bins that limit a plan to 6 stretches, to test plans beyond the limit: no rows here exceed the usual limit of 512.
template <class Workspace>
struct FewStretches : BucketBinsIn<Workspace> {
  static constexpr int most_stretches = 6;
  DRAFTPROOF_DEVICE explicit FewStretches(const BucketBinsIn<Workspace>& all) : BucketBinsIn<Workspace>(all) {}
};

template <class L>
Outcome joined_on(const L& distributions, int drafts) {
  const FewStretches<WorkspaceOf<L>> bins(distributions.bins());
  const auto plan = plan_ladder(distributions, bins, FixedCoverage<double>(drafts), true);
  Outcome outcome;
  for (std::size_t i = 0; i < plan.slope.size(); ++i) outcome.numbers.push_back(plan.slope[i]);
  for (std::size_t i = 0; i < plan.level.size(); ++i) outcome.numbers.push_back(plan.level[i]);
  return outcome;
}

/// Numbers of compared plans, of differing plans, and of special cases that must occur.
struct Tally {
  int plans = 0, wrong = 0, corrections = 0, moved = 0, certain = 0, outlasted = 0;
};

template <class V, class Drafter, class Entry>
void compare(const Pair<Entry>& pair, int most, Mapping mapping, Tally& tally) {
  const auto host = pair.host();
  const int drafts = Drafter::info.name == drafters::Iid::info.name ? most : std::min(most, host.vocabulary());
  std::vector<Token> tuples(static_cast<std::size_t>(trials * drafts));
  std::vector<int> lengths;
  for (int t = 0; t < trials; ++t) {
    Philox random(seed, static_cast<std::uint64_t>(t), Philox::Role::draft);
    lengths.push_back(Drafter{}.draw(host, drafts, random, tuples.data() + t * drafts));
    for (int k = 1; k < lengths.back(); ++k)
      tally.outlasted += !(host.proposal(tuples[static_cast<std::size_t>(t * drafts + k)]) > 0);
  }
  const Outcome wanted = outcome_on<V>(host, drafts, tuples, lengths);
  const Outcome found = in_lockstep(
      pair.view(), [&](const auto& distributions) { return outcome_on<V>(distributions, drafts, tuples, lengths); },
      mapping, gpu::plan_bytes<V>);
  ++tally.plans;
  const auto plan = V{}.prepare(host, drafts);
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

template <class V, class Drafter, class Entry>
void compare_all(const std::vector<int>& vocabularies, const std::vector<int>& numbers_of_drafts, Tally& tally) {
  unsigned number = 0;
  for (const int vocabulary : vocabularies)
    for (const double noise : {0.0, 0.05, 0.5, 2.0})
      for (const int drafts : numbers_of_drafts) {
        ++number;
        compare<V, Drafter>(normal_pair<Entry>(vocabulary, noise, number % 3 == 0, number), drafts,
                            static_cast<Mapping>(number % 3), tally);
      }
}

void compare_joined(Tally& tally) {
  for (const int vocabulary : {60, 900})
    for (const int drafts : {3, 8})
      for (const Mapping mapping : {Mapping::block, Mapping::split, Mapping::cluster}) {
        const auto pair = normal_pair<float>(vocabulary, 0.5, true, static_cast<unsigned>(vocabulary + drafts));
        const Outcome wanted = joined_on(pair.host(), drafts);
        const auto on_team = [&](const auto& distributions) { return joined_on(distributions, drafts); };
        ++tally.plans;
        tally.wrong += !(in_lockstep(pair.view(), on_team, mapping, gpu::plan_bytes<Ladder>) == wanted);
      }
}

/// Compares rows in which one token has nearly all of q, because the mass of the other tokens is then computed in
/// another way.
void compare_peaked(Tally& tally) {
  int mapping = 0;
  for (const float rest : {1e-3f, 1e-9f, 1e-15f})
    for (const int drafts : {2, 3, 5, 8}) {
      auto pair = normal_pair<float>(600, 0.5, false, 77);
      for (float& q : pair.proposal) q *= rest;
      pair.proposal[5] = 1 - rest;
      compare<LadderWor, drafters::WithoutReplacementUniform>(pair, drafts, static_cast<Mapping>(mapping++ % 3),
                                                              tally);
    }
}

/// Compares tuples with more drafts than the three tokens of q.
void compare_short(Tally& tally) {
  int mapping = 0;
  for (const int vocabulary : {40, 900})
    for (const double noise : {0.05, 2.0})
      for (const int drafts : {4, 5, 8}) {
        auto pair = normal_pair<float>(vocabulary, noise, false, static_cast<unsigned>(vocabulary));
        float sum = 0;
        for (std::size_t x = 0; x < pair.proposal.size(); ++x)
          sum += pair.proposal[x] *= x % (pair.proposal.size() / 3) == 7;
        for (float& q : pair.proposal) q /= sum;
        compare<LadderWor, drafters::WithoutReplacementUniform>(pair, drafts, static_cast<Mapping>(mapping++ % 3),
                                                                tally);
      }
}

/// Prints a summary. Returns whether all plans are equal and every special case occurred.
template <class V, class Drafter>
bool compare_ladder(const char* name) {
  Tally tally;
  compare_all<V, Drafter, float>({1, 2, 3, 17, 300, 1100}, {1, 2, 3, 5, 8, 16}, tally);
  compare_all<V, Drafter, float>({4000}, {2, 4, 16}, tally);
  compare_all<V, Drafter, double>({2, 150}, {1, 4}, tally);
  compare_all<V, Drafter, Bfloat16>({40, 700}, {2, 8}, tally);
  compare_all<V, Drafter, Half>({40, 700}, {2, 8}, tally);
  constexpr bool distinct = std::is_same_v<V, LadderWor>;
  if constexpr (distinct) {
    compare_peaked(tally);
    compare_short(tally);
  } else {
    compare_joined(tally);
  }
  std::printf(
      "%s plans: %d compared, %d differ; breaks leave in %d, %d leave nothing, %d corrections, %d drafts after q has "
      "run out\n",
      name, tally.plans, tally.wrong, tally.moved, tally.certain, tally.corrections, tally.outlasted);
  return tally.wrong == 0 && tally.moved > 50 && tally.certain > 10 && tally.corrections > 50 &&
         (tally.outlasted > 50) == distinct;
}

}  // namespace
}  // namespace draftproof::parity

int main() {
  return draftproof::parity::outcome([] {
    using namespace draftproof;
    using namespace draftproof::parity;
    const bool ladder = compare_ladder<Ladder, drafters::Iid>("ladder");
    const bool distinct = compare_ladder<LadderWor, drafters::WithoutReplacementUniform>("ladder_wor");
    return ladder && distinct ? 0 : 1;
  });
}
