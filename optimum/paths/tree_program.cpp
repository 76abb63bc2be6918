#include <draftproof/optimum/paths/tree_program.hpp>

#include <ClpSimplex.hpp>
#include <ClpSolve.hpp>
#include <stdexcept>

namespace draftproof {
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

TreeProposal solve_tree_program(const TreeLaw& law, Sight sight) {
  // Rows: trees, then balances of prefixes 1 .., then their limits. Columns: a of prefixes 1 .., then w.
  const int trees = static_cast<int>(law.trees.size()), prefixes = static_cast<int>(law.prefixes.size());
  const auto balance = [&](int i) { return trees + i - 1; };
  const auto limit = [&](int i) { return trees + prefixes - 1 + i - 1; };
  const std::size_t rows = index(trees + 2 * (prefixes - 1));
  std::vector<double> lower(rows, 0), upper(rows, 0);
  for (std::size_t t = 0; t < law.trees.size(); ++t)
    lower[t] = upper[t] = static_cast<double>(law.trees[t].probability);
  std::vector<double> joint(law.prefixes.size(), 1);
  std::vector<std::vector<int>> children(law.prefixes.size());
  for (int i = 1; i < prefixes; ++i) {
    const int parent = law.prefixes[index(i)].parent;
    children[index(parent)].push_back(i);
    joint[index(i)] = joint[index(parent)] * static_cast<double>(law.step(index(i)));
    lower[index(limit(i))] = -COIN_DBL_MAX;
    // a of the empty prefix is 1 and has no column.
    upper[index(limit(i))] = sight == Sight::whole_block || parent == 0 ? joint[index(i)] : 0;
  }
  Columns columns;
  for (int i = 1; i < prefixes; ++i) {
    columns.entry(balance(i), -1);
    if (const int parent = law.prefixes[index(i)].parent; parent > 0) columns.entry(balance(parent), 1);
    columns.entry(limit(i), 1);
    if (sight == Sight::one_shot)
      for (const int child : children[index(i)])
        if (const double p = static_cast<double>(law.step(index(child))); p > 0) columns.entry(limit(child), -p);
    columns.end(1);
  }
  for (std::size_t t = 0; t < law.trees.size(); ++t)
    for (const int node : law.trees[t].nodes) {
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
  // Clp's own handler of SIGINT ends a program without its optimum, and there is one for all threads: signals stay ours.
  solve.setSpecialOption(2, 1);
  simplex.initialSolve(solve);
  if (!simplex.isProvenOptimal()) throw std::runtime_error("tree program: Clp found no optimum");

  TreeProposal proposal{{}, std::vector<double>(law.prefixes.size(), 0)};
  const double* column = simplex.primalColumnSolution() + (prefixes - 1);
  for (const TreeLaw::Tree& tree : law.trees) {
    proposal.stops.emplace_back(column, column + tree.nodes.size());
    column += tree.nodes.size();
  }
  // The sign of Clp's row prices depends on the direction. The price of a limit is the gain of one more unit of it.
  for (int i = 1; i < prefixes; ++i) proposal.prices[index(i)] = std::abs(simplex.dualRowSolution()[limit(i)]);
  return proposal;
}

TreeCertificate tree_optimum(const TreeLaw& law, Sight sight) {
  return certify(law, sight, solve_tree_program(law, sight));
}

}  // namespace draftproof
