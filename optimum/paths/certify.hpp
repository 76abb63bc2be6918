// Turns any proposed solution for a drafted tree into a certificate in fractions. If the proposed masses are not a
// feasible plan, mass moves from nodes to their ancestors until the plan is feasible; prices below 0 become 0.
//
//   u(T, n)   mass of T at n or below         cut to the mass of T
//   f(x)      factor of prefix x              f(xy) = min(f(x), limit of xy / mass accepted at xy so far), f() = 1
//   w(T, n)   u(T, n) f(n) - sum over children c in T of u(T, c) f(c); not negative, since f does not grow downwards
//
// Cost: O(nodes of all trees) operations on fractions.
//
// Correctness: the result is a certificate for any input, because the choice of f keeps the plan within its limits, and
// any non-negative prices prove a bound (tree_certificate.hpp).
//
// Source: derived here.
#pragma once

#include <memory>
#include <optional>
#include <stdexcept>

#include <draftproof/optimum/exact/rational.hpp>
#include <draftproof/optimum/paths/tree_certificate.hpp>
#include <draftproof/sim/info.hpp>

namespace draftproof {

// Two ways to convert a double to a fraction: rounding down to a multiple of 2^-60, and the first convergent of its
// continued fraction that is close enough, which recovers 131/81 from a solver's 1.61728395061728.

/// Returns the largest multiple of 2^-60 that is at most `value`.
Rational rounded_down(const Rational& value);

/// Returns the fraction with a denominator of at most 2^16 within 1e-12 of `value`; nullopt if there is no such
/// fraction. Two fractions with such denominators are at least 2^-32 apart, so it is unique. About one value in a
/// hundred is near such a fraction by coincidence.
std::optional<Rational> short_fraction(double value);

// The verifier that attains the optimum of a drafted tree. It is a reference and not for engines, because it needs
// the distribution of all trees. It is made from a solved plan for one distribution, so it is not registered by name.
//
//   w(T, n)   certificate.stops     probability of drafting T and stopping at n
//   a(x)                            sum of w at x and below
//   stop      oracle table          at n in T with probability w(T, n) / Pr(T)
//   extra     oracle table          y with probability (p(y|n) a(n) - a(ny)) / (a(n) - sum of a(ny))
//
// Cost: making the plan takes exponential time (tree_program.hpp); a run takes one look-up, a flip for each node and a
// draw.
//
// Correctness: the oracle is lossless for every feasible plan, not only for the best. The output of a step begins with
// xy with probability a(xy) through nodes at xy or below, and with probability p(y|x) a(x) - a(xy) through a stop at x
// and the extra token y: p(y|x) a(x) in all. A certificate's plan is feasible in fractions, so the oracle is exactly
// lossless.
//
// Source: derived here.

/// The plan as conditional distributions in fractions; rounding them causes no cancellation.
struct OraclePlan {
  OraclePlan(const TreeSampling& distribution, const TreeCertificate& certificate);

  PrefixIndex prefixes;
  std::map<std::vector<int>, std::size_t> trees;
  std::vector<std::vector<Rational>> stops;  ///< distribution of the stop on each tree, in the order of its nodes
  std::vector<std::vector<Rational>>
      extras;  ///< distribution of the extra token at each prefix; empty if the plan never stops there
};

/// The distributions of an OraclePlan in the scalar of an interpreter.
template <class Scalar>
struct OracleTable {
  std::shared_ptr<const OraclePlan> plan;
  std::vector<std::vector<Scalar>> stops, extras;
};

struct LpOracle {
  static constexpr Info info{.name = "lp_oracle",
                             .summary = "stop where an optimal plan over all drafted trees stops",
                             .source = "derived here",
                             .unsupported = {.fresh = "the plan enumerates the trees of one context",
                                             .device = "the plan enumerates the trees of one context"}};

  std::shared_ptr<const OraclePlan> plan;

  template <class L>
  auto prepare(const ConditionalModel<L>&, const TreeShape&) const {
    using Scalar = typename L::Scalar;
    const auto rounded = [](const std::vector<std::vector<Rational>>& exact) {
      std::vector<std::vector<Scalar>> rows;
      for (const std::vector<Rational>& from : exact) {
        rows.emplace_back();
        for (const Rational& value : from) rows.back().push_back(static_cast<Scalar>(value));
      }
      return rows;
    };
    return OracleTable<Scalar>{plan, rounded(plan->stops), rounded(plan->extras)};
  }

  template <class L, class R>
  StepOutput verify(const DraftedTree<L>& at, const OracleTable<typename L::Scalar>& table, R& random) const {
    using Scalar = typename L::Scalar;
    const std::vector<int> nodes = table.plan->prefixes.nodes_of(at.tree());
    const auto tree = table.plan->trees.find(nodes);
    if (tree == table.plan->trees.end()) throw std::logic_error("lp_oracle: the drafted tree is not in the plan");
    const std::vector<Scalar>& stops = table.stops[tree->second];
    // left[j] is the sum of stops[j] and later entries, summed from the end, so that at the last positive entry
    // left[j] == stops[j] and the flip, of probability stops[j] / left[j], succeeds.
    std::vector<Scalar> left(stops.size());
    Scalar sum{0};
    for (std::size_t j = stops.size(); j-- > 0;) left[j] = sum += stops[j];
    std::size_t j = 0;
    while (!(stops[j] > Scalar{0}) || !random.flip(stops[j], left[j])) ++j;
    const std::vector<Scalar>& extra = table.extras[static_cast<std::size_t>(nodes[j])];
    const int u = node_of(at.tree(), *table.plan, nodes[j]);
    return {u, random.emit(
                   at.distributions(u).weights([&extra](Token y) { return extra[static_cast<std::size_t>(y)]; }))};
  }

 private:
  static int node_of(const DraftTree& tree, const OraclePlan& plan, int prefix) {
    std::vector<int> numbers(static_cast<std::size_t>(tree.size()));
    for (int u = 0; u < tree.size(); ++u) {
      const int parent = u == DraftTree::root ? -1 : numbers[static_cast<std::size_t>(tree.parent(u))];
      numbers[static_cast<std::size_t>(u)] = plan.prefixes.find(parent, tree.token(u));
      if (numbers[static_cast<std::size_t>(u)] == prefix) return u;
    }
    throw std::logic_error("lp_oracle: a prefix that is not in the tree");
  }
};

/// A solver's solution. It may be infeasible; only the sizes of the vectors must be right.
struct TreeProposal {
  std::vector<std::vector<double>> stops;
  std::vector<double> prices;
};

/// Returns the certificate in multiples of 2^-60, or in fractions with short denominators where these prove more. For
/// small models lower == upper.
TreeCertificate certify(const TreeSampling& distribution, Sight sight, const TreeProposal& proposal);

}  // namespace draftproof
