// Every component that was found, by group and name: correct ones of sim/components, wrong ones of
// mutants/components.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include <draftproof/properties/components/component.hpp>

namespace draftproof {

/// Sorted by group, correct ones before wrong ones, then by name.
class ComponentRegistry {
 public:
  static ComponentRegistry& instance();

  void add(std::unique_ptr<AnyComponent> component);
  const std::vector<std::unique_ptr<AnyComponent>>& components() const { return components_; }
  /// By name, or group and name as in "sampler/alias_sampler"; null if there is none.
  const AnyComponent* component(std::string_view name) const;

 private:
  std::vector<std::unique_ptr<AnyComponent>> components_;
};

/// With everything of this library in it.
const ComponentRegistry& component_registry();

/// What `draftproof replay NAME --property CHECK --instance TEXT` shows. Nothing if there is no such component
/// or check; throws std::invalid_argument if the text is no case of its group.
std::optional<GateFinding> examine_one(std::string_view component, std::string_view check, std::string_view instance);

}  // namespace draftproof
