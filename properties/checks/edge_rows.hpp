// Changes the rows of the instance in ways that have made samplers fail. Every trial on the changed rows must emit a
// token with p > 0, with ordinary random bits and with the smallest and the largest uniform.
//
//   one token        p, q or both                              all mass on one token
//   equal            p = q, bit for bit                        the residual is 0
//   an ulp           p one ulp above q on one token            the residual is an ulp
//   sum              p or q times 1 + 2^-52 or 1 - 2^-53       a sum that differs from 1 by an ulp; without largest
//                                                              uniforms, because if p < q everywhere no token is left
//   tiny             2^-24, 2^-126, 2^-1074 on one token       in p, in q, in both
//   almost           1 - 1e-8 on one token                     in p
//
// Deterministic: trials are seeded.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <draftproof/properties/proof/property.hpp>
#include <draftproof/properties/scripted/scripted_trials.hpp>

namespace draftproof::checks {

struct EdgeRows {
  static constexpr std::string_view name = "edge_rows";
  static constexpr std::string_view about =
      "on one-hot, equal, tiny and unnormalised rows the emitted token has p > 0";
  static constexpr int every = 20;
  static constexpr bool explores = false;
  static constexpr Tier tier = Tier::edge;
  static constexpr std::uint64_t trials = 4;

  static bool applies(const AnyVerifier&, const AnyDrafter&) { return true; }
  static Answer check(InstanceAnalysis& at) {
    for (const auto& [what, pair] : edge_pairs(at.instance())) {
      const Rows<double> rows(pair.target, pair.proposals);
      if (!enough_tokens(at, pair)) continue;
      if (auto wrong = first_fault(at, rows, rows, pair.normalised)) return Answer::failed(what + ": " + *wrong);
      if (!at.verifier().info().unsupported.simulate.empty()) continue;
      const RatioTable table(pair.target, pair.proposals);
      if (auto wrong = first_fault(at, table, rows, pair.normalised))
        return Answer::failed(what + ", on the table: " + *wrong);
    }
    return Answer::passed();
  }

 private:
  struct Pair {
    std::vector<double> target;
    std::vector<std::vector<double>> proposals;
    bool normalised = true;
  };
  using Row = std::vector<double>;

  static Row only(std::size_t size, std::size_t x) {
    Row row(size, 0.0);
    row[x] = 1;
    return row;
  }
  /// Returns `row` with `value` on token x and the other entries scaled to sum to 1 - `value`.
  static Row with(Row row, std::size_t x, double value) {
    double rest = 0;
    for (std::size_t i = 0; i < row.size(); ++i) rest += i == x ? 0 : row[i];
    if (!(rest > 0)) return row;
    for (std::size_t i = 0; i < row.size(); ++i) row[i] = i == x ? value : row[i] / rest * (1 - value);
    return in_units(std::move(row));
  }
  /// Returns the row with entries rounded down to multiples of 2^-53 and the largest entry set to 1 minus the others.
  /// Sums of such rows are exact, so if p < q on one token, p > q on another. Entries below 2^-53 are not rounded.
  static Row in_units(Row row) {
    constexpr double unit = 0x1p-53;
    double& top = *std::max_element(row.begin(), row.end());
    top = 0;
    double rest = 1;
    for (double& value : row) {
      if (value > unit) value = std::floor(value / unit) * unit;
      rest -= value;
    }
    top = rest;
    return row;
  }
  static Row times(Row row, double factor) {
    for (double& value : row) value *= factor;
    return row;
  }

  static std::vector<std::pair<std::string, Pair>> edge_pairs(const Instance& instance) {
    const Row p = in_units(double_row(instance.target));
    std::vector<Row> q;
    for (const auto& weights : instance.proposals) q.push_back(in_units(double_row(weights)));
    const auto all = [&](auto edit) {
      std::vector<Row> rows = q;
      for (Row& row : rows) row = edit(row);
      return rows;
    };
    const std::size_t size = p.size(), last = size - 1;
    std::size_t top = 0;
    for (std::size_t x = 0; x < size; ++x)
      if (p[x] > p[top]) top = x;
    Row above = q[0];
    for (double& value : above)
      if (value > 0) {
        value = std::nextafter(value, 1.0);
        break;
      }
    std::vector<std::pair<std::string, Pair>> pairs{
        {"p on one token", {only(size, top), q}},
        {"q on one token", {p, all([&](const Row&) { return only(size, top); })}},
        {"p and q on one token", {only(size, 0), all([&](const Row&) { return only(size, 0); })}},
        {"p and q on two tokens", {only(size, 0), all([&](const Row&) { return only(size, last); })}},
        {"p = q", {q[0], all([&](const Row&) { return q[0]; })}},
        {"p one ulp above q", {above, all([&](const Row&) { return q[0]; })}},
        {"p above 1 by an ulp", {times(p, 1 + 0x1p-52), q, false}},
        {"p below 1 by an ulp", {times(p, 1 - 0x1p-53), q, false}},
        {"q above 1 by an ulp", {p, all([](const Row& row) { return times(row, 1 + 0x1p-52); }), false}},
        {"q below 1 by an ulp", {p, all([](const Row& row) { return times(row, 1 - 0x1p-53); }), false}},
        {"p = 1 - 1e-8 on one token", {with(p, top, 1 - 1e-8), q}}};
    for (const double tiny : {0x1p-24, 0x1p-126, 0x1p-1074}) {
      const std::string text = tiny == 0x1p-24 ? "2^-24" : tiny == 0x1p-126 ? "2^-126" : "2^-1074";
      const auto tiny_q = all([&](const Row& row) { return with(row, 0, tiny); });
      pairs.push_back({"p = " + text, {with(p, 0, tiny), q}});
      pairs.push_back({"q = " + text, {p, tiny_q}});
      pairs.push_back({"p = q = " + text, {with(p, 0, tiny), tiny_q}});
    }
    return pairs;
  }

  /// Whether every row has at least K tokens with q > 0, which sampling of distinct drafts needs.
  static bool enough_tokens(const InstanceAnalysis& at, const Pair& pair) {
    if (!at.drafter().info().needs_k_tokens) return true;
    for (const Row& row : pair.proposals)
      if (std::count_if(row.begin(), row.end(), [](double q) { return q > 0; }) < at.instance().drafts) return false;
    return true;
  }

  /// `rows` are the full distributions, because a table drops entries below 2^-62.
  template <class L>
  static std::optional<std::string> first_fault(const InstanceAnalysis& at, const L& distributions,
                                                const Rows<double>& rows, bool largest_coins) {
    const auto plan = plan_on(at, distributions);
    const std::uint64_t scripts = at.verifier().info().shared_noise ? 0 : 4;
    return draftproof::first_fault(
        at, distributions, *plan, trials, [&](std::uint64_t t, const ScriptedTrial& trial, const auto&, const auto&) {
          std::optional<std::string> fault = fault_of(trial.played, trial, rows);
          for (std::uint64_t script = 0; !fault && script < scripts; ++script) {
            if (!largest_coins && (script & 1)) continue;
            BoundaryWords words(script & 1 ? edge::largest : edge::zero, script & 2 ? edge::largest : edge::zero);
            fault = fault_of(run_scripted(*plan, trial, words), trial, rows);
            if (fault) fault = "uniforms " + std::string(script & 1 ? "largest" : "0") + ", " + *fault;
          }
          if (fault) fault = place_of(t, trial) + ": " + *fault;
          return fault;
        });
  }
};

}  // namespace draftproof::checks
