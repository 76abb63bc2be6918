// step_cost/VERIFIER/TREE_DISTRIBUTION/V/K/L: one iteration on fresh float32 rows, as in an engine: plans are computed
// anew for each step. step_cost/refused/VERIFIER/V/L: a path whose tokens are all rejected, which is the highest cost
// of a verifier of one path.
//
//   passes     mean tokens that passes read, over V
//   tokens     mean length of a step, with its correction or bonus
//   bytes      mean bytes of rows that passes read
//
// All nodes share one pair of rows, which stays in the cache (hot); the rows of a batch would not stay there.
#pragma once

#include <algorithm>
#include <string>

#include <benchmark/benchmark.h>

#include <draftproof/bench/goal.hpp>
#include <draftproof/bench/pair.hpp>
#include <draftproof/properties/subjects/timed_forms.hpp>
#include <draftproof/properties/survey/path_survey.hpp>

namespace draftproof::benchmarks {

/// A model with one distribution after every prefix. Contexts are numbered by depth, so each node of a path has a
/// separate distributions object and does not reuse a pass that another node cached.
template <class L>
class SameAtAllDepths final : public ConditionalModel<L> {
 public:
  template <class Make>
  SameAtAllDepths(int depths, const Make& make) {
    for (int depth = 0; depth <= depths; ++depth) distributions_.push_back(make());
  }
  const L& distributions(int context) const override { return distributions_[static_cast<std::size_t>(context)]; }
  int next(int context, Token) const override { return context + 1; }
  std::uint64_t visited() const {
    std::uint64_t sum = 0;
    for (const L& distributions : distributions_) sum += distributions.visited();
    return sum;
  }

 private:
  std::vector<L> distributions_;
};

/// A model with the same table after every prefix, by reference; trees are drafted from it.
class TableAtAllDepths final : public ConditionalModel<RatioTable> {
 public:
  explicit TableAtAllDepths(const RatioTable& table) : table_{table} {}
  const RatioTable& distributions(int) const override { return table_; }
  int next(int context, Token) const override { return context + 1; }

 private:
  const RatioTable& table_;
};

struct StepCost {
  struct Floats {
    std::vector<float> target, proposal;
    explicit Floats(const Pair& pair)
        : target(pair.rows.target.begin(), pair.rows.target.end()),
          proposal(pair.rows.proposals[0].begin(), pair.rows.proposals[0].end()) {}
    SameAtAllDepths<FreshRows<float>> conditionals(int depths) const {
      return {depths, [this] { return FreshRows<float>(target, std::span<const float>(proposal)); }};
    }
  };

  /// Times a step per iteration; the trees take turns.
  static void run(benchmark::State& state, TimedPathForm form, const TreeShape& shape,
                  const std::vector<DraftTree>& trees, const Floats& rows) {
    std::uint64_t trial = 0, visited = 0, tokens = 0;
    for (auto _ : state) {
      const DraftTree& tree = trees[trial % trees.size()];
      const auto conditionals = rows.conditionals(tree.length());
      const auto decider = form(conditionals, shape);
      Philox random(2, trial++, Philox::Role::verify);
      StepOutput step = decider->decide(tree, {}, random);
      benchmark::DoNotOptimize(step);
      visited += conditionals.visited();
      tokens += static_cast<std::uint64_t>(tree.depth(step.node)) + 1;
    }
    state.SetItemsProcessed(state.iterations());
    const auto steps = static_cast<double>(state.iterations());
    state.counters["passes"] = static_cast<double>(visited) / (steps * static_cast<double>(rows.target.size()));
    state.counters["tokens"] = static_cast<double>(tokens) / steps;
    state.counters["bytes"] = static_cast<double>(visited) * 2 * sizeof(float) / steps;
  }

  static void add_drafted(const AnyPathVerifier& verifier, TimedPathForm form, const AnyTreeDrafter& drafter,
                          int vocabulary, int drafts, int length) {
    const std::string name = "step_cost/" + std::string(verifier.info().name) + "/" +
                             std::string(drafter.info().name) + "/" + std::to_string(vocabulary) + "/" +
                             std::to_string(drafts) + "/" + std::to_string(length);
    benchmark::RegisterBenchmark(name.c_str(), [form, &drafter, vocabulary, drafts, length](benchmark::State& state) {
      const Pair& pair = pair_of(vocabulary);
      const TableAtAllDepths tables(pair.table);
      const TreeShape shape = shape_of(drafter, drafts, length);
      std::vector<DraftTree> trees(64, DraftTree(0));
      for (std::size_t t = 0; t < trees.size(); ++t) {
        Philox random(2, t, Philox::Role::draft);
        drafter.draw(tables, shape, random, trees[t]);
      }
      run(state, form, shape, trees, Floats(pair));
    });
  }

  static std::string refused_name(std::string_view verifier, int vocabulary, int length) {
    return "step_cost/refused/" + std::string(verifier) + "/" + std::to_string(vocabulary) + "/" +
           std::to_string(length);
  }

  /// Adds a path that repeats the token with the least p / q. A draft of this path is accepted with a probability below
  /// (p / q)^2.
  static void add_refused(std::string_view verifier, TimedPathForm form, int vocabulary, int length) {
    benchmark::RegisterBenchmark(
        refused_name(verifier, vocabulary, length).c_str(), [form, vocabulary, length](benchmark::State& state) {
          const Floats rows(pair_of(vocabulary));
          Token least = 0;
          const auto ratio = [&rows](Token x) {
            return rows.target[static_cast<std::size_t>(x)] / rows.proposal[static_cast<std::size_t>(x)];
          };
          for (Token x = 1; x < vocabulary; ++x)
            if (ratio(x) < ratio(least)) least = x;
          DraftTree path(0);
          for (int depth = 0, u = DraftTree::root; depth < length; ++depth) u = path.draw(u, least, depth + 1);
          run(state, form, {.drafts = 1, .length = length}, {path}, rows);
        });
  }

  static void add() {
    for (const auto& verifier : path_registry().verifiers()) {
      const Info& info = verifier->info();
      const TimedPathForm form = timed_form<TimedPathForm>(info.name);
      if (form == nullptr || !info.unsupported.simulate.empty() || !info.derived_from.empty()) continue;
      for (const AnyTreeDrafter* drafter : path_registry().drafters_of(info))
        for (const int vocabulary : {32000, 128256})
          for (const int drafts : {1, 4})
            if (verifier->takes(drafts)) add_drafted(*verifier, form, *drafter, vocabulary, drafts, 4);
      if (info.drafts.lists("iid_paths") && verifier->takes(1))
        for (const int vocabulary : {32000, 128256}) add_refused(info.name, form, vocabulary, 8);
    }
    found_goals().push_back({.what = "block verification of 8 positions, all refused, in passes",
                             .slower = refused_name("block", 128256, 8),
                             .faster = residual_pass(128256),
                             .sense = Goal::Sense::at_most,
                             .bound = 8.5});
  }

  /// Returns the name of the benchmark of one residual pass over rows of that size, also in cache (passes.hpp).
  static std::string residual_pass(int vocabulary) {
    return "pass/residual/" + std::string(name_of(simd::in_use())) + "/" + std::to_string(vocabulary);
  }
};

}  // namespace draftproof::benchmarks
