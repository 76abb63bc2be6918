#include <draftproof/optimum/paths/path_bounds.hpp>

#include <cmath>
#include <limits>

#include <draftproof/optimum/paths/tree_program.hpp>

namespace draftproof {
namespace {

// The conversion may round to either side by less than one unit in the last place.
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

std::optional<PathBounds> path_bounds(const TreeLaw& law, std::size_t most_nodes) {
  if (law.nodes() > most_nodes) return std::nullopt;
  return path_bounds(tree_optimum(law, Sight::one_shot), tree_optimum(law, Sight::whole_block));
}

}  // namespace draftproof
