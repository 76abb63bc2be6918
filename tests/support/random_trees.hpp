// Small random models of two or three tokens with zeros and ties, in fractions, and shapes of trees drafted from
// them.
#pragma once

#include <random>

#include <draftproof/properties/paths/tree_optimum.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/sim/trees/conditional_model.hpp>

namespace draftproof {

using ExactContexts = PrefixTable<Rows<Rational>>;

struct SmallTreeModel {
  ExactContexts conditionals;
  TreeShape shape;

  TreeSampling distribution(std::string_view drafter) const {
    return enumerate_tree_sampling(*path_registry().drafter(drafter), conditionals, shape).value();
  }
  TreeSampling distribution(std::string_view drafter, int drafts) const {
    TreeShape other = shape;
    other.drafts = drafts;
    return enumerate_tree_sampling(*path_registry().drafter(drafter), conditionals, other).value();
  }
};

class SmallTreeModels {
 public:
  explicit SmallTreeModels(std::uint64_t seed) : random_{seed} {}

  int below(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }

  /// Returns a model with V = 2 and L in 1 .. 3, or V = 3 and L in 1 .. 2. Its tree shape has K in 1 .. 3 and a stem of
  /// 0 .. L tokens.
  SmallTreeModel next() {
    const int vocabulary = 2 + below(2), length = 1 + below(vocabulary == 2 ? 3 : 2);
    std::vector<Rows<Rational>> rows;
    int level = 1;
    for (int depth = 0; depth <= length; ++depth, level *= vocabulary)
      for (int i = 0; i < level; ++i) rows.emplace_back(row(vocabulary), row(vocabulary));
    return {ExactContexts(std::move(rows)),
            {.drafts = 1 + below(3), .length = length, .branching = {}, .stem = below(length + 1)}};
  }

 private:
  std::vector<Rational> row(int vocabulary) {
    std::vector<int> weights;
    for (int x = 0; x < vocabulary; ++x) weights.push_back(below(5) == 0 ? 0 : 1 + below(9));
    weights[static_cast<std::size_t>(below(vocabulary))] += 1;
    return normalised(weights);
  }

  std::mt19937_64 random_;
};

}  // namespace draftproof
