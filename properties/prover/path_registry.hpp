// The registry for paths and trees: verifiers, mutants, drafters and properties, by name. It contains the verifiers
// of one position lifted to trees.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include <draftproof/properties/paths/path_analysis.hpp>
#include <draftproof/properties/subjects/any_path_verifier.hpp>
#include <draftproof/sim/info.hpp>
#include <draftproof/sim/trees/tree_drafter.hpp>

namespace draftproof {

/// Filled together with the registry of one position (registry.hpp). Sorted by name, verifiers before mutants.
class PathRegistry {
 public:
  /// The process-wide registry, possibly not filled yet; see path_registry().
  static PathRegistry& instance();

  /// Throws: std::logic_error if the name is registered already.
  void add(std::unique_ptr<AnyPathVerifier> verifier);
  void add(std::unique_ptr<AnyTreeDrafter> drafter);
  void add(const PathProperty& property);

  /// The verifiers for which there is a drafter of trees.
  const std::vector<std::unique_ptr<AnyPathVerifier>>& verifiers() const { return verifiers_; }
  const std::vector<std::unique_ptr<AnyTreeDrafter>>& drafters() const { return drafters_; }
  /// Drafters that declare the trees of another law, wrong ones and those with a row of their own. They are not among
  /// drafters().
  const std::vector<std::unique_ptr<AnyTreeDrafter>>& wrong_drafters() const { return by_name_; }
  const std::vector<PathProperty>& properties() const { return properties_; }

  /// Null if there is none of that name.
  const AnyPathVerifier* verifier(std::string_view name) const;
  const AnyTreeDrafter* drafter(std::string_view name) const;
  /// The drafters whose trees the verifier is written for, sorted by name.
  std::vector<const AnyTreeDrafter*> drafters_of(const Info& info) const;
  /// The same of the drafters that are found by name alone.
  std::vector<const AnyTreeDrafter*> wrong_drafters_of(const Info& info) const;

 private:
  std::vector<std::unique_ptr<AnyPathVerifier>> verifiers_, waiting_;  ///< waiting_: no drafter of trees yet
  std::vector<std::unique_ptr<AnyTreeDrafter>> drafters_, by_name_;
  std::vector<PathProperty> properties_;
};

/// The registry with the whole library in it.
const PathRegistry& path_registry();

// Matching of path verifiers and trees: a verifier names draft laws, and a tree drafter names the laws of its
// siblings. Neither lists the other, so a new drafter is matched without changes to the verifiers.

/// Whether the verifier names these trees, or a law that their siblings have for it.
constexpr bool takes_trees(const Info& verifier, const TreeDrafterInfo& trees) {
  if (verifier.drafts.includes(trees.name) ||
      (!trees.declared_as.empty() && verifier.drafts.includes(trees.declared_as)))
    return true;
  for (std::size_t i = 0; i < verifier.drafts.count; ++i) {
    const std::string_view law = verifier.drafts.names[i];
    if (trees.siblings.lists(law) || (verifier.sequential && trees.siblings_sequential.lists(law))) return true;
  }
  return false;
}

}  // namespace draftproof
