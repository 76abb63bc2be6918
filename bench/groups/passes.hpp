// Passes over fresh float32 rows, compared with a read of the rows:
//
//   lower_bound/read/V               exclusive or over the 8 V bytes of a pair
//   pass/residual/W/V          F(b) = sum (p - b q)+ at width W: scalar, avx2, avx512, if the processor has it
//   pass/residual/W/V/cold     the same on copies of a pair that exceed the caches; also lower_bound/read/V/cold
//   pass/curve/W/V             F(b) and its slope
//   pass/clipped/W/V           one draw from clipped weights: a pass, and a search in one block of the row
//   pass/sum/W/V               a pass that sums any function of the token, here max(p - b q, 0)
//   float_mode/residual/V      F(b) summed in float, from the same terms
//   double_mode/residual/V     F(b) from terms in double, summed in double
//   refused/recursive_rejection/V    K = 4 drafts, all rejected: the verifier on fresh rows
//   rewrite/recursive_rejection/V    the same decision as engines compute it, with a residual in memory in every round
//   k_seq/factor/V             K-SEQ's factor for K = 4
//
// An item is a pass, a decision or a factor. The counter `passes` is the number of tokens read per decision or factor,
// divided by V.
#pragma once

#include <benchmark/benchmark.h>

#include <draftproof/bench/goal.hpp>
#include <draftproof/bench/pair_copies.hpp>
#include <draftproof/bench/read_lower_bound.hpp>
#include <draftproof/bench/rewritten_residual.hpp>

#include <draftproof/properties/scripted/scripted_trials.hpp>
#include <draftproof/sim/distributions/streamed_rows.hpp>
#include <draftproof/verifiers/k_seq.hpp>
#include <draftproof/verifiers/recursive_rejection.hpp>

namespace draftproof::benchmarks {

struct Passes {
  using Floats = FreshRows<float>;
  static constexpr int sizes[] = {4096, 32000, 128256, 262144};
  static constexpr int drafts = 4;

  static Floats rows(const float* p, std::size_t size) {
    return {std::span(p, size), std::span<const float>(p + size, size)};
  }

  /// Times run(p, V, turn). The turn changes b a little, so that no cached pass is reused.
  template <class Run>
  static void time(benchmark::State& state, int vocabulary, bool cold, const Run& run) {
    PairCopies& copies = PairCopies::of(vocabulary, cold);
    run(copies.next(), copies.size(), 0);
    std::uint64_t turn = 0;
    for (auto _ : state) benchmark::DoNotOptimize(run(copies.next(), copies.size(), ++turn));
    state.SetItemsProcessed(state.iterations());
  }
  template <class Run>
  static void add(const std::string& name, int vocabulary, const Run& run, bool cold = false) {
    benchmark::RegisterBenchmark(
        (name + "/" + std::to_string(vocabulary) + (cold ? "/cold" : "")).c_str(),
        [vocabulary, run, cold](benchmark::State& state) { time(state, vocabulary, cold, run); })
        ->Unit(benchmark::kMicrosecond);
  }
  /// Adds a benchmark of run(rows, turn) at one register width, with fresh rows.
  template <class Run>
  static void add_wide(const std::string& name, simd::Width width, int vocabulary, const Run& run,
                       bool cold = false) {
    add(
        name + "/" + std::string(name_of(width)), vocabulary,
        [run, width](const float* p, std::size_t size, std::uint64_t turn) {
          const simd::Using now(width);
          return run(rows(p, size), turn);
        },
        cold);
  }
  /// Adds a benchmark of run(rows, turn) with the counter `passes`.
  template <class Run>
  static void add_counted(const std::string& name, int vocabulary, const Run& run) {
    benchmark::RegisterBenchmark((name + "/" + std::to_string(vocabulary)).c_str(), [vocabulary,
                                                                                     run](benchmark::State& state) {
      std::uint64_t visited = 0;
      time(state, vocabulary, false, [&](const float* p, std::size_t size, std::uint64_t turn) {
        const Floats fresh = rows(p, size);
        const auto result = run(fresh, turn);
        visited = fresh.visited();
        return result;
      });
      state.counters["passes"] = static_cast<double>(visited) / vocabulary;
    })->Unit(benchmark::kMicrosecond);
  }

