// The registry of components, by group and name: correct ones of sim/components, wrong ones of verifiers/mutants/components.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <draftproof/properties/components/component.hpp>

namespace draftproof {

/// Sorted by group; correct before wrong ones, then by name.
class ComponentRegistry {
 public:
  /// The process-wide registry, possibly not filled yet; see component_registry().
  static ComponentRegistry& instance();

  /// Throws: std::logic_error if the name is registered already, in any group.
  void add(std::unique_ptr<AnyComponent> component) { components_.add(std::move(component)); }
  const std::vector<std::unique_ptr<AnyComponent>>& components() const { return components_.all(); }
  /// By name, or by group and name as in "sampler/alias_sampler"; null if there is none.
  const AnyComponent* component(std::string_view name) const;

 private:
  NamedList<std::unique_ptr<AnyComponent>> components_;
};

/// The registry with the whole library in it.
const ComponentRegistry& component_registry();

/// The finding that `draftproof replay NAME --property CHECK --instance TEXT` shows; nothing if there is no such
/// component or check. Throws: std::invalid_argument if the text is not a case of its group.
std::optional<Finding> examine_one(std::string_view component, std::string_view check, std::string_view instance);

}  // namespace draftproof
