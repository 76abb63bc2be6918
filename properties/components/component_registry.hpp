// The registry of components, by group and name: built-in ones (sim/components) and mutants, which are wrong on
// purpose (verifiers/mutants/components).
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <draftproof/properties/components/component.hpp>

namespace draftproof {

/// Components, sorted by group, then the correct ones before the mutants, then by name.
class ComponentRegistry {
 public:
  /// Returns the process-wide registry, which may not be filled yet; see component_registry().
  static ComponentRegistry& instance();

  /// Throws: std::logic_error if the name is already registered, in any group.
  void add(std::unique_ptr<AnyComponent> component) { components_.add(std::move(component)); }
  const std::vector<std::unique_ptr<AnyComponent>>& components() const { return components_.all(); }
  /// Returns the component by name, or by group and name as in "sampler/alias_sampler"; null if there is none.
  const AnyComponent* component(std::string_view name) const;

 private:
  NamedList<std::unique_ptr<AnyComponent>> components_;
};

/// Returns the registry, with all components.
const ComponentRegistry& component_registry();

/// Returns the finding that `draftproof replay NAME --property CHECK --instance TEXT` prints; nullopt if there
/// is no such component or check. Throws: std::invalid_argument if the text is not a case of its group.
std::optional<Finding> examine_one(std::string_view component, std::string_view check, std::string_view instance);

}  // namespace draftproof
