#include <draftproof/optimum/paths/path_bounds.hpp>

#include <cmath>
#include <limits>
#include <stdexcept>

#include <draftproof/optimum/paths/tree_program.hpp>

namespace draftproof {

namespace {

/// Returns, for one drafted path, the probability that block verification stops at each of its prefixes. Block
/// verification tests the prefixes from the longest to the shortest. The test of a prefix succeeds with probability
/// s / (s + q - a), where q is the probability that the prefix is drafted, a that it is accepted, and s (`own`) the
/// part of a that stops at the prefix. At the end of the path s = a, so the probability is a / q.
std::vector<Rational> stops_on(const TreeSampling& distribution, const std::vector<int>& path,
                               const std::vector<Rational>& drafted, const std::vector<Rational>& accepted,
                               const std::vector<Rational>& own) {
  std::vector<Rational> stops(path.size());
  Rational left = 1;
  for (std::size_t j = path.size() - 1; j > 0; --j) {
    if (distribution.prefixes[index(path[j])].parent != path[j - 1])
      throw std::invalid_argument("block optimum: a tree is not a path");
    const std::size_t i = index(path[j]);
    const Rational refused = drafted[i] - accepted[i], sum = own[i] + refused;
    // If sum is 0, this prefix is accepted whenever it is drafted and no block ends at it, so the test of a longer
    // prefix has succeeded.
    stops[j] = sum == 0 ? Rational(0) : Rational(left * own[i] / sum);
    left -= stops[j];
  }
  stops[0] = left;
  return stops;
}

}  // namespace

TreeCertificate block_optimum(const TreeSampling& distribution) {
  const std::size_t prefixes = distribution.prefixes.size();
  const std::vector<Rational> drafted = reach(distribution);
  std::vector<Rational> accepted(prefixes), own(prefixes), gain(prefixes), prices(prefixes);
  std::vector<char> limited(prefixes, 0);
  accepted[0] = own[0] = 1;
  TreeCertificate certificate{0, 0, {}, {}};
  for (std::size_t i = 1; i < prefixes; ++i) {
    const std::size_t parent = index(distribution.prefixes[i].parent);
    const Rational offered = distribution.step(i) * accepted[parent];
    limited[i] = offered < drafted[i];
    accepted[i] = own[i] = limited[i] ? offered : drafted[i];
    own[parent] -= accepted[i];
    certificate.lower += accepted[i];
  }
  // The upper bound is V() - 1 plus the sum of q(x) V(x) over the prefixes x with a(x) = q(x), which the draft limits;
  // V(x) is gain[x].
  for (std::size_t i = prefixes - 1; i > 0; --i) {
    gain[i] += 1;
    if (limited[i]) {
      prices[i] = gain[i];
      gain[index(distribution.prefixes[i].parent)] += distribution.step(i) * gain[i];
    } else {
      certificate.upper += drafted[i] * gain[i];
    }
  }
  certificate.upper += gain[0];
  certificate.prices = std::move(prices);
  for (const TreeSampling::Tree& tree : distribution.trees) {
    certificate.stops.push_back(stops_on(distribution, tree.nodes, drafted, accepted, own));
    for (Rational& stop : certificate.stops.back()) stop *= tree.probability;
  }
  return certificate;
}

namespace {

// The conversion to double may round to either side, by less than one unit in the last place, so an inexact result is
// moved to the next double towards `towards`.
double rounded(const Rational& value, double towards) {
  const double nearest = static_cast<double>(value);
  return Rational(nearest) == value ? nearest : std::nextafter(nearest, towards);
}

}  // namespace

PathBounds path_bounds(const TreeCertificate& one_shot, const TreeCertificate& whole_block) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return {rounded(one_shot.lower, -infinity), rounded(one_shot.upper, infinity),
          rounded(whole_block.lower, -infinity), rounded(whole_block.upper, infinity)};
}

std::optional<PathBounds> path_bounds(const TreeSampling& distribution, std::size_t most_nodes) {
  if (distribution.nodes() > most_nodes) return std::nullopt;
  return path_bounds(tree_optimum(distribution, Sight::one_shot), tree_optimum(distribution, Sight::whole_block));
}

}  // namespace draftproof
