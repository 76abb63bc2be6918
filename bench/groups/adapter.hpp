// Times of external verifiers. An item is a decision; `bytes_per_second` counts the float32 rows p and q.
//
//   adapter/seeded/4, adapter/scripted/4   chains of two drafts, V = 4, through the C interface; 4,096 rows per batch
//   adapter/rows/V                         lower bound of an adapter: the child does not read its rows of L = 4 drafts
//   adapter/copy/V                         one copy of the same rows in memory
//   adapter/NAME/V                         the verifier of --adapter that declares NAME; L = 4 if it accepts 4 drafts
//
// Times are of the wall clock, because the child's processor time is not counted in this process.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include <draftproof/adapters/open_adapter.hpp>
#include <draftproof/bench/goal.hpp>
#include <draftproof/captures/input_error.hpp>

namespace draftproof::benchmarks {

struct Adapter {
  static constexpr int large = 32'000, few = 32, many = 4096;

  /// A batch of `rows` chains of `length` drafts, with uniform p and q on V tokens.
  struct Rows {
    std::vector<float> p, q;
    std::vector<std::int32_t> drafts, lengths, parents;
    std::vector<std::int64_t> seeds;
    std::vector<double> tape;
    adapters::ServedBatch batch;

    Rows(int rows, int length, int vocabulary, adapters::Randomness randomness,
         adapters::Level level = adapters::Level::chain) {
      const auto size = static_cast<std::size_t>(rows), n = static_cast<std::size_t>(length),
                 v = static_cast<std::size_t>(vocabulary);
      const bool position = level == adapters::Level::position;
      const std::size_t target_rows = position ? 1 : n + 1, proposal_rows = position ? 1 : n;
      p.assign(size * target_rows * v, 1.0f / static_cast<float>(vocabulary));
      q.assign(size * proposal_rows * v, 1.0f / static_cast<float>(vocabulary));
      for (std::size_t i = 0; i < size * n; ++i) drafts.push_back(static_cast<std::int32_t>(i % v));
      lengths.assign(size, length);
      batch = {.rows = rows,
               .vocabulary = vocabulary,
               .drafts_a_row = length,
               .target_rows = static_cast<int>(target_rows),
               .proposal_rows = static_cast<int>(proposal_rows),
               .dtype = adapters::Dtype::float32,
               .randomness = randomness,
               .p = std::as_bytes(std::span(p)),
               .q = std::as_bytes(std::span(q)),
               .drafts = drafts,
               .lengths = lengths};
      if (level == adapters::Level::tree) {  // the tree is one path
        for (std::size_t i = 0; i < size * n; ++i) parents.push_back(static_cast<std::int32_t>(i % n) - 1);
        batch.parents = parents;
      }
      if (randomness == adapters::Randomness::seeded) {
        for (std::size_t i = 0; i < size; ++i) seeds.push_back(static_cast<std::int64_t>(i));
        batch.seeds = seeds;
      } else if (randomness == adapters::Randomness::scripted) {
        batch.places = 2 * length + 2;
        tape.assign(size * static_cast<std::size_t>(batch.places), 0.25);
        batch.tape = tape;
      }
    }
    std::int64_t bytes() const { return static_cast<std::int64_t>((p.size() + q.size()) * sizeof(float)); }
  };

  static void decide(benchmark::State& state, const Rows& rows, const char* text) {
    decide(state, rows, *adapters::open_adapter(text).served);
  }

  static void decide(benchmark::State& state, const Rows& rows, adapters::Served& served) {
    adapters::ServedResult result;
    for (auto _ : state) {
      served.verify(rows.batch, result);
      benchmark::DoNotOptimize(result.tokens.data());
    }
    state.SetItemsProcessed(state.iterations() * rows.batch.rows);
    state.SetBytesProcessed(state.iterations() * rows.bytes());
  }

  static void copy(benchmark::State& state, const Rows& rows) {
    std::vector<float> p(rows.p.size()), q(rows.q.size());
    for (auto _ : state) {
      std::memcpy(p.data(), rows.p.data(), p.size() * sizeof(float));
      std::memcpy(q.data(), rows.q.data(), q.size() * sizeof(float));
      benchmark::ClobberMemory();
    }
    state.SetItemsProcessed(state.iterations() * rows.batch.rows);
    state.SetBytesProcessed(state.iterations() * rows.bytes());
  }

  /// Registers adapter/NAME/V and adapter/copy/V for an adapter of --adapter. Throws: InputError if it does not accept
  /// float32 probabilities, or is neither seeded nor opaque.
  static void add_adapter(const adapters::OpenAdapter& adapter) {
    const adapters::Declaration& declared = adapter.served->declaration();
    const bool seeded = declared.can(adapters::Randomness::seeded);
    const bool takes = std::count(declared.dtypes.begin(), declared.dtypes.end(), adapters::Dtype::float32) > 0 &&
                       std::count(declared.rows.begin(), declared.rows.end(), adapters::RowKind::probabilities) > 0;
    if (!takes || !(seeded || declared.can(adapters::Randomness::opaque)))
      throw InputError({.file = "--adapter",
                        .got = in_quotes(declared.name),
                        .expected = "a program of float32 probabilities that is seeded or opaque"});
    const adapters::Randomness randomness = seeded ? adapters::Randomness::seeded : adapters::Randomness::opaque;
    constexpr int usual = 4;
    const int most = declared.most_drafts > 0 ? declared.most_drafts : usual;
    const int drafts = std::max(declared.fewest_drafts, std::min(usual, most));
    for (const auto& [vocabulary, wanted] : {std::pair{usual, many}, {1000, 256}, {large, few}}) {
      if (declared.most_vocabulary > 0 && vocabulary > declared.most_vocabulary) continue;
      const int rows = std::min(wanted, declared.most_rows), v = vocabulary;
      const std::string size = "/" + std::to_string(v);
      benchmark::RegisterBenchmark(("adapter/" + declared.name + size).c_str(), [=, served = adapter.served](
                                                                                    benchmark::State& state) {
        decide(state, Rows(rows, drafts, v, randomness, served->declaration().level), *served);
      })->UseRealTime();
      if (v != large)
        benchmark::RegisterBenchmark(("adapter/copy" + size).c_str(), [=, level = declared.level](
                                                                          benchmark::State& state) {
          copy(state, Rows(rows, drafts, v, randomness, level));
        })->UseRealTime();
    }
  }

  static void add() {
    using adapters::Randomness;
    for (const Randomness randomness : {Randomness::seeded, Randomness::scripted})
      benchmark::RegisterBenchmark(
          ("adapter/" + std::string(adapters::to_text(randomness)) + "/4").c_str(),
          [randomness](benchmark::State& state) { decide(state, Rows(many, 2, 4, randomness), "abi:token_path"); })
          ->UseRealTime();
    const std::string size = "/" + std::to_string(large);
    benchmark::RegisterBenchmark(("adapter/rows" + size).c_str(), [](benchmark::State& state) {
      decide(state, Rows(few, 4, large, Randomness::seeded), "lower-bound:");
    })->UseRealTime();
    benchmark::RegisterBenchmark(("adapter/copy" + size).c_str(), [](benchmark::State& state) {
      copy(state, Rows(few, 4, large, Randomness::seeded));
    })->UseRealTime();
    found_goals().push_back({"rows of V = 32,000 through an adapter, against one copy of them in memory",
                             "adapter/rows" + size + "/real_time", "adapter/copy" + size + "/real_time",
                             Goal::Sense::at_most, 2});
  }
};

}  // namespace draftproof::benchmarks
