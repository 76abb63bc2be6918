// Iterations on scripted words: the laws of a toy model in double, drafted trees, and faults of a step that no law
// permits. Edge checks of paths use them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <draftproof/properties/instances/path_instance.hpp>
#include <draftproof/properties/scripted/scripted_decision.hpp>
#include <draftproof/properties/subjects/any_path_verifier.hpp>

namespace draftproof {

using DoubleContexts = PrefixTable<Rows<double>>;
using PathPlayable = PathDecider<Rows<double>, Scripted>;

/// The instance's model in double; `rows_of` makes the rows after each prefix.
DoubleContexts double_laws(const PathInstance& instance);
DoubleContexts double_laws(const PathInstance& instance,
                           const std::function<Rows<double>(const PrefixWeights&)>& rows_of);

/// One iteration with all its draws.
struct ScriptedStep {
  StepOutput output;
  std::vector<Draw> draws;
};
/// Runs one iteration on `words`.
ScriptedStep run_scripted(PathPlayable& decider, const DraftTree& tree, const VerifierState<double>& carry,
                          Words& words);

/// The tree that `words` draft after `context`.
DraftTree drafted(const AnyTreeDrafter& drafter, const DoubleContexts& conditionals, const TreeShape& shape,
                  Words& words, int context = 0);

/// The fault of a step with an invalid node or token, or with tokens outside the target's support; nothing if it has
/// none.
std::optional<std::string> support_fault(const StepOutput& step, const DraftTree& tree,
                                         const DoubleContexts& conditionals);
/// The fault of a step whose number of accepted tokens differs from its emitted tokens or exceeds the drafts; nothing
/// if it has none.
std::optional<std::string> count_fault(const StepOutput& step, const DraftTree& tree);

/// The accepted tokens and the extra token, as "[0 2] then 1".
std::string step_text(const StepOutput& step, const DraftTree& tree);

}  // namespace draftproof
