#include <draftproof/properties/components/component_registry.hpp>

#include <draftproof/properties/prover/registry.hpp>

namespace draftproof {

ComponentRegistry& ComponentRegistry::instance() {
  static ComponentRegistry registry;
  return registry;
}

const AnyComponent* ComponentRegistry::component(std::string_view name) const {
  const auto* found = components_.find(name.substr(name.find('/') + 1));
  return found && (name.find('/') == name.npos || name == found->qualified_name()) ? found : nullptr;
}

const ComponentRegistry& component_registry() {
  registry();  // fills all registries
  return ComponentRegistry::instance();
}

std::optional<Finding> examine_one(std::string_view component, std::string_view check, std::string_view instance) {
  const AnyComponent* found = component_registry().component(component);
  if (!found) return std::nullopt;
  return found->examine_one(check, instance);
}

}  // namespace draftproof