  /// Returns a factor b of (p - b q)+ that float cannot represent, so that both parts of FloatFactor are used.
  static double place(std::uint64_t turn) { return 1 + 0x1.000001p-20 * static_cast<double>(turn & 255); }
  static std::uint64_t word(std::uint64_t turn) { return turn * 0x9E3779B97F4A7C15; }

  static void add() {
    const auto mass = [](const Floats& at, std::uint64_t turn) { return at.residual_mass(place(turn)); };
    for (const int vocabulary : sizes) {
      for (const bool cold : {false, true})
        add(
            "lower_bound/read", vocabulary,
            [](const float* p, std::size_t size, std::uint64_t) { return read(p, 2 * size); }, cold);
      for (const simd::Width width : simd::widths_here()) {
        for (const bool cold : {false, true}) add_wide("pass/residual", width, vocabulary, mass, cold);
        add_wide("pass/curve", width, vocabulary, [](const Floats& at, std::uint64_t turn) {
          const auto [height, slope] = at.mass_and_slope(place(turn));
          return height + slope;
        });
        add_wide("pass/clipped", width, vocabulary, [](const Floats& at, std::uint64_t turn) {
          return at.clipped(1.5, 2 * place(turn)).draw(word(turn));
        });
        add_wide("pass/sum", width, vocabulary, [](const Floats& at, std::uint64_t turn) {
          return at.sum([&at, b = place(turn)](Token x) { return std::max(at.target(x) - b * at.proposal(x), 0.0); });
        });
      }
      add("float_mode/residual", vocabulary, [](const float* p, std::size_t size, std::uint64_t turn) {
        std::vector<double> partial((size + 1023) / 1024);  // FreshRows has this array too
        return float_sums(p, p + size, place(turn), size, partial.data());
      });
      add("double_mode/residual", vocabulary, [](const float* p, std::size_t size, std::uint64_t turn) {
        std::vector<double> partial((size + 1023) / 1024);  // FreshRows has this array too
        return double_sums(p, p + size, place(turn), size, partial.data());
      });
      add("rewrite/recursive_rejection", vocabulary, [](const float* p, std::size_t size, std::uint64_t turn) {
        return all_refused_by_rewriting(p, p + size, size, drafts, word(turn));
      });
      add_counted("refused/recursive_rejection", vocabulary, [](const Floats& at, std::uint64_t turn) {
        const Token tokens[drafts] = {1, 2, 3, 4};
        RefusesAll random{word(turn)};
        return verifiers::RecursiveRejection{}.verify(DraftedPosition(at, tokens, drafts), random).token;
      });
      add_counted("k_seq/factor", vocabulary,
                  [](const Floats& at, std::uint64_t) { return verifiers::KSeq{}.prepare(at, drafts).factor; });
    }
    goals();
  }

  static void goals() {
    const std::string widest(name_of(simd::widest())), large = "128256";
    const auto at = [&](const char* what) { return "pass/" + std::string(what) + "/" + widest + "/" + large; };
    using enum Goal::Sense;
    auto& all = found_goals();
    all.push_back({"a residual mass against reading its rows, pair in a cache near the core", at("residual"),
                   "lower_bound/read/" + large, at_most, 2});
    all.push_back({"a residual mass against reading its rows, pair in memory", at("residual") + "/cold",
                   "lower_bound/read/" + large + "/cold", at_most, 1.15});
    all.push_back({"four refusals that rewrite the residual against four read-only passes",
                   "rewrite/recursive_rejection/" + large, "refused/recursive_rejection/" + large, at_least, 8});
    all.push_back({"integer sums, equal on every machine, against sums of the same terms in float", at("residual"),
                   "float_mode/residual/" + large, at_most, 1.4});
    all.push_back(
        {"K-SEQ's factor against passes that give mass and slope", "k_seq/factor/" + large, at("curve"), at_most, 6});
  }
};

}  // namespace draftproof::benchmarks
