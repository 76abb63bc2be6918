// Programs under test that run in this process: functions of an input and of draws from its tape.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <draftproof/adapters/explorer/explore.hpp>
#include <draftproof/tests/support/adapters_messages.hpp>

namespace draftproof::adapters {

using Weights = std::vector<double>;

/// Thrown by the draws below to end the run with `status`.
struct StopRun {
  RowStatus status;
  std::string message{};
};

/// The source of a program's random numbers.
class Draws {
 public:
  virtual ~Draws() = default;
  virtual double coin() = 0;
  virtual Token pick(const std::vector<double>& weights) = 0;
};

/// Draws from a tape by the rules of program.hpp, and logs them.
class TapeDraws final : public Draws {
 public:
  TapeDraws(const std::vector<double>& tape, Run& run, int bits) : tape_(tape), run_(run), bits_(bits) {}

  /// Records that the program changed the arrays `names` of its row.
  void overwrites(const std::string& names) { run_.overwrote = names; }
  double coin() override { return next({.kind = DrawKind::coin, .bits = bits_}); }
  int integer(int n) {
    const double v = next({.kind = DrawKind::integer, .size = n});
    return v < 0 ? static_cast<int>(-v - 1) : static_cast<int>(v * n);
  }
  Token pick(const std::vector<double>& weights) override {
    const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
    const double v = next({.kind = DrawKind::pick, .size = static_cast<int>(weights.size()), .weights = weights});
    if (!(total > 0) || !std::isfinite(total)) throw StopRun{RowStatus::no_mass};
    if (v < 0) return static_cast<int>(-v - 1);
    double sum = 0;
    for (std::size_t x = 0; x < weights.size(); ++x)
      if (v * total < (sum += weights[x])) return static_cast<int>(x);
    return static_cast<int>(weights.size()) - 1;
  }
  std::vector<double> race(int n, int bits = Draw{}.bits) {
    std::vector<double> clocks;
    for (int x = 0; x < n; ++x) {
      const double v = next({.kind = DrawKind::clock, .size = x == 0 ? n : 0, .bits = bits});
      clocks.push_back(v < 0 ? -v : -std::log1p(-v));
    }
    return clocks;
  }

 private:
  double next(Draw draw) {
    if (run_.draws.size() >= tape_.size()) throw StopRun{RowStatus::tape_short};
    run_.draws.push_back(std::move(draw));
    EXPECT_LT(tape_[run_.draws.size() - 1], 1.0);
    return tape_[run_.draws.size() - 1];
  }

  const std::vector<double>& tape_;
  Run& run_;
  int bits_;
};

class InProcess : public Program {
 public:
  using Body = std::function<std::vector<Token>(const Input&, TapeDraws&)>;
  explicit InProcess(Body body, int bits = 24) : body_(std::move(body)), bits_(bits) {}

  void run(std::span<const Input> inputs, std::span<const Call> calls, std::span<Run> runs) override {
    ++batches;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      ++runs_made;
      TapeDraws draws(calls[i].tape, runs[i], bits_);
      try {
        runs[i].tokens = body_(inputs[calls[i].input], draws);
      } catch (const StopRun& stop) {
        runs[i].status = stop.status;
        runs[i].message = stop.message;
      }
    }
  }

  std::size_t runs_made = 0, batches = 0;

 private:
  Body body_;
  int bits_;
};

/// Returns the distribution of outcomes over all tapes of `places` coins with `bits` bits each. Probabilities are
/// exact: multiples of 2^-(places bits).
inline std::vector<OutcomeMass> distribution_by_all_tapes(Program& program, const Input& input, int places,
                                                          int bits) {
  std::map<std::pair<RowStatus, std::vector<Token>>, std::uint64_t> counts;
  const std::uint64_t cells = std::uint64_t{1} << bits, tapes = std::uint64_t{1} << (bits * places);
  std::vector<Call> calls;
  std::vector<Run> runs;
  for (std::uint64_t t = 0; t < tapes;) {
    calls.clear();
    for (; t < tapes && calls.size() < 4096; ++t) {
      calls.emplace_back();
      for (int i = 0; i < places; ++i)
        calls.back().tape.push_back(static_cast<double>((t >> (bits * i)) % cells) / static_cast<double>(cells));
    }
    runs.assign(calls.size(), {});
    program.run(std::span(&input, 1), calls, runs);
    for (const Run& run : runs) ++counts[{run.status, run.tokens}];
  }
  std::vector<OutcomeMass> distribution;
  for (const auto& [key, count] : counts)
    distribution.push_back({{key.first, key.second}, static_cast<double>(count) / static_cast<double>(tapes)});
  return distribution;
}

inline ProgramDistribution distribution_of(Program& program, const Input& input, const ExploreOptions& options = {}) {
  return explore_program(program, std::span(&input, 1), options).front();
}

/// Expects that the exploration of the program ends as settled, with exactly the distribution over all tapes.
inline void expect_distribution_of_all_tapes(const InProcess::Body& body, const Input& input, int places, int bits,
                                             const std::string& about = "") {
  SCOPED_TRACE(about);
  InProcess explored(body, bits), enumerated(body, bits);
  const ProgramDistribution distribution = distribution_of(explored, input, {.coin_bits = bits});
  EXPECT_EQ(distribution.state, DistributionState::settled);
  const auto want = distribution_by_all_tapes(enumerated, input, places, bits);
  ASSERT_EQ(distribution.outcomes.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    EXPECT_EQ(distribution.outcomes[i].outcome, want[i].outcome);
    EXPECT_EQ(distribution.outcomes[i].probability, want[i].probability);
  }
}

/// Returns (p - q)+ of two rows.
inline std::vector<double> residual_of(const std::vector<double>& p, const std::vector<double>& q) {
  std::vector<double> left;
  for (std::size_t x = 0; x < p.size(); ++x) left.push_back(std::max(p[x] - q[x], 0.0));
  return left;
}

/// Returns the first token whose cumulative weight exceeds u * total, else the last token.
inline Token inverted(const std::vector<double>& weights, double u) {
  const double at = u * std::accumulate(weights.begin(), weights.end(), 0.0);
  double sum = 0;
  for (std::size_t x = 0; x < weights.size(); ++x)
    if (at < (sum += weights[x])) return static_cast<Token>(x);
  return static_cast<Token>(weights.size()) - 1;
}

}  // namespace draftproof::adapters
