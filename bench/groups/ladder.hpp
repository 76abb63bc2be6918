// What the ladder costs on rows that are seen once, against the pass that a single refused draft needs there, and
// ladders on paths against block verification of one path:
//
//   ladder/one_pass/V          that pass: the mass of (p - q)+ and a draw from it
//   ladder/histogram/V         p- and q-mass of the tokens in each bucket of p / q
//   ladder/plan/V/K            rungs are there; levels and slopes
//   ladder/fresh/V/K           plan and verdict, rows in the cache; ladder/cold/V/K from memory
//   ladder/paths/V             a passage of ladder_block, K = 4 paths of L = 4, on fresh rows; nothing kept
//   ladder/one_path/V          the same of block verification, K = 1
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include <draftproof/bench/goal.hpp>
#include <draftproof/bench/pair.hpp>
#include <draftproof/sim/fresh_rows.hpp>
#include <draftproof/sim/ladder_plan.hpp>
#include <draftproof/sim/philox.hpp>
#include <draftproof/sim/tree_drafters/iid_paths.hpp>
#include <draftproof/verifiers/ladder.hpp>
#include <draftproof/verifiers/paths/block.hpp>
#include <draftproof/verifiers/paths/ladder_block.hpp>

namespace draftproof::benchmarks {

struct Ladder {
  struct FloatRows {
    std::vector<float> target, proposal;
    explicit FloatRows(const Pair& pair)
        : target(pair.rows.target.begin(), pair.rows.target.end()),
          proposal(pair.rows.proposals[0].begin(), pair.rows.proposals[0].end()) {}
    FreshRows<float> laws() const { return {target, std::span<const float>(proposal)}; }
  };
  static const FloatRows& rows_of(int vocabulary) {
    static std::map<int, std::unique_ptr<FloatRows>> all;
    auto& rows = all[vocabulary];
    if (!rows) rows = std::make_unique<FloatRows>(pair_of(vocabulary));
    return *rows;
  }

  /// Tuples of drafts, made beforehand: drafting is not what is timed.
  struct Drafts {
    static constexpr int tuples = 1024;
    std::vector<Token> tokens;
    Drafts(const Pair& pair, int drafts) : tokens(static_cast<std::size_t>(tuples * drafts)) {
      for (std::size_t i = 0; i < tokens.size(); ++i) {
        Philox words(1, i, Philox::Role::draft);
        tokens[i] = words.pick(pair.table.row(0));
      }
    }
  };

  static void one_pass(benchmark::State& state, int vocabulary) {
    const FloatRows& rows = rows_of(vocabulary);
    std::uint64_t word = 1;
    for (auto _ : state) {
      const auto laws = rows.laws();
      benchmark::DoNotOptimize(laws.residual_mass(1));
      benchmark::DoNotOptimize(laws.residual(1).draw(word *= 0x9E3779B97F4A7C15));
    }
    state.SetItemsProcessed(state.iterations());
  }
  static void histogram(benchmark::State& state, int vocabulary) {
    const FloatRows& rows = rows_of(vocabulary);
    for (auto _ : state) {
      const wide::RatioMasses masses(std::span<const float>{rows.target}, std::span<const float>{rows.proposal});
      benchmark::DoNotOptimize(masses.of(0));
    }
    state.SetItemsProcessed(state.iterations());
  }
  static void plan(benchmark::State& state, int vocabulary, int drafts) {
    const auto laws = rows_of(vocabulary).laws();
    const auto rungs = laws.rungs();
    LadderPlan<double> plan;
    for (auto _ : state) {
      plan = plan_ladder(laws, rungs, FixedCoverage<double>(drafts), true);
      benchmark::DoNotOptimize(plan.level.data());
    }
    state.SetItemsProcessed(state.iterations());
    state.counters["leaving"] = static_cast<double>(plan.leaving.size());
  }
  /// `copies` of the rows are gone through in turn: more than the caches hold, or one.
  static void decide(benchmark::State& state, int vocabulary, int drafts, std::size_t copies) {
    const Drafts tuples(pair_of(vocabulary), drafts);
    const std::vector<FloatRows> rows(copies, rows_of(vocabulary));
    const verifiers::Ladder ladder;
    std::uint64_t t = 0;
    for (auto _ : state) {
      const auto laws = rows[t % copies].laws();
      const auto plan = ladder.prepare(laws, drafts);
      Philox random(2, t, Philox::Role::verify);
      const std::size_t tuple = t++ % Drafts::tuples * static_cast<std::size_t>(drafts);
      benchmark::DoNotOptimize(
          ladder.verify(At<FreshRows<float>>(laws, tuples.tokens.data() + tuple, drafts), plan, random));
    }
    state.SetItemsProcessed(state.iterations());
  }

