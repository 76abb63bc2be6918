// One verifier of paths, one tree sampling, one instance, and the results of their exact enumeration, which
// properties of paths use. It also defines the oracle for several starts, a row of the survey.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <draftproof/optimum/paths/certify.hpp>
#include <draftproof/properties/instances/path_instance.hpp>
#include <draftproof/properties/paths/carried_target.hpp>
#include <draftproof/properties/paths/step_distribution.hpp>
#include <draftproof/properties/proof/property.hpp>

namespace draftproof {

/// Distribution of a verifier's output on one tree: (node, extra token) and its probability, which is positive.
using Outputs = std::map<std::pair<int, Token>, Rational>;

/// One iteration of one trial on tables: the accepted tokens and the extra token.
struct PathTrial {
  Tokens emitted;
  int accepted() const { return static_cast<int>(emitted.size()) - 1; }
};

class PathInstanceAnalysis {
 public:
  using Distributions = Rows<Rational>;
  using Decider = PathDecider<Distributions, Explorer<Rational>>;
  using Visit = std::function<void(const DraftTree& tree, const Rational& drawn)>;

  PathInstanceAnalysis(const AnyPathVerifier& verifier, const AnyTreeDrafter& drafter, const PathInstance& instance,
                       ExplorerLimits limits = {})
      : verifier_{verifier},
        drafter_{drafter},
        instance_{declared_instance(drafter.info(), instance)},
        limits_{limits} {}

  const AnyPathVerifier& verifier() const { return verifier_; }
  const AnyTreeDrafter& drafter() const { return drafter_; }
  /// The instance with the proposals that the drafter declares.
  const PathInstance& instance() const { return instance_; }
  ExplorerLimits limits() const { return limits_; }

  /// Whether verifier and drafter are defined for the drafts of `instance`.
  static bool possible(const AnyPathVerifier& verifier, const AnyTreeDrafter& drafter, const PathInstance& instance);

  /// Returns the exact distribution of one iteration on the instance; cached.
  const StepDistribution<Rational>& distribution();
  /// Returns the exact distribution on a variation of the instance; not cached.
  StepDistribution<Rational> distribution_of(const PathInstance& variation);

  /// Runs trials 0 .. count - 1 of one seed on a variation, also of verifiers that cannot be enumerated.
  std::vector<PathTrial> trials(const PathInstance& variation, int count) const;

  /// Calls `visit` for every tree that may be drafted from `context`. Returns false if the enumeration reached
  /// its limit.
  [[nodiscard]] bool each_tree(const ConditionalModel<Distributions>& conditionals, const TreeShape& shape,
                               const Visit& visit, int context = 0);
  /// Returns the distribution of `decider`'s output on `tree`; nullopt if all trees together exceed the limit.
  std::optional<Outputs> outputs(Decider& decider, const DraftTree& tree, const VerifierState<Rational>& carry = {});

  /// Returns the number of branches enumerated so far.
  std::uint64_t leaves() const { return leaves_; }

 private:
  const AnyPathVerifier& verifier_;
  const AnyTreeDrafter& drafter_;
  PathInstance instance_;
  ExplorerLimits limits_;
  std::optional<StepDistribution<Rational>> distribution_;
  std::uint64_t leaves_ = 0;
};

// A property of verifiers of paths, one per file in properties/paths/checks/; of the same form as a property of
// one position (properties/proof/property.hpp).

using PathProperty = PropertyOf<BlockLevel>;

// The oracle (optimum/paths/certify.hpp) for several starts, each with an optimal plan for the trees drafted
// there. Its row in the survey attains the optimum that the survey prints.
//
//   plans[c]   the plan for trees drafted from context c
//
// Cost: a linear program per start to construct; a decision costs the same as with one start.
//
// Source: derived here.

struct StartOracle {
  static constexpr Info info = [] {
    Info oracle = LpOracle::info;
    oracle.unsupported.explore = "its plans exist only for trees at the start of a text";
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
