// Rows that differ from p = q by a unit in the last place of a format, derived from the instance's proposals:
// every trial on them must emit a token with p > 0, with ordinary random bits and with the smallest and the
// largest uniform.
//
//   below     p one unit below q on the first token with q > 0, on two, on all     a rejection leaves no residual
//   above     p one unit above q on the first, one below on the others             the residual is one unit
//
// The units are of float32, bf16, fp16 and double; the rows are passed as doubles. Each pair of rows is tested as plain
// rows and, for a position, as the prepared table (whose rows sum to 1, so p is above q somewhere).
// tests/verifiers/precision_test.cpp tests fresh rows.
//
// Deterministic: trials are seeded.
#pragma once

#include <cmath>

#include <draftproof/captures/stored_format.hpp>
#include <draftproof/properties/paths/path_scripted.hpp>
#include <draftproof/properties/scripted/scripted_trials.hpp>

namespace draftproof::checks {

template <class Level>
struct NearEqualRows {
  static constexpr std::string_view name = "near_equal_rows";
  static constexpr std::string_view about =
      "on rows with p = q up to a unit in the last place the emitted token has p > 0";
  static constexpr int every = on_level<Level>(10, 4);
  static constexpr bool explores = false;
  static constexpr Tier tier = Tier::edge;
  static constexpr std::uint64_t trials = 4;

  /// Does not apply to couplings, which compute their drafts from the verifier's random bits.
  static bool applies(const typename Level::Verifier& verifier, const typename Level::Drafter&) {
    return !verifier.info().shared_noise;
  }
  static Answer check(typename Level::InstanceAnalysis& at) {
    for (const StoredFormat& format : {float32, bfloat16, float16, float64})
      for (const Change& change : changes)
        if (const auto wrong = first_fault_on(at, format, change))
          return Answer::failed(std::string(format.name) + ", p " + std::string(change.what) + ": " + *wrong);
    return Answer::passed();
  }

 private:
  using Wrong = std::optional<std::string>;
  struct Change {
    std::string_view what;
    int first, others;     ///< units added to the first token with q > 0, and to each other changed token
    std::size_t most = 0;  ///< number of other tokens that change
  };
  static constexpr Change changes[]{{"one ulp below q on one token", -1, 0},
                                    {"one ulp below q on two tokens", -1, -1, 1},
                                    {"one ulp below q on all tokens", -1, -1, ~std::size_t{0}},
                                    {"one ulp above q on one token, below on the others", 1, -1, ~std::size_t{0}}};

  static std::vector<double> target(const std::vector<double>& q, const StoredFormat& format, const Change& change) {
    std::vector<double> p = q;
    std::size_t changed = 0;
    for (double& value : p)
      if (value > 0 && changed <= change.most)
        value += (changed++ == 0 ? change.first : change.others) * format.unit(value);
    return p;
  }

  static Wrong first_fault_on(const InstanceAnalysis& at, const StoredFormat& format, const Change& change) {
    std::vector<std::vector<double>> proposals;
    for (const auto& weights : at.instance().proposals) proposals.push_back(format.round(double_row(weights)));
    const Rows<double> rows(target(proposals[0], format, change), proposals);
    if (auto wrong = first_fault_of(at, rows, rows)) return wrong;
    if (!at.verifier().info().unsupported.simulate.empty()) return std::nullopt;
    const auto wrong = first_fault_of(at, table_of(rows), rows);
    return wrong ? "on the table, " + *wrong : wrong;
  }

  static Wrong first_fault_on(const PathInstanceAnalysis& at, const StoredFormat& format, const Change& change) {
    const auto distributions = double_distributions(at.instance(), [&](const PrefixWeights& weights) {
      const std::vector<double> q = format.round(double_row(weights.proposal));
      return Rows<double>(target(q, format, change), q);
    });
    return first_fault_of(at, distributions, distributions);
  }

  /// `rows` are the full distributions, because a table drops entries below 2^-62.
  static Wrong first_fault_of(const auto& at, const auto& distributions, const auto& rows) {
    const auto plan = plan_on(at, distributions);
    return draftproof::first_fault(
        at, distributions, *plan, trials, [&](std::uint64_t t, const auto& trial, const auto&, const auto&) {
          std::optional<std::string> fault = fault_of(trial.played, trial, rows);
          for (const std::uint64_t inner : {edge::zero, edge::largest})
            for (const std::uint64_t last : {edge::zero, edge::largest}) {
              if (fault) break;
              BoundaryWords words(inner, last);
              fault = fault_of(run_scripted(*plan, trial, words), trial, rows);
              if (fault) fault = "uniforms " + std::string(inner == edge::zero ? "0" : "largest") + ", " + *fault;
            }
          if (fault) fault = place_of(t, trial) + ": " + *fault;
          return fault;
        });
  }
};

}  // namespace draftproof::checks
