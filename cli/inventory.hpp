// Everything registered, in the order of `draftproof list`.
#pragma once

#include <string>
#include <vector>

#include <draftproof/captures/family.hpp>
#include <draftproof/cli/register_command.hpp>
#include <draftproof/properties/components/component_registry.hpp>
#include <draftproof/properties/prover/path_registry.hpp>
#include <draftproof/properties/prover/registry.hpp>

namespace draftproof {

/// Verifiers, laws, properties, components, instances, families, and what other libraries have added. Entries of one
/// kind follow each other.
inline std::vector<Listed> inventory() {
  std::vector<Listed> all;
  const auto add = [&all](std::string kind, std::string_view name, std::string_view about) {
    all.push_back({std::move(kind), std::string(name), std::string(about)});
  };
  const auto plural = [](Kind kind) {
    return kind == Kind::lossy ? "lossy schemes" : std::string(name_of(kind)) + "s";
  };
  for (const auto& one : registry().verifiers()) add(plural(one->kind()), one->info().name, one->info().summary);
  for (const auto& one : registry().drafters()) add("draft laws", one->info().name, one->info().summary);
  for (const auto& one : registry().wrong_drafters()) add("wrong drafters", one->info().name, one->info().summary);
  for (const auto& one : path_registry().wrong_drafters())
    if (one->info().wrong) add("wrong drafters", one->info().name, one->info().summary);
  for (const Property& one : registry().properties()) add("properties", one.name, one.about);
  for (const auto& one : path_registry().verifiers())
    add("path " + plural(one->kind()), one->info().name, one->info().summary);
  for (const auto& one : path_registry().drafters()) add("tree laws", one->info().name, one->info().summary);
  for (const auto& one : path_registry().wrong_drafters())  // those that declare a row of their own
    if (!one->info().wrong) add("tree laws", one->info().name, one->info().summary);
  for (const PathProperty& one : path_registry().properties()) add("path properties", one.name, one.about);
  for (const auto& one : component_registry().components())
    add(one->kind() == Kind::verifier ? "components" : "wrong components", one->qualified_name(),
        one->info().summary);
  for (const Generator& one : registry().generators()) add("instances", one.name, one.about);
  for (const FamilyInfo& one : known_families()) add("families", one.name, one.about);
  all.insert(all.end(), more_to_list().begin(), more_to_list().end());
  return all;
}

}  // namespace draftproof
