// The cost of an optimum from rows. Nothing is prepared beforehand unless stated:
//
//   lower_bound/radix/V                  one radix sort of V (key, index) pairs, with which goals compare the others
//   table/V                              a ratio table of a pair
//   optimum/iid/V/K                      i.i.d. optimum from fresh rows, with the sort
//   optimum/without_replacement/V/K      optimum without replacement from fresh rows, with the table
//   optimum/scan/V/K                     i.i.d. optimum from a given table
//   optimum/small/V/K                    i.i.d. optimum from fresh rows, at sizes where linear programs finish
//   optimum/flow/V/K                     the same optimum by the maximal flow of transport plans, from given
//                                        probabilities of the sets of drafts
//   optimum/certificate/V/K              like optimum/flow, by the flow that also returns its plan and its cut
//   peer/clp/V/K                         like optimum/flow, by Clp's simplex
#pragma once

#include <bit>
#include <map>
#include <numeric>

#include <benchmark/benchmark.h>

#include <draftproof/bench/goal.hpp>
#include <draftproof/bench/pair.hpp>
#include <draftproof/bench/radix_lower_bound.hpp>
#include <draftproof/optimum/fresh_scan.hpp>
#include <draftproof/optimum/race_acceptance.hpp>
#include <draftproof/optimum/transport.hpp>
#include <draftproof/verifiers/transport/transport_plan.hpp>

namespace draftproof::benchmarks {

struct Optimum {
  static void floor(benchmark::State& state, const Pair& pair) {
    std::vector<std::uint64_t> unsorted, pairs, spare;
    const auto& p = pair.rows.target;
    const auto& q = pair.rows.proposals.front();
    for (std::size_t x = 0; x < p.size(); ++x)
      unsorted.push_back(
          static_cast<std::uint64_t>(std::bit_cast<std::uint32_t>(static_cast<float>(p[x] / q[x]))) << 32 | x);
    spare.resize(unsorted.size());
    for (auto _ : state) {
      pairs = unsorted;  // this copy takes 1/50 of the sort's time
      radix_lower_bound(pairs, spare);
      benchmark::DoNotOptimize(pairs.data());
    }
    state.SetItemsProcessed(state.iterations());
  }

  /// Returns the probability of every set of tokens that K i.i.d. drafts can form.
  static std::map<TokenSet, double> iid_sets(const std::vector<double>& proposal, int drafts) {
    std::map<TokenSet, double> sets{{0, 1.0}};
    for (int k = 0; k < drafts; ++k) {
      std::map<TokenSet, double> longer;
      for (const auto& [set, mass] : sets)
        for (std::size_t x = 0; x < proposal.size(); ++x) longer[set | TokenSet{1} << x] += mass * proposal[x];
      sets = std::move(longer);
    }
    return sets;
  }

  static DraftSets<double> as_lists(const std::map<TokenSet, double>& sets) {
    DraftSets<double> lists;
    for (const auto& [set, mass] : sets) {
      auto& tokens = lists.sets.emplace_back();
      for (TokenSet left = set; left != 0; left &= left - 1) tokens.push_back(std::countr_zero(left));
      lists.probability.push_back(mass);
    }
    return lists;
  }

  static std::string name_of(const char* what, int vocabulary, int drafts) {
    return std::string(what) + "/" + std::to_string(vocabulary) + "/" + std::to_string(drafts);
  }

  /// Times the function that `make` returns; the function returns the optimum. `make` prepares the data and is not
  /// timed.
  template <class Make>
  static void add_one(const std::string& name, Make make) {
    benchmark::RegisterBenchmark(name.c_str(), [make](benchmark::State& state) {
      const auto run = make();
      double optimum = 0;
      for (auto _ : state) benchmark::DoNotOptimize(optimum = run());
      state.counters["optimum"] = optimum;
      state.SetItemsProcessed(state.iterations());
    })->Unit(benchmark::kMillisecond);
  }

