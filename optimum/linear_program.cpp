#include <draftproof/optimum/linear_program.hpp>

#include <ClpSimplex.hpp>
#include <stdexcept>
#include <vector>

namespace draftproof {

double linear_program_optimum(std::span<const double> target, const std::map<TokenSet, double>& drafts) {
  // Rows: tokens, then sets. Columns: pairs (A, x), each in two rows.
  const int tokens = static_cast<int>(target.size());
  std::vector<CoinBigIndex> starts{0};
  std::vector<int> rows;
  std::vector<double> limits(target.begin(), target.end());
  for (const auto& [set, probability] : drafts) {
    const int row = static_cast<int>(limits.size());
    limits.push_back(probability);
    for (int x = 0; x < tokens; ++x) {
      if (!(set >> x & 1)) continue;
      rows.push_back(x);
      rows.push_back(row);
      starts.push_back(static_cast<CoinBigIndex>(rows.size()));
    }
  }
  const std::vector<double> ones(rows.size(), 1.0), objective(starts.size() - 1, 1.0);
  ClpSimplex simplex;
  simplex.setLogLevel(0);
  simplex.setOptimizationDirection(-1);  // maximise
  simplex.setPrimalTolerance(1e-11);
  simplex.setDualTolerance(1e-11);
  // Null arguments: variables range from 0 to infinity, rows are unbounded below.
  simplex.loadProblem(static_cast<int>(objective.size()), static_cast<int>(limits.size()), starts.data(), rows.data(),
                      ones.data(), nullptr, nullptr, objective.data(), nullptr, limits.data());
  simplex.primal();
  if (!simplex.isProvenOptimal()) throw std::runtime_error("linear program: Clp found no optimum");
  return simplex.objectiveValue();
}

}  // namespace draftproof
