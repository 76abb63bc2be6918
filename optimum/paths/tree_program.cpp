#include <draftproof/optimum/paths/tree_program.hpp>

#include <ClpSimplex.hpp>
#include <ClpSolve.hpp>
#include <cmath>
#include <stdexcept>

namespace draftproof {

namespace {

/// Limits may be exceeded by this much. Each of the few binding antichains adds at most this error to the optimum.
constexpr double tolerance = 1e-11;
constexpr std::size_t rows_a_round = 64;

struct Violated {
  double excess, limit;
  std::vector<int> antichain;
};

}  // namespace

Meets meets_of(const TreeSampling& distribution) {
  struct Tree {
    std::vector<char> holds;
    double probability;
  };
  std::vector<Tree> trees;
  for (const TreeSampling::Tree& tree : distribution.trees) {
    trees.push_back({std::vector<char>(distribution.prefixes.size(), 0), static_cast<double>(tree.probability)});
    for (const int node : tree.nodes) trees.back().holds[index(node)] = 1;
  }
  return [trees = std::move(trees)](std::span<const int> antichain) {
    double chance = 0;
    for (const Tree& tree : trees)
      for (const int i : antichain)
        if (tree.holds[index(i)]) {
          chance += tree.probability;
          break;
        }
    return chance;
  };
}

Meets meets_of_paths(const TreeSampling& path, int drafts) {
  std::vector<double> q;
  for (const Rational& chance : reach(path)) q.push_back(static_cast<double>(chance));
  return [q = std::move(q), drafts](std::span<const int> antichain) {
    double sum = 0;
    for (const int i : antichain) sum += q[index(i)];
    return 1 - std::pow(std::max(0.0, 1 - sum), drafts);
  };
}

void for_each_antichain(const TreeSampling& distribution, const std::function<void(std::span<const int>)>& visit) {
  // Prefixes in preorder, each with the index after its last descendant: after a prefix is taken, its descendants are
  // skipped.
  std::vector<std::vector<int>> children(distribution.prefixes.size());
  for (std::size_t i = 1; i < distribution.prefixes.size(); ++i)
    children[index(distribution.prefixes[i].parent)].push_back(static_cast<int>(i));
  std::vector<int> order;
  std::vector<std::size_t> end;
  const std::function<void(int)> visit_from = [&](int i) {
    const std::size_t place = order.size();
    order.push_back(i);
    end.push_back(0);
    for (const int child : children[index(i)]) visit_from(child);
    end[place] = order.size();
  };
  visit_from(0);
  std::vector<int> taken;
  const std::function<void(std::size_t)> choose = [&](std::size_t place) {
    for (; place < order.size(); ++place) {
      taken.push_back(order[place]);
      visit(taken);
      choose(end[place]);
      taken.pop_back();
    }
  };
  choose(1);
}

double antichain_count(const TreeSampling& distribution, double most) {
  // For each prefix: the number of antichains among its descendants, including the empty antichain. It is the product
  // over children of (the child's number + 1).
  std::vector<double> count(distribution.prefixes.size(), 1);
  for (std::size_t i = distribution.prefixes.size() - 1; i > 0; --i)
    count[index(distribution.prefixes[i].parent)] =
        std::min(most + 2, count[index(distribution.prefixes[i].parent)] * (count[i] + 1));
  return std::min(most + 1, count[0] - 1);
}

std::optional<double> antichain_optimum(const TreeSampling& distribution, const Meets& meets, double most) {
  if (antichain_count(distribution, most) > most) return std::nullopt;
  const int columns = static_cast<int>(distribution.prefixes.size()) - 1;  // prefix i is column i - 1
  if (columns == 0) return 0;
  ClpSimplex simplex;
  simplex.setLogLevel(0);
  simplex.resize(0, columns);
  simplex.setOptimizationDirection(-1);  // maximise
  simplex.setPrimalTolerance(1e-11);
  simplex.setDualTolerance(1e-11);
  for (int i = 1; i <= columns; ++i) {
    const int parent = distribution.prefixes[index(i)].parent;
    const double p = static_cast<double>(distribution.step(index(i)));
    simplex.setObjectiveCoefficient(i - 1, 1);
    simplex.setColumnBounds(i - 1, 0, 1);
    const int places[]{i - 1, parent - 1};
    const double values[]{1, -p};
    // a(x) of the empty prefix x is the constant 1, so it has no column. The limits of the first tokens could be column
    // bounds, but are rows, because Clp 1.17 crashes on a program without rows.
    simplex.addRow(parent == 0 ? 1 : 2, places, values, -COIN_DBL_MAX, parent == 0 ? p : 0);
  }
  for (int round = 0; round < 10'000; ++round) {
    simplex.dual();
    if (!simplex.isProvenOptimal()) throw std::runtime_error("antichain program: Clp found no optimum");
    const double* accepted = simplex.primalColumnSolution();
    std::vector<Violated> worst;
    const auto milder = [](const Violated& a, const Violated& b) { return a.excess > b.excess; };
    for_each_antichain(distribution, [&](std::span<const int> antichain) {
      double sum = 0;
      for (const int i : antichain) sum += accepted[i - 1];
      const double limit = meets(antichain), excess = sum - limit;
      if (excess <= tolerance || (worst.size() == rows_a_round && excess <= worst.front().excess)) return;
      if (worst.size() == rows_a_round) {
        std::pop_heap(worst.begin(), worst.end(), milder);
        worst.pop_back();
      }
      worst.push_back({excess, limit, {antichain.begin(), antichain.end()}});
      std::push_heap(worst.begin(), worst.end(), milder);
    });
    if (worst.empty()) return simplex.objectiveValue();
    for (Violated& row : worst) {
      for (int& i : row.antichain) --i;
      const std::vector<double> ones(row.antichain.size(), 1);
      simplex.addRow(static_cast<int>(row.antichain.size()), row.antichain.data(), ones.data(), -COIN_DBL_MAX,
                     row.limit);
    }
  }
  throw std::runtime_error("antichain program: the separation rounds do not end");
}

namespace {

/// A sparse matrix, built column by column.
class Columns {
 public:
  void entry(int row, double value) {
    rows_.push_back(row);
    values_.push_back(value);
  }
  void end(double gain) {
    starts_.push_back(static_cast<CoinBigIndex>(rows_.size()));
    gains_.push_back(gain);
  }
  /// Loads the columns with bounds 0 and infinity, for maximisation.
  void load(ClpSimplex& simplex, const std::vector<double>& lower, const std::vector<double>& upper) const {
    simplex.loadProblem(static_cast<int>(gains_.size()), static_cast<int>(upper.size()), starts_.data(), rows_.data(),
                        values_.data(), nullptr, nullptr, gains_.data(), lower.data(), upper.data());
  }

