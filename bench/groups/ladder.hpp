// The cost of the ladder on fresh rows, compared with the pass that one rejected draft needs (for ladders on paths see
// ladder_paths.hpp):
//
//   ladder/one_pass/V           that pass: the mass of (p - q)+ and a draw from it
//   ladder/histogram/V          p- and q-mass of the tokens in each bucket of p / q
//   ladder/additions/V          lower bound of the histogram: one addition of both masses to memory per token, where
//                               buckets and masses are given
//   ladder/plan/V/K             levels and slopes from given bins
//   ladder/fresh/V/K            plan and verdict, rows in the cache
//   ladder/cold/V/K             the same, rows from memory
//   ladder/wor/V/K              plan and verdict of the ladder without replacement, rows in the cache
#pragma once

#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include <draftproof/bench/goal.hpp>
#include <draftproof/bench/pair.hpp>
#include <draftproof/sim/distributions/streamed_rows.hpp>
#include <draftproof/sim/drafters/sampled.hpp>
#include <draftproof/sim/random/philox.hpp>
#include <draftproof/verifiers/ladder.hpp>
#include <draftproof/verifiers/ladder/plan.hpp>
#include <draftproof/verifiers/ladder_wor.hpp>

namespace draftproof::benchmarks {

struct Ladder {
  /// Tuples of drafts, drawn beforehand so that drafting is not timed.
  struct Drafts {
    static constexpr int tuples = 1024;
    std::vector<Token> tokens;
    template <class Drafter>
    Drafts(const Pair& pair, int drafts, const Drafter& drafter) : tokens(static_cast<std::size_t>(tuples * drafts)) {
      for (std::size_t i = 0; i < tokens.size(); i += static_cast<std::size_t>(drafts)) {
        Philox words(1, i, Philox::Role::draft);
        drafter.draw(pair.table, drafts, words, tokens.data() + i);
      }
    }
  };

