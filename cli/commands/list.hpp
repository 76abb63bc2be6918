// `draftproof list`: everything registered.
#pragma once

#include <algorithm>

#include <draftproof/captures/family.hpp>
#include <draftproof/cli/register_command.hpp>
#include <draftproof/properties/components/component_registry.hpp>
#include <draftproof/properties/prover/path_registry.hpp>
#include <draftproof/properties/prover/registry.hpp>

namespace draftproof::commands {

struct List {
  static constexpr std::string_view name = "list";
  static constexpr std::string_view about = "verifiers, mutants, draft laws, properties, families and studies";

  void declare(CLI::App&) {}

  /// Heading of a kind of schemes.
  static std::string plural(Kind kind) {
    return kind == Kind::lossy ? "lossy schemes" : std::string(name_of(kind)) + "s";
  }

  int run(const Session& session) const {
    Document document;
    document.data = {{"schema", "draftproof.list/2"}};
    const auto add = [&document](const std::string& kind, std::string_view item, std::string_view summary) {
      if (document.sections.empty() || document.sections.back().title != kind)
        document.sections.push_back({.title = kind, .table = {{{"name"}, {"what it is"}}, {}}});
      document.sections.back().table.rows.push_back({{std::string(item)}, {std::string(summary)}});
      std::string field = kind;
      std::replace(field.begin(), field.end(), ' ', '_');
      document.data[field].push_back({{"name", item}, {"summary", summary}});
    };
    for (const auto& verifier : registry().verifiers())
      add(plural(verifier->kind()), verifier->info().name, verifier->info().summary);
    for (const auto& drafter : registry().drafters())
      add("draft laws", drafter->info().name, drafter->info().summary);
    for (const auto& drafter : registry().wrong_drafters())
      add("wrong drafters", drafter->info().name, drafter->info().summary);
    for (const Property& property : registry().properties()) add("properties", property.name, property.about);
    for (const auto& verifier : path_registry().verifiers())
      add("path " + plural(verifier->kind()), verifier->info().name, verifier->info().summary);
    for (const auto& drafter : path_registry().drafters())
      add("tree laws", drafter->info().name, drafter->info().summary);
    for (const PathProperty& property : path_registry().properties())
      add("path properties", property.name, property.about);
    for (const auto& component : component_registry().components())
      add(component->kind() == Kind::verifier ? "components" : "wrong components", component->qualified_name(),
          component->info().summary);
    for (const Generator& generator : registry().generators()) add("instances", generator.name, generator.about);
    for (const FamilyInfo& family : known_families()) add("families", family.name, family.about);
    for (const Listed& entry : more_to_list()) add(entry.kind, entry.name, entry.about);
    session.write(document);
    return exit_held;
  }
};

}  // namespace draftproof::commands
