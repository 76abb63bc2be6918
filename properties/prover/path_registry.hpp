// Everything that was found for paths and trees: verifiers, mutants, drafters and properties, by name. Walks of
// the verifiers of one position are among them.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include <draftproof/properties/paths/path_analysis.hpp>
#include <draftproof/properties/subjects/any_path_verifier.hpp>
#include <draftproof/sim/info.hpp>
#include <draftproof/sim/trees/tree_drafter.hpp>

namespace draftproof {

/// Filled together with the registry of one position (registry.hpp); sorted by name, verifiers before mutants.
class PathRegistry {
 public:
  static PathRegistry& instance();

  void add(std::unique_ptr<AnyPathVerifier> verifier);
  void add(std::unique_ptr<AnyTreeDrafter> drafter);
  void add(const PathProperty& property);

  /// Those there are trees for.
  const std::vector<std::unique_ptr<AnyPathVerifier>>& verifiers() const { return verifiers_; }
  const std::vector<std::unique_ptr<AnyTreeDrafter>>& drafters() const { return drafters_; }
  const std::vector<PathProperty>& properties() const { return properties_; }

  /// Null if there is none of that name.
  const AnyPathVerifier* verifier(std::string_view name) const;
  const AnyTreeDrafter* drafter(std::string_view name) const;
  /// The drafters whose trees the verifier is written for.
  std::vector<const AnyTreeDrafter*> drafters_of(const Info& info) const;

 private:
  std::vector<std::unique_ptr<AnyPathVerifier>> verifiers_, waiting_;  ///< waiting for a drafter of trees for it
  std::vector<std::unique_ptr<AnyTreeDrafter>> drafters_;
  std::vector<PathProperty> properties_;
};

/// The registry with everything of this library in it.
const PathRegistry& path_registry();

// Which verifiers of paths are written for which trees: where the laws that verifiers name meet what tree drafters
// say of their trees. Neither side lists the other, so one more drafter finds its verifiers by itself.

/// The verifier names the trees, or a law that their siblings have for it.
constexpr bool takes_trees(const Info& verifier, const TreeDrafterInfo& trees) {
  if (verifier.drafts.includes(trees.name)) return true;
  for (std::size_t i = 0; i < verifier.drafts.count; ++i) {
    const std::string_view law = verifier.drafts.names[i];
    if (trees.siblings.lists(law) || (verifier.sequential && trees.siblings_in_turn.lists(law))) return true;
  }
  return false;
}

}  // namespace draftproof