  template <class Run>
  static void of_drafts(const char* what, int vocabulary, Run run) {
    for (const int drafts : {2, 4, 8})
      add_one(name_of(what, vocabulary, drafts), [vocabulary, drafts, run] {
        return [&pair = pair_of(vocabulary), drafts, run] { return run(pair, drafts).acceptance; };
      });
  }

  static void add_small(int vocabulary, int drafts) {
    add_one(name_of("optimum/small", vocabulary, drafts), [vocabulary, drafts] {
      return [&rows = small_pair_of(vocabulary), drafts] {
        return fresh_iid_optimum(rows.target, rows.proposals.front(), drafts).acceptance;
      };
    });
    add_one(name_of("optimum/flow", vocabulary, drafts), [vocabulary, drafts] {
      const RowPair& rows = small_pair_of(vocabulary);
      return [&rows, sets = as_lists(iid_sets(rows.proposals.front(), drafts))] {
        const auto plan = plan_transport<double>(sets, rows.target);
        return std::accumulate(plan.served.begin(), plan.served.end(), 0.0);
      };
    });
    add_one(name_of("optimum/certificate", vocabulary, drafts), [vocabulary, drafts] {
      const RowPair& rows = small_pair_of(vocabulary);
      return [&rows, sets = iid_sets(rows.proposals.front(), drafts)] {
        return optimal_transport(rows.target, sets).acceptance;
      };
    });
    add_one(name_of("peer/clp", vocabulary, drafts), [vocabulary, drafts] {
      const RowPair& rows = small_pair_of(vocabulary);
      return [&rows, sets = iid_sets(rows.proposals.front(), drafts)] {
        return linear_program_optimum(rows.target, sets);
      };
    });
  }

  static void add() {
    for (const int vocabulary : vocabularies) {
      const std::string size = std::to_string(vocabulary);
      benchmark::RegisterBenchmark(("lower_bound/radix/" + size).c_str(), [vocabulary](benchmark::State& state) {
        floor(state, pair_of(vocabulary));
      })->Unit(benchmark::kMillisecond);
      benchmark::RegisterBenchmark(("table/" + size).c_str(), [vocabulary](benchmark::State& state) {
        const Pair& pair = pair_of(vocabulary);
        for (auto _ : state) benchmark::DoNotOptimize(RatioTable(pair.rows.target, pair.rows.proposals));
        state.SetItemsProcessed(state.iterations());
      })->Unit(benchmark::kMillisecond);
      of_drafts("optimum/iid", vocabulary, [](const Pair& pair, int drafts) {
        return fresh_iid_optimum(pair.rows.target, pair.rows.proposals.front(), drafts);
      });
      of_drafts("optimum/without_replacement", vocabulary, [](const Pair& pair, int drafts) {
        return without_replacement_optimum(RatioTable(pair.rows.target, pair.rows.proposals), drafts);
      });
      of_drafts("optimum/scan", vocabulary,
                [](const Pair& pair, int drafts) { return iid_optimum(pair.table, drafts); });
    }
    for (const auto& [vocabulary, drafts] : small_sizes) add_small(vocabulary, drafts);
    add_goals();
  }

  static void add_goals() {
    using enum Goal::Sense;
    auto& goals = found_goals();
    goals.push_back({"i.i.d. optimum from rows, V = 128,256, K = 4, over one radix sort", "optimum/iid/128256/4",
                     "lower_bound/radix/128256", at_most, 2});
    goals.push_back({"optimum without replacement, V = 128,256, K = 4, over one radix sort",
                     "optimum/without_replacement/128256/4", "lower_bound/radix/128256", at_most, 250});
    goals.push_back({"time of scipy's linear program over the optimum from rows, V = 12, K = 3",
                     "peer/scipy/highs/12/3", "optimum/small/12/3", at_least, 10'000});
    goals.push_back({"time of scipy's linear program over draftproof's maximum flow, V = 12, K = 3",
                     "peer/scipy/highs/12/3", "optimum/flow/12/3", at_least, 100});
  }
};

}  // namespace draftproof::benchmarks