 private:
  std::vector<CoinBigIndex> starts_{0};
  std::vector<int> rows_;
  std::vector<double> values_, gains_;
};

}  // namespace

TreeProposal solve_tree_program(const TreeSampling& distribution, Sight sight) {
  // The rows are one row for each tree, then the balance of every prefix from 1 on, then the limit of every prefix from
  // 1 on. The columns are a of every prefix from 1 on, then w (tree_program.hpp).
  const int trees = static_cast<int>(distribution.trees.size()),
            prefixes = static_cast<int>(distribution.prefixes.size());
  const auto balance = [&](int i) { return trees + i - 1; };
  const auto limit = [&](int i) { return trees + prefixes - 1 + i - 1; };
  const std::size_t rows = index(trees + 2 * (prefixes - 1));
  std::vector<double> lower(rows, 0), upper(rows, 0);
  for (std::size_t t = 0; t < distribution.trees.size(); ++t)
    lower[t] = upper[t] = static_cast<double>(distribution.trees[t].probability);
  std::vector<double> joint(distribution.prefixes.size(), 1);
  std::vector<std::vector<int>> children(distribution.prefixes.size());
  for (int i = 1; i < prefixes; ++i) {
    const int parent = distribution.prefixes[index(i)].parent;
    children[index(parent)].push_back(i);
    joint[index(i)] = joint[index(parent)] * static_cast<double>(distribution.step(index(i)));
    lower[index(limit(i))] = -COIN_DBL_MAX;
    // a(x) of the empty prefix x is the constant 1, so it has no column.
    upper[index(limit(i))] = sight == Sight::whole_block || parent == 0 ? joint[index(i)] : 0;
  }
  Columns columns;
  for (int i = 1; i < prefixes; ++i) {
    columns.entry(balance(i), -1);
    if (const int parent = distribution.prefixes[index(i)].parent; parent > 0) columns.entry(balance(parent), 1);
    columns.entry(limit(i), 1);
    if (sight == Sight::one_shot)
      for (const int child : children[index(i)])
        if (const double p = static_cast<double>(distribution.step(index(child))); p > 0)
          columns.entry(limit(child), -p);
    columns.end(1);
  }
  for (std::size_t t = 0; t < distribution.trees.size(); ++t)
    for (const int node : distribution.trees[t].nodes) {
      columns.entry(static_cast<int>(t), 1);
      if (node > 0) columns.entry(balance(node), 1);
      columns.end(0);
    }

  ClpSimplex simplex;
  simplex.setLogLevel(0);
  simplex.setOptimizationDirection(-1);  // maximise
  simplex.setPrimalTolerance(1e-11);
  simplex.setDualTolerance(1e-11);
  columns.load(simplex, lower, upper);
  ClpSolve solve;
  // Disables Clp's handler of SIGINT: it would end the solver without an optimum, and it would replace the handler of
  // the whole process.
  solve.setSpecialOption(2, 1);
  simplex.initialSolve(solve);
  if (!simplex.isProvenOptimal()) throw std::runtime_error("tree program: Clp found no optimum");

  TreeProposal proposal{{}, std::vector<double>(distribution.prefixes.size(), 0)};
  const double* column = simplex.primalColumnSolution() + (prefixes - 1);
  for (const TreeSampling::Tree& tree : distribution.trees) {
    proposal.stops.emplace_back(column, column + tree.nodes.size());
    column += tree.nodes.size();
  }
  // The sign of Clp's row prices depends on the direction of optimisation. The price of a limit is the gain of one more
  // unit of it.
  for (int i = 1; i < prefixes; ++i) proposal.prices[index(i)] = std::abs(simplex.dualRowSolution()[limit(i)]);
  return proposal;
}

TreeCertificate tree_optimum(const TreeSampling& distribution, Sight sight) {
  return certify(distribution, sight, solve_tree_program(distribution, sight));
}

}  // namespace draftproof
