#include <draftproof/optimum/paths/certify.hpp>

#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include <draftproof/optimum/exact/rational.hpp>

namespace draftproof {

Rational rounded_down(const Rational& value) {
  const BigRational big = value.big();
  BigInteger scaled = big.numerator << 60, whole, remainder;
  boost::multiprecision::divide_qr(scaled, big.denominator, whole, remainder);
  if (remainder < 0) --whole;
  return quotient(whole, BigInteger(1) << 60);
}

std::optional<Rational> short_fraction(double value) {
  constexpr std::int64_t longest = std::int64_t{1} << 16;
  if (!(std::abs(value) < 1024)) return std::nullopt;
  std::int64_t before = 1, numerator = static_cast<std::int64_t>(std::floor(value));
  std::int64_t denominator_before = 0, denominator = 1;
  double rest = value - std::floor(value);
  while (std::abs(static_cast<double>(numerator) / static_cast<double>(denominator) - value) > 1e-12) {
    rest = 1 / rest;
    if (!(rest <= longest)) return std::nullopt;
    const auto whole = static_cast<std::int64_t>(std::floor(rest));
    rest -= std::floor(rest);
    const std::int64_t next = whole * denominator + denominator_before;
    if (next > longest) return std::nullopt;
    denominator_before = denominator;
    denominator = next;
    const std::int64_t numerator_next = whole * numerator + before;
    before = numerator;
    numerator = numerator_next;
  }
  return Rational(numerator, denominator);
}

OraclePlan::OraclePlan(const TreeSampling& distribution, const TreeCertificate& certificate)
    : extras(distribution.prefixes.size()) {
  std::vector<Rational> accepted(distribution.prefixes.size());
  for (std::size_t t = 0; t < distribution.trees.size(); ++t) {
    const auto& [nodes, probability] = distribution.trees[t];
    trees.emplace(nodes, t);
    stops.push_back(certificate.stops[t]);
    for (std::size_t j = 0; j < nodes.size(); ++j) {
      accepted[static_cast<std::size_t>(nodes[j])] += stops[t][j];
      stops[t][j] /= probability;
    }
  }
  // The mass that stops at each prefix, before the mass of its children is added to make a(x) (tree_certificate.hpp).
  const std::vector<Rational> own = accepted;
  for (std::size_t i = distribution.prefixes.size() - 1; i > 0; --i)
    accepted[static_cast<std::size_t>(distribution.prefixes[i].parent)] += accepted[i];
  for (std::size_t i = 0; i < distribution.prefixes.size(); ++i) {
    const TreeSampling::Prefix& prefix = distribution.prefixes[i];
    prefixes.add(prefix.parent, prefix.token, static_cast<int>(i));
    if (own[i] == 0) continue;
    for (const Rational& p : prefix.target) extras[i].push_back(p * accepted[i] / own[i]);
  }
  for (std::size_t i = 1; i < distribution.prefixes.size(); ++i) {
    const std::size_t parent = static_cast<std::size_t>(distribution.prefixes[i].parent);
    if (own[parent] > 0)
      extras[parent][static_cast<std::size_t>(distribution.prefixes[i].token)] -= accepted[i] / own[parent];
  }
}

namespace {

using Plan = std::vector<std::vector<Rational>>;

/// Rounds to nearby short fractions; returns nullopt for a value that is not near a short fraction.
struct Short {
  std::optional<Rational> operator()(double value) const { return short_fraction(value); }
  Rational cut(const Rational& value) const { return value; }
};
struct Dyadic {
  std::optional<Rational> operator()(double value) const { return rounded_down(Rational(value)); }
  /// Rounds the factors f(x) of certify.hpp down to multiples of 2^-60, so that denominators do not grow from level to
  /// level.
  Rational cut(const Rational& value) const { return rounded_down(value); }
};

/// Returns a feasible plan near the proposal, whose numbers `round` converts to fractions; nullopt if `round` returns
/// nullopt for a number.
template <class Round>
std::optional<Plan> feasible(const TreeSampling& distribution, Sight sight, const TreeProposal& proposal,
                             Round round) {
  const std::size_t prefixes = distribution.prefixes.size();
  std::vector<std::size_t> position(prefixes);
  Plan below;
  std::vector<Rational> accepted(prefixes);
  for (std::size_t t = 0; t < distribution.trees.size(); ++t) {
    const TreeSampling::Tree& tree = distribution.trees[t];
    std::vector<Rational> mass(tree.nodes.size());
    Rational left = tree.probability;
    for (std::size_t j = 1; j < tree.nodes.size(); ++j) {
      const std::optional<Rational> rounded = round(proposal.stops[t][j]);
      if (!rounded) return std::nullopt;
      if (*rounded > 0) mass[j] = std::min<Rational>(*rounded, left);
      left -= mass[j];
    }
    mass[0] = left;
    for (std::size_t j = 0; j < tree.nodes.size(); ++j) position[index(tree.nodes[j])] = j;
    for (std::size_t j = tree.nodes.size() - 1; j > 0; --j)
      mass[position[index(distribution.prefixes[index(tree.nodes[j])].parent)]] += mass[j];
    for (std::size_t j = 0; j < tree.nodes.size(); ++j) accepted[index(tree.nodes[j])] += mass[j];
    below.push_back(std::move(mass));
  }
  std::vector<Rational> factor(prefixes, 1), joint(prefixes, 1);
  for (std::size_t i = 1; i < prefixes; ++i) {
    const std::size_t parent = index(distribution.prefixes[i].parent);
    joint[i] = joint[parent] * distribution.step(i);
    factor[i] = factor[parent];
    const Rational limit =
        sight == Sight::one_shot ? Rational(accepted[parent] * factor[parent] * distribution.step(i)) : joint[i];
    if (accepted[i] * factor[i] > limit) factor[i] = round.cut(limit / accepted[i]);
  }
  for (std::size_t t = 0; t < distribution.trees.size(); ++t) {
    const TreeSampling::Tree& tree = distribution.trees[t];
    std::vector<Rational>& mass = below[t];
    for (std::size_t j = 0; j < tree.nodes.size(); ++j) {
      position[index(tree.nodes[j])] = j;
      mass[j] *= factor[index(tree.nodes[j])];
      if (j > 0) mass[position[index(distribution.prefixes[index(tree.nodes[j])].parent)]] -= mass[j];
    }
  }
  return below;
}

template <class Round>
std::optional<std::vector<Rational>> prices_of(const TreeProposal& proposal, Round round) {
  std::vector<Rational> prices{0};
  for (std::size_t i = 1; i < proposal.prices.size(); ++i) {
    const std::optional<Rational> price = round(proposal.prices[i]);
    if (!price) return std::nullopt;
    prices.push_back(std::max<Rational>(*price, 0));
  }
  return prices;
}

Rational value_of(const TreeSampling& distribution, const Plan& plan) {
  Rational value = 0;
  for (std::size_t t = 0; t < plan.size(); ++t)
    for (std::size_t j = 0; j < plan[t].size(); ++j)
      value += distribution.prefixes[index(distribution.trees[t].nodes[j])].depth * plan[t][j];
  return value;
}

/// Returns the upper bound that the prices prove, E max g (tree_certificate.hpp). It computes g from the leaves to the
/// root; the checker computes it from the root to the leaves.
Rational value_of(const TreeSampling& distribution, Sight sight, const std::vector<Rational>& prices) {
  std::vector<Rational> joint(prices.size(), 1), gain(prices.size());
  Rational value = 0;
  for (std::size_t i = prices.size() - 1; i > 0; --i) {
    gain[i] += 1 - prices[i];
    if (sight == Sight::one_shot) gain[index(distribution.prefixes[i].parent)] += distribution.step(i) * prices[i];
  }
  for (std::size_t i = 1; i < prices.size(); ++i) {
    joint[i] = joint[index(distribution.prefixes[i].parent)] * distribution.step(i);
    if (sight == Sight::whole_block) value += joint[i] * prices[i];
  }
  std::vector<Rational> best(prices.size());
  for (const TreeSampling::Tree& tree : distribution.trees) {
    for (const int node : tree.nodes) best[index(node)] = 0;
    for (std::size_t j = tree.nodes.size() - 1; j > 0; --j) {
      const std::size_t i = index(tree.nodes[j]), parent = index(distribution.prefixes[i].parent);
      best[parent] = std::max<Rational>(best[parent], best[i] + gain[i]);
    }
    value += tree.probability * (best[0] + gain[0]);
  }
  return value;
}

}  // namespace

TreeCertificate certify(const TreeSampling& distribution, Sight sight, const TreeProposal& proposal) {
  TreeCertificate certificate{0, 0, *feasible(distribution, sight, proposal, Dyadic{}),
                              *prices_of(proposal, Dyadic{})};
  certificate.lower = value_of(distribution, certificate.stops);
  certificate.upper = value_of(distribution, sight, certificate.prices);
  if (auto plan = feasible(distribution, sight, proposal, Short{}))
    if (const Rational value = value_of(distribution, *plan); value > certificate.lower) {
      certificate.lower = value;
      certificate.stops = std::move(*plan);
    }
  if (auto prices = prices_of(proposal, Short{}))
    if (const Rational value = value_of(distribution, sight, *prices); value < certificate.upper) {
      certificate.upper = value;
      certificate.prices = std::move(*prices);
    }
  return certificate;
}

}  // namespace draftproof