  /// The same pair after every prefix; a number a prefix, as live models give.
  template <class L>
  struct OnePair final : Contexts<L> {
    explicit OnePair(const L& laws) : pair{laws} {}
    const L& laws(int) const override { return pair; }
    int next(int, Token) const override { return numbers++; }
    const L& pair;
    mutable int numbers = 1;
  };

  /// A passage of paths drafted beforehand; nothing is kept from the one before.
  template <class V>
  static void passage(benchmark::State& state, int vocabulary, int drafts) {
    constexpr int trees = 256, length = 4;
    const OnePair<RatioTable> tables(pair_of(vocabulary).table);
    const auto laws = rows_of(vocabulary).laws();
    const OnePair<FreshRows<float>> contexts(laws);
    const TreeShape shape{.drafts = drafts, .length = length, .branching = {}, .stem = 0};
    std::vector<DraftTree> drafted(trees, DraftTree(0));
    for (std::size_t t = 0; t < drafted.size(); ++t) {
      Philox random(1, t, Philox::Role::draft);
      tree_drafters::IidPaths{}.draw(tables, shape, random, drafted[t]);
    }
    std::uint64_t t = 0;
    for (auto _ : state) {
      Philox random(2, t, Philox::Role::verify);
      const TreeAt<FreshRows<float>> at(contexts, drafted[t++ % trees]);
      if constexpr (requires { V{}.prepare(contexts, shape); }) {
        auto plans = V{}.prepare(contexts, shape);
        benchmark::DoNotOptimize(V{}.verify(at, plans, random));
      } else {
        benchmark::DoNotOptimize(V{}.verify(at, random));
      }
    }
    state.SetItemsProcessed(state.iterations());
  }

  template <class Name, class Run>
  static auto* timed(const Name& name, Run run) {
    return benchmark::RegisterBenchmark(std::string(name).c_str(), run)->Unit(benchmark::kMicrosecond);
  }

  static void add() {
    for (const int vocabulary : vocabularies) {
      const std::string v = "/" + std::to_string(vocabulary);
      timed("ladder/one_pass" + v, [vocabulary](auto& state) { one_pass(state, vocabulary); });
      timed("ladder/histogram" + v, [vocabulary](auto& state) { histogram(state, vocabulary); });
      const std::size_t cold = (std::size_t{1} << 29) / (8 * static_cast<std::size_t>(vocabulary));
      for (const int drafts : {2, 4, 8}) {
        const std::string k = v + "/" + std::to_string(drafts);
        timed("ladder/plan" + k, [=](auto& state) { plan(state, vocabulary, drafts); });
        timed("ladder/fresh" + k, [=](auto& state) { decide(state, vocabulary, drafts, 1); });
        timed("ladder/cold" + k, [=](auto& state) { decide(state, vocabulary, drafts, cold); });
      }
      timed("ladder/paths" + v, [=](auto& state) { passage<verifiers::paths::LadderBlock>(state, vocabulary, 4); });
      timed("ladder/one_path" + v, [=](auto& state) { passage<verifiers::paths::Block>(state, vocabulary, 1); });
    }
    found_goals().push_back({.what = "the ladder, plan and verdict, against the pass of one refused draft",
                             .slower = "ladder/fresh/128256/4",
                             .faster = "ladder/one_pass/128256",
                             .sense = Goal::Sense::at_most,
                             .bound = 4});
    found_goals().push_back({.what = "ladders on four fresh paths against block verification of one",
                             .slower = "ladder/paths/128256",
                             .faster = "ladder/one_path/128256",
                             .sense = Goal::Sense::at_most,
                             .bound = 3});
  }
};

}  // namespace draftproof::benchmarks
