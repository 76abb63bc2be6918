#include <draftproof/optimum/paths/tree_certificate.hpp>

#include <set>

namespace draftproof {

std::vector<Rational> reach(const TreeSampling& distribution) {
  std::vector<Rational> chance(distribution.prefixes.size());
  for (const TreeSampling::Tree& tree : distribution.trees)
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

namespace {

std::string name(const TreeSampling& distribution, int i) {
  std::string text;
  for (; distribution.prefixes[index(i)].parent >= 0; i = distribution.prefixes[index(i)].parent)
    text = std::to_string(distribution.prefixes[index(i)].token) + (text.empty() ? "" : " ") + text;
  return "(" + text + ")";
}

std::string reject_prefixes(const TreeSampling& distribution) {
  if (distribution.prefixes.empty() || distribution.prefixes[0].parent != -1 || distribution.prefixes[0].depth != 0)
    return "prefix 0 is not the empty one";
  const std::size_t vocabulary = distribution.prefixes[0].target.size();
  std::set<std::pair<int, Token>> seen;
  for (std::size_t i = 0; i < distribution.prefixes.size(); ++i) {
    const auto& [parent, token, depth, target] = distribution.prefixes[i];
    const std::string which = "prefix " + std::to_string(i);
    if (i > 0) {
      if (parent < 0 || index(parent) >= i) return which + " does not come after its parent";
      if (depth != distribution.prefixes[index(parent)].depth + 1) return which + " has the wrong depth";
      if (token < 0 || index(token) >= vocabulary) return which + " ends with no token of the vocabulary";
      if (!seen.emplace(parent, token).second) return which + " is listed twice";
    }
    if (target.size() != vocabulary) return which + " has a target of another vocabulary";
    Rational sum = 0;
    for (const Rational& p : target) {
      if (p < 0) return which + " has a target with the negative probability " + to_text(p);
      sum += p;
    }
    if (sum != 1) return which + " has a target that sums to " + to_text(sum);
  }
  return "";
}

std::string reject_trees(const TreeSampling& distribution) {
  Rational sum = 0;
  std::set<std::vector<int>> seen;
  for (std::size_t t = 0; t < distribution.trees.size(); ++t) {
    const auto& [nodes, probability] = distribution.trees[t];
    const std::string which = "tree " + std::to_string(t);
    if (probability < 0) return which + " has probability " + to_text(probability);
    sum += probability;
    if (nodes.empty() || nodes[0] != 0) return which + " does not hold the empty prefix";
    const std::set<int> members(nodes.begin(), nodes.end());
    for (std::size_t j = 1; j < nodes.size(); ++j) {
      if (nodes[j] <= nodes[j - 1]) return which + " has its nodes out of order";
      if (index(nodes[j]) >= distribution.prefixes.size()) return which + " has a node that is not a prefix";
      if (!members.contains(distribution.prefixes[index(nodes[j])].parent))
        return which + " has a node without its parent";
    }
    if (!seen.insert(nodes).second) return which + " is listed twice";
  }
  return sum == 1 ? "" : "the trees' probabilities sum to " + to_text(sum);
}

std::string reject_plan(const TreeSampling& distribution, Sight sight, const TreeCertificate& certificate) {
  if (certificate.stops.size() != distribution.trees.size()) return "the plan is for another number of trees";
  std::vector<Rational> accepted(distribution.prefixes.size());
  Rational value = 0;
  for (std::size_t t = 0; t < distribution.trees.size(); ++t) {
    const TreeSampling::Tree& tree = distribution.trees[t];
    if (certificate.stops[t].size() != tree.nodes.size())
      return "the plan has another number of nodes for tree " + std::to_string(t);
    Rational sum = 0;
    for (std::size_t j = 0; j < tree.nodes.size(); ++j) {
      const Rational& mass = certificate.stops[t][j];
      const int node = tree.nodes[j];
      if (mass < 0)
        return "the plan stops at " + name(distribution, node) + " of tree " + std::to_string(t) + " with " +
               to_text(mass);
      sum += mass;
      value += distribution.prefixes[index(node)].depth * mass;
      accepted[index(node)] += mass;
    }
    if (sum != tree.probability)
      return "the plan uses " + to_text(sum) + " of tree " + std::to_string(t) + ", drafted with " +
             to_text(tree.probability);
  }
  for (std::size_t i = distribution.prefixes.size() - 1; i > 0; --i)
    accepted[index(distribution.prefixes[i].parent)] += accepted[i];
  std::vector<Rational> joint(distribution.prefixes.size(), 1);
  for (std::size_t i = 1; i < distribution.prefixes.size(); ++i) {
    const std::size_t parent = index(distribution.prefixes[i].parent);
    joint[i] = joint[parent] * distribution.step(i);
    const Rational limit = sight == Sight::one_shot ? Rational(accepted[parent] * distribution.step(i)) : joint[i];
    if (accepted[i] > limit)
      return "the plan accepts " + name(distribution, static_cast<int>(i)) + " with " + to_text(accepted[i]) +
             ", above " + to_text(limit);
  }
  return value == certificate.lower
             ? ""
             : "the plan accepts " + to_text(value) + " tokens, not " + to_text(certificate.lower);
}

std::string reject_prices(const TreeSampling& distribution, Sight sight, const TreeCertificate& certificate) {
  const auto& prices = certificate.prices;
  if (prices.size() != distribution.prefixes.size()) return "there are prices for another number of prefixes";
  if (prices[0] != 0) return "the price of the empty prefix is " + to_text(prices[0]);
  // worth[n] is g(n) (tree_certificate.hpp): the depth of n, less the prices of the prefixes up to n, plus in one shot
  // the prices of their children, weighted by p.
  std::vector<Rational> worth(distribution.prefixes.size()), joint(distribution.prefixes.size(), 1);
  Rational value = 0;
  for (std::size_t i = 1; i < distribution.prefixes.size(); ++i) {
    if (prices[i] < 0) return "the price of " + name(distribution, static_cast<int>(i)) + " is " + to_text(prices[i]);
    const std::size_t parent = index(distribution.prefixes[i].parent);
    joint[i] = joint[parent] * distribution.step(i);
    if (sight == Sight::one_shot)
      worth[parent] += distribution.step(i) * prices[i];
    else
      value += joint[i] * prices[i];
    worth[i] += 1 - prices[i];
  }
  for (std::size_t i = 1; i < distribution.prefixes.size(); ++i)
    worth[i] += worth[index(distribution.prefixes[i].parent)];
  for (const TreeSampling::Tree& tree : distribution.trees) {
    Rational largest = worth[0];
    for (const int node : tree.nodes)
      if (worth[index(node)] > largest) largest = worth[index(node)];
    value += tree.probability * largest;
  }
  return value == certificate.upper ? ""
                                    : "the prices prove " + to_text(value) + ", not " + to_text(certificate.upper);
}

}  // namespace

std::string reject(const TreeSampling& distribution) {
  const std::string reason = reject_prefixes(distribution);
  return reason.empty() ? reject_trees(distribution) : reason;
}

std::string reject(const TreeSampling& distribution, Sight sight, const TreeCertificate& certificate) {
  std::string reason = reject(distribution);
  if (reason.empty()) reason = reject_plan(distribution, sight, certificate);
  if (reason.empty()) reason = reject_prices(distribution, sight, certificate);
  return reason;
}

}  // namespace draftproof