  static void one_pass(benchmark::State& state, int vocabulary) {
    const FloatRows& rows = rows_of(vocabulary);
    std::uint64_t word = 1;
    for (auto _ : state) {
      const auto distributions = rows.distributions();
      benchmark::DoNotOptimize(distributions.residual_mass(1));
      benchmark::DoNotOptimize(distributions.residual(1).draw(word *= 0x9E3779B97F4A7C15));
    }
    state.SetItemsProcessed(state.iterations());
  }
  static void histogram(benchmark::State& state, int vocabulary) {
    const FloatRows& rows = rows_of(vocabulary);
    for (auto _ : state) {
      const simd::RatioMasses masses(std::span<const float>{rows.target}, std::span<const float>{rows.proposal});
      benchmark::DoNotOptimize(masses.of(0));
    }
    state.SetItemsProcessed(state.iterations());
  }
  static void additions(benchmark::State& state, int vocabulary) {
    const FloatRows& rows = rows_of(vocabulary);
    constexpr std::size_t given = 1024;
    using Masses [[gnu::vector_size(16)]] = Fixed;
    std::vector<std::uint16_t> place;
    std::vector<simd::RatioMass> mass(given);
    for (std::size_t x = 0; x < rows.target.size(); ++x) {
      const float p = rows.target[x], q = rows.proposal[x];
      place.push_back(static_cast<std::uint16_t>(2 * RatioBuckets::of(p / q) + x % 2));
      mass[x % given] = {to_fixed(p), to_fixed(q)};
    }
    std::vector<simd::RatioMass> sums(2 * RatioBuckets::count);
    auto* const to = reinterpret_cast<Masses*>(sums.data());
    const auto* const from = reinterpret_cast<const Masses*>(mass.data());
    for (auto _ : state) {
      for (std::size_t x = 0; x < place.size(); ++x) to[place[x]] += from[x % given];
      benchmark::DoNotOptimize(sums.data());
      benchmark::ClobberMemory();
    }
    state.SetItemsProcessed(state.iterations());
  }
  static void plan(benchmark::State& state, int vocabulary, int drafts) {
    const auto distributions = rows_of(vocabulary).distributions();
    const auto bins = distributions.bins();
    LadderPlan<double> plan;
    for (auto _ : state) {
      plan = plan_ladder(distributions, bins, FixedCoverage<double>(drafts), true);
      benchmark::DoNotOptimize(plan.level.data());
    }
    state.SetItemsProcessed(state.iterations());
    state.counters["leaving"] = static_cast<double>(plan.leaving.size());
  }
  /// Decides on `copies` copies of the rows in turn: on one, or on more than the caches hold.
  template <class Verifier, class Drafter>
  static void decide(benchmark::State& state, int vocabulary, int drafts, std::size_t copies) {
    const Drafts tuples(pair_of(vocabulary), drafts, Drafter{});
    const std::vector<FloatRows> rows(copies, rows_of(vocabulary));
    const Verifier ladder;
    std::uint64_t t = 0;
    for (auto _ : state) {
      const auto distributions = rows[t % copies].distributions();
      const auto plan = ladder.prepare(distributions, drafts);
      Philox random(2, t, Philox::Role::verify);
      const std::size_t tuple = t++ % Drafts::tuples * static_cast<std::size_t>(drafts);
      benchmark::DoNotOptimize(ladder.verify(
          DraftedPosition<FreshRows<float>>(distributions, tuples.tokens.data() + tuple, drafts), plan, random));
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
      timed("ladder/one_pass" + v, [vocabulary](benchmark::State& state) { one_pass(state, vocabulary); });
      timed("ladder/histogram" + v, [vocabulary](benchmark::State& state) { histogram(state, vocabulary); });
      timed("ladder/additions" + v, [vocabulary](benchmark::State& state) { additions(state, vocabulary); });
      const std::size_t cold = (std::size_t{1} << 29) / (8 * static_cast<std::size_t>(vocabulary));
      for (const int drafts : {2, 4, 8}) {
        const std::string k = v + "/" + std::to_string(drafts);
        timed("ladder/plan" + k, [=](benchmark::State& state) { plan(state, vocabulary, drafts); });
        using verifiers::LadderWor, drafters::WithoutReplacement, drafters::Iid;
        timed("ladder/fresh" + k,
              [=](benchmark::State& state) { decide<verifiers::Ladder, Iid>(state, vocabulary, drafts, 1); });
        timed("ladder/cold" + k,
              [=](benchmark::State& state) { decide<verifiers::Ladder, Iid>(state, vocabulary, drafts, cold); });
        timed("ladder/wor" + k,
              [=](benchmark::State& state) { decide<LadderWor, WithoutReplacement>(state, vocabulary, drafts, 1); });
      }
    }
    goals();
  }

  /// The bounds account for the histogram: it adds to memory once a token, which takes longer than four passes that
  /// only read (ladder/additions). So the time of a ladder on fresh rows is compared with its histogram, and the
  /// histogram with its additions.
  static void goals() {
    const auto at_most = [](const char* what, const char* slower, const char* faster, double bound) {
      found_goals().push_back({what, slower, faster, Goal::Sense::at_most, bound});
    };
    at_most("the histogram of p / q against its additions to memory", "ladder/histogram/128256",
            "ladder/additions/128256", 1.2);
    at_most("the ladder, plan and verdict, against its histogram", "ladder/fresh/128256/4", "ladder/histogram/128256",
            1.75);
    // The bounds for K = 2, 4 and 8 correspond to 0.4, 0.8 and 1.5 ms if a pass takes 16.5 us.
    at_most("the ladder without replacement, K = 2, against the pass of one refused draft", "ladder/wor/128256/2",
            "ladder/one_pass/128256", 24);
    at_most("the ladder without replacement, K = 4, against the pass of one refused draft", "ladder/wor/128256/4",
            "ladder/one_pass/128256", 48);
    at_most("the ladder without replacement, K = 8, against the pass of one refused draft", "ladder/wor/128256/8",
            "ladder/one_pass/128256", 91);
  }
};

}  // namespace draftproof::benchmarks
