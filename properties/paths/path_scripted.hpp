// Iterations on scripted words: the laws of a toy model in double, drafted trees, and what is wrong with a step
// whatever its law. Edge checks of paths are made of these.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <draftproof/properties/instances/path_instance.hpp>
#include <draftproof/properties/scripted/scripted_decision.hpp>
#include <draftproof/properties/subjects/any_path_verifier.hpp>

namespace draftproof {

using DoubleContexts = PrefixTable<Rows<double>>;
using PathPlayable = PathDecider<Rows<double>, Scripted>;

DoubleContexts double_laws(const PathInstance& instance);

/// One iteration and all that it read.
struct ScriptedStep {
  StepOutput output;
  std::vector<Draw> draws;
};
ScriptedStep run_scripted(PathPlayable& decider, const DraftTree& tree, const VerifierState<double>& carry,
                          Words& words);

/// The tree that `words` draft after `context`.
DraftTree drafted(const AnyTreeDrafter& drafter, const DoubleContexts& conditionals, const TreeShape& shape,
                  Words& words, int context = 0);

/// A step that cannot be: no node, no token, or tokens that the target does not have.
std::optional<std::string> support_fault(const StepOutput& step, const DraftTree& tree,
                                         const DoubleContexts& conditionals);
/// A step that says how many tokens it accepted and emits another number, or more than were drafted.
std::optional<std::string> count_fault(const StepOutput& step, const DraftTree& tree);

/// "[0 2] then 1".
std::string step_text(const StepOutput& step, const DraftTree& tree);

}  // namespace draftproof
