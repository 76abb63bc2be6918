// The cost of the ladder on fresh rows, compared with the pass that one refused draft needs there, and ladders on
// paths compared with block verification of one path:
//
//   ladder/one_pass/V           that pass: the mass of (p - q)+ and a draw from it
//   ladder/histogram/V          p- and q-mass of the tokens in each bucket of p / q
//   ladder/additions/V          a floor of that: one addition of both masses to memory a token, where buckets and
//                               masses are given and in the first cache
//   ladder/plan/V/K             levels and slopes from given bins
//   ladder/fresh/V/K            plan and verdict, rows in the cache
//   ladder/cold/V/K             the same, rows from memory
//   ladder/wor/V/K              plan and verdict of the ladder without replacement, rows in the cache
//   ladder/paths/V/L            a step of ladder_block, K = 4 paths of L tokens, on fresh rows: every prefix of
//                               every step has its own laws, and nothing is kept
//   ladder/one_path/V/L         the same for block verification, K = 1
//   ladder/table/.. /V/L        the same two, with one table per prefix
//   ladder/kept/.. /V/L         the same two on one table, with plans kept from step to step
//   ladder/kept/reads/V/L       a floor of the first: block verification of one path, beside it a walk down a tree of four
//                               that reads p and q of the next tokens of the paths at each node and draws one word there
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include <draftproof/bench/goal.hpp>
#include <draftproof/bench/pair.hpp>
#include <draftproof/sim/distributions/streamed_rows.hpp>
#include <draftproof/sim/drafters/iid.hpp>
#include <draftproof/sim/drafters/trees/iid_paths.hpp>
#include <draftproof/sim/drafters/without_replacement.hpp>
#include <draftproof/sim/random/philox.hpp>
#include <draftproof/verifiers/ladder.hpp>
#include <draftproof/verifiers/ladder/plan.hpp>
#include <draftproof/verifiers/ladder_wor.hpp>
#include <draftproof/verifiers/paths/block.hpp>
#include <draftproof/verifiers/paths/ladder_block.hpp>

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
      const auto laws = rows.laws();
      benchmark::DoNotOptimize(laws.residual_mass(1));
      benchmark::DoNotOptimize(laws.residual(1).draw(word *= 0x9E3779B97F4A7C15));
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
    const auto laws = rows_of(vocabulary).laws();
    const auto bins = laws.bins();
    LadderPlan<double> plan;
    for (auto _ : state) {
      plan = plan_ladder(laws, bins, FixedCoverage<double>(drafts), true);
      benchmark::DoNotOptimize(plan.level.data());
    }
    state.SetItemsProcessed(state.iterations());
    state.counters["leaving"] = static_cast<double>(plan.leaving.size());
  }
  /// Decides on `copies` copies of the rows in turn: one, or more than the caches hold.
  template <class Verifier, class Drafter>
  static void decide(benchmark::State& state, int vocabulary, int drafts, std::size_t copies) {
    const Drafts tuples(pair_of(vocabulary), drafts, Drafter{});
    const std::vector<FloatRows> rows(copies, rows_of(vocabulary));
    const Verifier ladder;
    std::uint64_t t = 0;
    for (auto _ : state) {
      const auto laws = rows[t % copies].laws();
      const auto plan = ladder.prepare(laws, drafts);
      Philox random(2, t, Philox::Role::verify);
      const std::size_t tuple = t++ % Drafts::tuples * static_cast<std::size_t>(drafts);
      benchmark::DoNotOptimize(
          ladder.verify(DraftedPosition<FreshRows<float>>(laws, tuples.tokens.data() + tuple, drafts), plan, random));
    }
    state.SetItemsProcessed(state.iterations());
  }

  /// The same pair after every prefix, in one object per prefix, so that no prefix reuses what another one cached.
  template <class L>
  class OwnLaws final : public ConditionalModel<L> {
   public:
    template <class Make>
    OwnLaws(std::size_t prefixes, const Make& make) {
      own_.reserve(prefixes);
      while (own_.size() < prefixes) own_.push_back(make());
    }
    const L& laws(int context) const override { return own_[static_cast<std::size_t>(context)]; }
    int next(int, Token) const override { return numbers_++; }

   private:
    std::vector<L> own_;
    mutable int numbers_ = 1;
  };
  /// One table after every prefix, for drafting. All prefixes have the same laws, so trees of any model are the same.
  struct OneTable final : ConditionalModel<RatioTable> {
    explicit OneTable(const RatioTable& one) : table{one} {}
    const RatioTable& laws(int) const override { return table; }
    int next(int, Token) const override { return numbers++; }
    const RatioTable& table;
    mutable int numbers = 1;
  };

  static constexpr std::size_t trees = 256;
  static std::vector<DraftTree> drafted_trees(int vocabulary, const TreeShape& shape, std::uint64_t first) {
    std::vector<DraftTree> drafted(trees, DraftTree(0));
    for (std::size_t t = 0; t < trees; ++t) {
      const OneTable conditionals(pair_of(vocabulary).table);
      Philox random(1, first + t, Philox::Role::draft);
      tree_drafters::IidPaths{}.draw(conditionals, shape, random, drafted[t]);
    }
    return drafted;
  }
  /// The number of prefixes: the root and every draft.
  static std::size_t prefixes(const TreeShape& shape) {
    return 1 + static_cast<std::size_t>(shape.drafts * shape.length);
  }
  template <class V, class L>
  static void verify_once(const ConditionalModel<L>& conditionals, const TreeShape& shape, const DraftTree& tree,
                          std::uint64_t trial) {
    Philox random(2, trial, Philox::Role::verify);
    const DraftedTree<L> at(conditionals, tree);
    if constexpr (requires { V{}.prepare(conditionals, shape); }) {
      auto plans = V{}.prepare(conditionals, shape);
      benchmark::DoNotOptimize(V{}.verify(at, plans, random));
    } else {
      benchmark::DoNotOptimize(V{}.verify(at, random));
    }
  }

  /// Steps on fresh rows. Laws are constructed anew for each step, since cached passes would save passes in the next.
  template <class V>
  static void fresh_step(benchmark::State& state, int vocabulary, const TreeShape& shape) {
    const FloatRows& rows = rows_of(vocabulary);
    const auto drafted = drafted_trees(vocabulary, shape, 0);
    std::uint64_t t = 0, visited = 0;
    for (auto _ : state) {
      const OwnLaws<FreshRows<float>> conditionals(prefixes(shape), [&rows] { return rows.laws(); });
      verify_once<V>(conditionals, shape, drafted[t % trees], t);
      ++t;
      for (std::size_t c = 0; c < prefixes(shape); ++c) visited += conditionals.laws(static_cast<int>(c)).visited();
    }
    state.SetItemsProcessed(state.iterations());
    state.counters["passes"] = static_cast<double>(visited) / (static_cast<double>(t) * vocabulary);
  }
  /// Steps on tables, one per prefix of a step; nothing is kept from the last step.
  template <class V>
  static void table_step(benchmark::State& state, int vocabulary, const TreeShape& shape) {
    const OwnLaws<RatioTable> conditionals(prefixes(shape), [&] { return pair_of(vocabulary).table; });
    const auto drafted = drafted_trees(vocabulary, shape, 0);
    std::uint64_t t = 0;
    for (auto _ : state) {
      verify_once<V>(conditionals, shape, drafted[t % trees], t);
      ++t;
    }
    state.SetItemsProcessed(state.iterations());
  }
  /// Steps on one table with plans kept, as trials keep them; the paths are new each time.
  template <class V>
  static void kept_step(benchmark::State& state, int vocabulary, const TreeShape& shape) {
    const OneTable conditionals(pair_of(vocabulary).table);
    const V verifier;
    const auto make_plans = [&] {
      if constexpr (requires { verifier.prepare(conditionals, shape); })
        return verifier.prepare(conditionals, shape);
      else
        return 0;
    };
    auto plans = make_plans();
    std::vector<DraftTree> drafted;
    std::uint64_t t = 0;
    for (auto _ : state) {
      if (t % trees == 0) {
        state.PauseTiming();
        drafted = drafted_trees(vocabulary, shape, t);
        state.ResumeTiming();
      }
      Philox random(2, t, Philox::Role::verify);
      const DraftedTree<RatioTable> at(conditionals, drafted[t++ % trees]);
      if constexpr (requires { verifier.verify(at, plans, random); })
        benchmark::DoNotOptimize(verifier.verify(at, plans, random));
      else
        benchmark::DoNotOptimize(verifier.verify(at, random));
    }
    state.SetItemsProcessed(state.iterations());
  }

  static void kept_reads(benchmark::State& state, int vocabulary, const TreeShape& four, const TreeShape& one) {
    const OneTable conditionals(pair_of(vocabulary).table);
    std::vector<DraftTree> of_four, of_one;
    std::uint64_t t = 0;
    for (auto _ : state) {
      if (t % trees == 0) {
        state.PauseTiming();
        of_four = drafted_trees(vocabulary, four, t);
        of_one = drafted_trees(vocabulary, one, t);
        state.ResumeTiming();
      }
      Philox random(2, t, Philox::Role::verify);
      const DraftTree& tree = of_four[t % trees];
      int reached = 0;
      for (int u = DraftTree::root; !tree.leaf(u);) {
        const RatioTable& laws = conditionals.laws(tree.context(u));
        for (const int child : tree.draws(u))
          reached += laws.target(tree.token(child)) > laws.proposal(tree.token(child));
        benchmark::DoNotOptimize(random.flip(1.0, 2.0));
        u = *tree.draws(u).begin();
      }
      benchmark::DoNotOptimize(reached);
      const DraftedTree<RatioTable> at(conditionals, of_one[t++ % trees]);
      benchmark::DoNotOptimize(verifiers::paths::Block{}.verify(at, random));
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
      for (const int length : {4, 8}) {
        using verifiers::paths::Block, verifiers::paths::LadderBlock;
        const std::string l = v + "/" + std::to_string(length);
        const TreeShape four{.drafts = 4, .length = length, .branching = {}, .stem = 0};
        const TreeShape one{.drafts = 1, .length = length, .branching = {}, .stem = 0};
        timed("ladder/paths" + l, [=](benchmark::State& state) { fresh_step<LadderBlock>(state, vocabulary, four); });
        timed("ladder/one_path" + l, [=](benchmark::State& state) { fresh_step<Block>(state, vocabulary, one); });
        timed("ladder/kept/paths" + l,
              [=](benchmark::State& state) { kept_step<LadderBlock>(state, vocabulary, four); });
        timed("ladder/kept/one_path" + l, [=](benchmark::State& state) { kept_step<Block>(state, vocabulary, one); });
        timed("ladder/kept/reads" + l, [=](benchmark::State& state) { kept_reads(state, vocabulary, four, one); });
        if (vocabulary > 32000) continue;  // a table for each of 33 prefixes takes gigabytes
        timed("ladder/table/paths" + l,
              [=](benchmark::State& state) { table_step<LadderBlock>(state, vocabulary, four); });
        timed("ladder/table/one_path" + l,
              [=](benchmark::State& state) { table_step<Block>(state, vocabulary, one); });
      }
    }
    goals();
  }

  /// A histogram adds to memory once a token, which takes more than four passes that only read (ladder/additions). So
  /// what a ladder takes on fresh rows is held against its histogram, and the histogram against its additions.
  static void goals() {
    const auto at_most = [](const char* what, const char* slower, const char* faster, double bound) {
      found_goals().push_back({what, slower, faster, Goal::Sense::at_most, bound});
    };
    at_most("the histogram of p / q against its additions to memory", "ladder/histogram/128256",
            "ladder/additions/128256", 1.2);
    at_most("the ladder, plan and verdict, against its histogram", "ladder/fresh/128256/4", "ladder/histogram/128256",
            1.75);
    at_most("ladders on four paths of prefixes that never recur, fresh rows, against one histogram",
            "ladder/paths/128256/4", "ladder/histogram/128256", 2.75);
    // 0.4, 0.8 and 1.5 ms where a pass takes 16.5 us.
    at_most("the ladder without replacement, K = 2, against the pass of one refused draft", "ladder/wor/128256/2",
            "ladder/one_pass/128256", 24);
    at_most("the ladder without replacement, K = 4, against the pass of one refused draft", "ladder/wor/128256/4",
            "ladder/one_pass/128256", 48);
    at_most("the ladder without replacement, K = 8, against the pass of one refused draft", "ladder/wor/128256/8",
            "ladder/one_pass/128256", 91);
    at_most("ladders on four paths over one table with plans kept, against one block", "ladder/kept/paths/32000/8",
            "ladder/kept/one_path/32000/8", 3);
  }
};

}  // namespace draftproof::benchmarks
