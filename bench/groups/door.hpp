// door/seeded/4, door/scripted/4: decisions of a child process behind the wire, a verifier of chains of two drafts through
// the C interface, in batches of 4,096 rows. An item is a decision.
// door/rows/V: rows of float32 sent to a child that reads none of them, L = 4: the door alone. door/copy/V: one copy of the
// same rows in memory. An item is a decision; `bytes_per_second` counts rows.
//
// Times are of the wall clock: the child's processor time is not ours.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include <draftproof/bench/goal.hpp>
#include <draftproof/doors/open_door.hpp>

namespace draftproof::benchmarks {

struct Door {
  static constexpr int large = 32'000, few = 32, many = 4096;

  /// `rows` chains of `drafts` tokens with uniform rows of V tokens, seeded or scripted.
  struct Rows {
    std::vector<float> p, q;
    std::vector<std::int32_t> drafts, lengths;
    std::vector<std::int64_t> seeds;
    std::vector<double> tape;
    doors::ServedBatch batch;

    Rows(int rows, int length, int vocabulary, doors::Randomness randomness) {
      const auto size = static_cast<std::size_t>(rows), n = static_cast<std::size_t>(length),
                 v = static_cast<std::size_t>(vocabulary);
      p.assign(size * (n + 1) * v, 1.0f / static_cast<float>(vocabulary));
      q.assign(size * n * v, 1.0f / static_cast<float>(vocabulary));
      for (std::size_t i = 0; i < size * n; ++i) drafts.push_back(static_cast<std::int32_t>(i % v));
      lengths.assign(size, length);
      batch = {.rows = rows,
               .vocabulary = vocabulary,
               .drafts_a_row = length,
               .target_rows = length + 1,
               .proposal_rows = length,
               .dtype = doors::Dtype::float32,
               .randomness = randomness,
               .p = std::as_bytes(std::span(p)),
               .q = std::as_bytes(std::span(q)),
               .drafts = drafts,
               .lengths = lengths};
      if (randomness == doors::Randomness::seeded) {
        for (std::size_t i = 0; i < size; ++i) seeds.push_back(static_cast<std::int64_t>(i));
        batch.seeds = seeds;
      } else {
        batch.places = 2 * length + 2;
        tape.assign(size * static_cast<std::size_t>(batch.places), 0.25);
        batch.tape = tape;
      }
    }
    std::int64_t bytes() const { return static_cast<std::int64_t>((p.size() + q.size()) * sizeof(float)); }
  };

  static void decide(benchmark::State& state, const Rows& rows, const char* text) {
    const doors::OpenDoor door = doors::open_door(text);
    doors::ServedResult result;
    for (auto _ : state) {
      door.served->verify(rows.batch, result);
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

  static void add() {
    using doors::Randomness;
    for (const Randomness randomness : {Randomness::seeded, Randomness::scripted})
      benchmark::RegisterBenchmark(
          ("door/" + std::string(doors::to_text(randomness)) + "/4").c_str(),
          [randomness](auto& state) { decide(state, Rows(many, 2, 4, randomness), "abi:token_path"); })
          ->UseRealTime();
    const std::string size = "/" + std::to_string(large);
    benchmark::RegisterBenchmark(("door/rows" + size).c_str(), [](auto& state) {
      decide(state, Rows(few, 4, large, Randomness::seeded), "floor:");
    })->UseRealTime();
    benchmark::RegisterBenchmark(("door/copy" + size).c_str(), [](auto& state) {
      copy(state, Rows(few, 4, large, Randomness::seeded));
    })->UseRealTime();
    found_goals().push_back({"rows of V = 32,000 through a door, against one copy of them in memory",
                             "door/rows" + size + "/real_time", "door/copy" + size + "/real_time",
                             Goal::Sense::at_most, 2});
  }
};

}  // namespace draftproof::benchmarks
