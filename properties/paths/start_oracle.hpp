// The oracle (optimum/paths/certify.hpp) for several starts, each with an optimal plan for the trees drafted there.
// It is the row of the survey that attains the optimum shown beside it.
//
//   plans[c]   the plan for trees drafted from context c
//
// Cost: the linear program of every start to construct; a decision costs that of the oracle.
//
// Source: derived here.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include <draftproof/optimum/paths/certify.hpp>

namespace draftproof {

struct StartOracle {
  static constexpr Info info = [] {
    Info oracle = LpOracle::info;
    oracle.unsupported.explore = "its plans are for the trees of the starts";
    return oracle;
  }();

  std::vector<std::shared_ptr<const OraclePlan>> plans{};

  template <class L>
  auto prepare(const ConditionalModel<L>& conditionals, const TreeShape& shape) const {
    std::vector<OracleTable<typename L::Scalar>> tables;
    for (const auto& plan : plans) tables.push_back(LpOracle{plan}.prepare(conditionals, shape));
    return tables;
  }

  template <class L, class R>
  StepOutput verify(const DraftedTree<L>& at, const std::vector<OracleTable<typename L::Scalar>>& tables,
                    R& random) const {
    return LpOracle{}.verify(at, tables.at(static_cast<std::size_t>(at.tree().context(DraftTree::root))), random);
  }
};

}  // namespace draftproof
