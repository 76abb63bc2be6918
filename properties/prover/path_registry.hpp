// Everything that was found for paths and trees: verifiers, mutants, drafters and properties, by name. Walks of
// the verifiers of one position are among them.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include <draftproof/properties/paths/path_property.hpp>
#include <draftproof/properties/subjects/any_path_verifier.hpp>

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

}  // namespace draftproof
