// The cost of row formats: probabilities of float32, bf16 and fp16 read directly, logits of the same
// formats converted to probabilities, and powers of e at every register width.
//
//   rows/FORMAT/recursive_rejection/V/K        one decision, all K drafts rejected, rows hot in a cache
//   rows/FORMAT/recursive_rejection/V/K/cold   the same on rows from memory: each decision reads another of the copies,
//                                              which fill 640 MB
//   read/FORMAT/V[/cold]                       lower bound: a plain read of the bytes of p and q
//   softmax/FORMAT/V[/cold]                    items are logits
//   exp/WIDTH, exp/libm                        items are powers of e
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include <draftproof/bench/goal.hpp>
#include <draftproof/bench/pair.hpp>
#include <draftproof/bench/read_lower_bound.hpp>
#include <draftproof/sim/distributions/plain_rows.hpp>
#include <draftproof/verifiers/recursive_rejection.hpp>

namespace draftproof::benchmarks {

/// A random source that always returns the same numbers: the largest for flips, so that every draft with acceptance
/// probability below 1 is rejected, and a constant for other draws.
struct Refusing : UniformSource<Refusing> {
  std::uint64_t next(Purpose purpose) { return purpose == Purpose::flip ? ~std::uint64_t{0} : 0x9E3779B97F4A7C15; }
};

struct Formats {
  static constexpr std::size_t cold_bytes = 640'000'000;  ///< more than caches hold

  /// Returns p and q of a pair, repeated to fill `bytes`, at least once.
  template <class Entry>
  static std::vector<Entry> stored(const Pair& pair, std::size_t bytes) {
    std::vector<Entry> entries;
    for (const std::vector<double>* row : {&pair.rows.target, &pair.rows.proposals[0]})
      for (const double p : *row) entries.push_back(static_cast<Entry>(p));
    const std::size_t once = entries.size(), copies = std::max<std::size_t>(bytes / (once * sizeof(Entry)), 1);
    entries.resize(once * copies);
    for (std::size_t i = once; i < entries.size(); ++i) entries[i] = entries[i - once];
    return entries;
  }

  template <class Entry>
  static void rows(benchmark::State& state, int vocabulary, int drafts, std::size_t bytes) {
    const Pair& pair = pair_of(vocabulary);
    const std::vector<Entry> entries = stored<Entry>(pair, bytes);
    const auto size = static_cast<std::size_t>(vocabulary);
    // This token is rejected in every round: in the first round p < q, and in later rounds its residual is 0.
    Token least = 0;
    for (Token x = 0; x < vocabulary; ++x)
      if (pair.plain.target(x) * pair.plain.proposal(least) < pair.plain.target(least) * pair.plain.proposal(x))
        least = x;
    const std::vector<Token> tokens(static_cast<std::size_t>(drafts), least);
    std::size_t at = 0;
    for (auto _ : state) {
      const std::span<const Entry> p(entries.data() + at, size), q(entries.data() + at + size, size);
      const FreshRows<Entry> fresh(p, q);
      Refusing random;
      Verdict verdict = verifiers::RecursiveRejection{}.verify(DraftedPosition(fresh, tokens.data(), drafts), random);
      if (verdict.accepted >= 0) state.SkipWithError("a draft was accepted");
      benchmark::DoNotOptimize(verdict);
      at = (at + 2 * size) % entries.size();
    }
    state.SetItemsProcessed(state.iterations());
  }

  template <class Entry>
  static void lower_bound(benchmark::State& state, int vocabulary, std::size_t bytes) {
    const std::vector<Entry> entries = stored<Entry>(pair_of(vocabulary), bytes);
    const auto size = static_cast<std::size_t>(2 * vocabulary);
    std::size_t at = 0;
    for (auto _ : state) {
      benchmark::DoNotOptimize(
          read(reinterpret_cast<const float*>(entries.data() + at), size * sizeof(Entry) / sizeof(float)));
      at = (at + size) % entries.size();
    }
    state.SetItemsProcessed(state.iterations());
  }

