#include <draftproof/optimum/paths/certify.hpp>

#include <optional>
#include <utility>

#include <draftproof/optimum/paths/near_fraction.hpp>

namespace draftproof {
namespace {

using Plan = std::vector<std::vector<Rational>>;

/// Rounds to nearby short fractions; nothing if a value has none.
struct Short {
  std::optional<Rational> operator()(double value) const { return short_fraction(value); }
  Rational cut(const Rational& value) const { return value; }
};
struct Dyadic {
  std::optional<Rational> operator()(double value) const { return rounded_down(Rational(value)); }
  /// Short factors keep products short across levels.
  Rational cut(const Rational& value) const { return rounded_down(value); }
};

/// The plan; nothing if `round` returns nothing for a number.
template <class Round>
std::optional<Plan> feasible(const TreeLaw& law, Sight sight, const TreeProposal& proposal, Round round) {
  const std::size_t prefixes = law.prefixes.size();
  std::vector<std::size_t> position(prefixes);
  Plan below;
  std::vector<Rational> accepted(prefixes);
  for (std::size_t t = 0; t < law.trees.size(); ++t) {
    const TreeLaw::Tree& tree = law.trees[t];
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
      mass[position[index(law.prefixes[index(tree.nodes[j])].parent)]] += mass[j];
    for (std::size_t j = 0; j < tree.nodes.size(); ++j) accepted[index(tree.nodes[j])] += mass[j];
    below.push_back(std::move(mass));
  }
  std::vector<Rational> factor(prefixes, 1), joint(prefixes, 1);
  for (std::size_t i = 1; i < prefixes; ++i) {
    const std::size_t parent = index(law.prefixes[i].parent);
    joint[i] = joint[parent] * law.step(i);
    factor[i] = factor[parent];
    const Rational limit =
        sight == Sight::one_shot ? Rational(accepted[parent] * factor[parent] * law.step(i)) : joint[i];
    if (accepted[i] * factor[i] > limit) factor[i] = round.cut(limit / accepted[i]);
  }
  for (std::size_t t = 0; t < law.trees.size(); ++t) {
    const TreeLaw::Tree& tree = law.trees[t];
    std::vector<Rational>& mass = below[t];
    for (std::size_t j = 0; j < tree.nodes.size(); ++j) {
      position[index(tree.nodes[j])] = j;
      mass[j] *= factor[index(tree.nodes[j])];
      if (j > 0) mass[position[index(law.prefixes[index(tree.nodes[j])].parent)]] -= mass[j];
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

Rational value_of(const TreeLaw& law, const Plan& plan) {
  Rational value = 0;
  for (std::size_t t = 0; t < plan.size(); ++t)
    for (std::size_t j = 0; j < plan[t].size(); ++j)
      value += law.prefixes[index(law.trees[t].nodes[j])].depth * plan[t][j];
  return value;
}

/// The value that the prices prove, computed bottom up while the checker works top down: the mean over trees of the
/// best node, less the prices on the way to it.
Rational value_of(const TreeLaw& law, Sight sight, const std::vector<Rational>& prices) {
  std::vector<Rational> joint(prices.size(), 1), gain(prices.size());
  Rational value = 0;
  for (std::size_t i = prices.size() - 1; i > 0; --i) {
    gain[i] += 1 - prices[i];
    if (sight == Sight::one_shot) gain[index(law.prefixes[i].parent)] += law.step(i) * prices[i];
  }
  for (std::size_t i = 1; i < prices.size(); ++i) {
    joint[i] = joint[index(law.prefixes[i].parent)] * law.step(i);
    if (sight == Sight::whole_block) value += joint[i] * prices[i];
  }
  std::vector<Rational> best(prices.size());
  for (const TreeLaw::Tree& tree : law.trees) {
    for (const int node : tree.nodes) best[index(node)] = 0;
    for (std::size_t j = tree.nodes.size() - 1; j > 0; --j) {
      const std::size_t i = index(tree.nodes[j]), parent = index(law.prefixes[i].parent);
      best[parent] = std::max<Rational>(best[parent], best[i] + gain[i]);
    }
    value += tree.probability * (best[0] + gain[0]);
  }
  return value;
}

}  // namespace

TreeCertificate certify(const TreeLaw& law, Sight sight, const TreeProposal& proposal) {
  TreeCertificate certificate{0, 0, *feasible(law, sight, proposal, Dyadic{}), *prices_of(proposal, Dyadic{})};
  certificate.lower = value_of(law, certificate.stops);
  certificate.upper = value_of(law, sight, certificate.prices);
  if (auto plan = feasible(law, sight, proposal, Short{}))
    if (const Rational value = value_of(law, *plan); value > certificate.lower) {
      certificate.lower = value;
      certificate.stops = std::move(*plan);
    }
  if (auto prices = prices_of(proposal, Short{}))
    if (const Rational value = value_of(law, sight, *prices); value < certificate.upper) {
      certificate.upper = value;
      certificate.prices = std::move(*prices);
    }
  return certificate;
}

}  // namespace draftproof
