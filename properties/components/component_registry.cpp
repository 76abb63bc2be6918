#include <draftproof/properties/components/component_registry.hpp>

#include <stdexcept>
#include <string>

#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/properties/subjects/any_verifier.hpp>

namespace draftproof {

ComponentRegistry& ComponentRegistry::instance() {
  static ComponentRegistry registry;
  return registry;
}

void ComponentRegistry::add(std::unique_ptr<AnyComponent> component) {
  // Look-ups use the name alone, across groups.
  if (this->component(component->info().name))
    throw std::logic_error("registered twice: " + std::string(component->info().name));
  insert_sorted(components_, std::move(component),
                [](const auto& c) { return std::tuple(std::tuple(c->group(), c->kind()), c->info().name); });
}

const AnyComponent* ComponentRegistry::component(std::string_view name) const {
  const auto* found = find_named(components_, name.substr(name.find('/') + 1));
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
