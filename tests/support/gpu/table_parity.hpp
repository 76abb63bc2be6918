// Parity on ratio tables: trial by trial, a verifier must have the same verdict on a table and on views of the table
// in host and in device memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <type_traits>
#include <vector>

#include <draftproof/gpu/simulation/joint_counting.hpp>
#include <draftproof/sim/distributions/ratio_table.hpp>
#include <draftproof/sim/random/philox.hpp>
#include <draftproof/sim/tally.hpp>
#include <draftproof/sim/verifier.hpp>
#include <draftproof/verifiers/ladder/plan.hpp>

namespace draftproof::parity {

/// Trials with their drafts; the tuple of trial i begins at tuples[i * max_drafts].
struct TableTrials {
  std::uint64_t seed = 0, first = 0;
  int drafts = 1;
  std::vector<Token> tuples{};
  std::vector<int> lengths{};
};

template <class L, class Result>
using OnDistributions = std::function<Result(const L&, const TableTrials&)>;

struct TableScheme {
  Info info;
  OnDistributions<RatioTable, std::vector<Verdict>> host;
  OnDistributions<TableView, std::vector<Verdict>> view;  ///< decides on a view in host memory; empty: not compared
  /// Runs the same trials, including the drafting, on a device; empty: not compared.
  std::function<Tally(std::string_view distribution, const RatioTable&, const gpu::TrialRange&)> device;
};

struct TableDistribution {
  DrafterInfo info;
  std::function<int(const RatioTable&, int drafts, Philox, Token* out)> host;
  std::function<int(const TableView&, int drafts, Philox, Token* out)> view;
};

void add(TableScheme scheme);
void add(TableDistribution distribution);

struct TableSizes {
  std::vector<int> vocabularies, drafts;
  int trials;  ///< number of trials of each scheme, draft sampling, number of drafts and table
};

/// Runs every registered scheme on every draft sampling that it supports, on tables of every shape. Prints each
/// mismatch and a summary; returns the number of mismatches, plus 1 if nothing was compared.
int run(const TableSizes& sizes);

template <class V, class L, class Plan>
std::vector<Verdict> verdicts_by(const L& distributions, const TableTrials& trials, const Plan& plan) {
  const V verifier{};
  std::vector<Verdict> verdicts;
  for (std::size_t i = 0; i < trials.lengths.size(); ++i) {
    Philox random(trials.seed, trials.first + i, Philox::Role::verify);
    verdicts.push_back(
        verify(verifier, DraftedPosition<L>(distributions, trials.tuples.data() + i * max_drafts, trials.lengths[i]),
               plan, random));
  }
  return verdicts;
}

template <class V, class L>
std::vector<Verdict> verdicts_on(const L& distributions, const TableTrials& trials) {
  const V verifier{};
  if constexpr (std::is_same_v<L, TableView> && ViewsPlans<V>) {
    const auto plan = prepare(verifier, PlanningView(distributions), trials.drafts);
    return verdicts_by<V>(distributions, trials, plan.view([](const auto* data, std::size_t) { return data; }));
  } else {
    return verdicts_by<V>(distributions, trials, prepare(verifier, distributions, trials.drafts));
  }
}

/// Whether V runs on views: it has no plan, or its plan owns no memory.
template <class V>
inline constexpr bool runs_on_views = V::info.unsupported.device.empty() && V::info.unsupported.simulate.empty() &&
                                      V::info.unsupported.device_trials.empty();

}  // namespace draftproof::parity
