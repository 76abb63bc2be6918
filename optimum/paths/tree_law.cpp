#include <draftproof/optimum/paths/tree_law.hpp>

namespace draftproof {

std::vector<Rational> reach(const TreeLaw& law) {
  std::vector<Rational> chance(law.prefixes.size());
  for (const TreeLaw::Tree& tree : law.trees)
    for (const int i : tree.nodes) chance[static_cast<std::size_t>(i)] += tree.probability;
  return chance;
}

void normalise(std::vector<Rational>& weights) {
  Rational sum = 0;
  for (const Rational& weight : weights) sum += weight;
  if (sum == 1) return;
  for (Rational& weight : weights) weight /= sum;
}

std::vector<int> PrefixIndex::nodes_of(const DraftTree& tree) const {
  std::vector<int> numbers(static_cast<std::size_t>(tree.size()));
  for (int u = 0; u < tree.size(); ++u) {
    const int parent = u == DraftTree::root ? -1 : numbers[static_cast<std::size_t>(tree.parent(u))];
    const int number = find(parent, tree.token(u));
    if (number < 0) return {};
    numbers[static_cast<std::size_t>(u)] = number;
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

}  // namespace draftproof