  template <class Entry>
  static void softmax(benchmark::State& state, int vocabulary, std::size_t bytes) {
    std::vector<Entry> logits;
    const auto size = static_cast<std::size_t>(vocabulary);
    for (const double p : pair_of(vocabulary).rows.target) logits.push_back(static_cast<Entry>(std::log(p)));
    logits.resize(size * std::max<std::size_t>(bytes / (size * sizeof(Entry)), 1));
    for (std::size_t i = size; i < logits.size(); ++i) logits[i] = logits[i - size];
    Softmax row(vocabulary);
    std::size_t at = 0;
    for (auto _ : state) {
      benchmark::DoNotOptimize(row.of(std::span<const Entry>(logits.data() + at, size)).data());
      at = (at + size) % logits.size();
    }
    state.SetItemsProcessed(state.iterations() * vocabulary);
  }

  template <class PowersOf>
  static void powers(benchmark::State& state, const PowersOf& powers_of) {
    std::vector<float> exponents, powers(4096);
    for (const double p : pair_of(4096).rows.target) exponents.push_back(static_cast<float>(std::log(p)));
    for (auto _ : state) {
      powers_of(exponents, powers);
      benchmark::DoNotOptimize(powers.data());
      benchmark::ClobberMemory();
    }
    state.SetItemsProcessed(state.iterations() * std::ssize(powers));
  }

  /// Adds a benchmark of run(state, bytes) on one copy of the rows, and a benchmark on so many copies that caches do
  /// not hold them.
  template <class Run>
  static void add_both(const std::string& name, const Run& run) {
    for (const std::size_t bytes : {std::size_t{0}, cold_bytes})
      benchmark::RegisterBenchmark((name + (bytes > 0 ? "/cold" : "")).c_str(),
                                   [run, bytes](benchmark::State& state) { run(state, bytes); });
  }

  template <class Entry>
  static void add_format(const std::string& format) {
    for (const int vocabulary : vocabularies) {
      const std::string size = "/" + std::to_string(vocabulary);
      for (const int drafts : {1, 4})
        add_both("rows/" + format + "/recursive_rejection" + size + "/" + std::to_string(drafts),
                 [=](benchmark::State& state, std::size_t bytes) { rows<Entry>(state, vocabulary, drafts, bytes); });
      add_both("read/" + format + size,
               [=](benchmark::State& state, std::size_t bytes) { lower_bound<Entry>(state, vocabulary, bytes); });
      add_both("softmax/" + format + size,
               [=](benchmark::State& state, std::size_t bytes) { softmax<Entry>(state, vocabulary, bytes); });
    }
  }

  static void add() {
    add_format<float>("float32");
    add_format<Bfloat16>("bf16");
    add_format<Half>("fp16");
    for (const simd::Width width : simd::widths_here())
      benchmark::RegisterBenchmark(
          ("exp/" + std::string(simd::name_of(width))).c_str(), [width](benchmark::State& state) {
            powers(state, [width](const auto& x, auto& out) { powers_of_e(x.data(), x.size(), out.data(), width); });
          });
    benchmark::RegisterBenchmark("exp/libm", [](benchmark::State& state) {
      powers(state, [](const auto& x, auto& out) {
        for (std::size_t i = 0; i < x.size(); ++i) out[i] = std::exp(x[i]);
      });
    });

    using Sense = Goal::Sense;
    const std::string rows = "/recursive_rejection/128256/1/cold";
    for (const std::string format : {"bf16", "fp16"})
      found_goals().push_back(
          {format + " rows, from memory, cost no more than float32 rows: half the bytes pay for widening",
           "rows/" + format + rows, "rows/float32" + rows, Sense::at_most, 1});
    found_goals().push_back({"softmax of a row, maxima, sum and scale, costs at most four times its powers of e",
                             "softmax/float32/128256", "exp/" + std::string(simd::name_of(simd::widest())),
                             Sense::at_most, 4});
    found_goals().push_back({"own powers of e against the library's, which differ from processor to processor",
                             "exp/libm", "exp/" + std::string(simd::name_of(simd::widest())), Sense::at_least, 4});
  }
};

}  // namespace draftproof::benchmarks
