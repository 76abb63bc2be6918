// The cost of ladders on paths, compared with block verification of one path:
//
//   ladder/paths/V/L            a step of ladder_block, K = 4 paths of L tokens, on fresh rows: every prefix of
//                               every step has separate distributions, and nothing is kept from step to step
//   ladder/one_path/V/L         the same for block verification, K = 1
//   ladder/table/.. /V/L        paths and one_path, with one table per prefix
//   ladder/kept/.. /V/L         paths and one_path on one table, with plans kept from step to step
//   ladder/kept/reads/V/L       lower bound of ladder/kept/paths: block verification of one path, and a descent in a
//                               tree of four paths that reads p and q of the next tokens and draws one random number
//                               at each node
#pragma once

#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include <draftproof/bench/goal.hpp>
#include <draftproof/bench/pair.hpp>
#include <draftproof/sim/distributions/streamed_rows.hpp>
#include <draftproof/sim/drafters/trees/paths.hpp>
#include <draftproof/sim/random/philox.hpp>
#include <draftproof/verifiers/paths/block.hpp>
#include <draftproof/verifiers/paths/ladder_block.hpp>

namespace draftproof::benchmarks {

struct LadderPaths {
  /// A model with the same pair after every prefix, stored once per prefix, so that no prefix reuses a pass that was
  /// cached for another prefix.
  template <class L>
  class SeparateDistributions final : public ConditionalModel<L> {
   public:
    template <class Make>
    SeparateDistributions(std::size_t prefixes, const Make& make) {
      own_.reserve(prefixes);
      while (own_.size() < prefixes) own_.push_back(make());
    }
    const L& distributions(int context) const override { return own_[static_cast<std::size_t>(context)]; }
    int next(int, Token) const override { return numbers_++; }

   private:
    std::vector<L> own_;
    mutable int numbers_ = 1;
  };
  /// A model with one table after every prefix. Trees drafted from it can also be verified with the other models here,
  /// whose distributions are the same after every prefix.
  struct OneTable final : ConditionalModel<RatioTable> {
    explicit OneTable(const RatioTable& one) : table{one} {}
    const RatioTable& distributions(int) const override { return table; }
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
  /// Returns the number of prefixes: the root, and one for every draft.
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

  /// Times steps on fresh rows. The distributions are constructed anew for each step, because they cache passes.
  template <class V>
  static void fresh_step(benchmark::State& state, int vocabulary, const TreeShape& shape) {
    const FloatRows& rows = rows_of(vocabulary);
    const auto drafted = drafted_trees(vocabulary, shape, 0);
    std::uint64_t t = 0, visited = 0;
    for (auto _ : state) {
      const SeparateDistributions<FreshRows<float>> conditionals(prefixes(shape),
                                                                 [&rows] { return rows.distributions(); });
      verify_once<V>(conditionals, shape, drafted[t % trees], t);
      ++t;
      for (std::size_t c = 0; c < prefixes(shape); ++c)
        visited += conditionals.distributions(static_cast<int>(c)).visited();
    }
    state.SetItemsProcessed(state.iterations());
    state.counters["passes"] = static_cast<double>(visited) / (static_cast<double>(t) * vocabulary);
  }
  /// Times steps on tables, one per prefix of a step; nothing is kept from the last step.
  template <class V>
  static void table_step(benchmark::State& state, int vocabulary, const TreeShape& shape) {
    const SeparateDistributions<RatioTable> conditionals(prefixes(shape), [&] { return pair_of(vocabulary).table; });
    const auto drafted = drafted_trees(vocabulary, shape, 0);
    std::uint64_t t = 0;
    for (auto _ : state) {
      verify_once<V>(conditionals, shape, drafted[t % trees], t);
      ++t;
    }
    state.SetItemsProcessed(state.iterations());
  }
  /// Times steps on one table. Plans are kept from step to step, as in trials; the paths are new each time.
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
        const RatioTable& distributions = conditionals.distributions(tree.context(u));
        for (const int child : tree.draws(u))
          reached += distributions.target(tree.token(child)) > distributions.proposal(tree.token(child));
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
    const auto at_most = [](const char* what, const char* slower, const char* faster, double bound) {
      found_goals().push_back({what, slower, faster, Goal::Sense::at_most, bound});
    };
    at_most("ladders on four paths of prefixes that never recur, fresh rows, against one histogram",
            "ladder/paths/128256/4", "ladder/histogram/128256", 2.75);
    at_most("ladders on four paths over one table with plans kept, against one block", "ladder/kept/paths/32000/8",
            "ladder/kept/one_path/32000/8", 3);
  }
};

}  // namespace draftproof::benchmarks
