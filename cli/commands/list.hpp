// `draftproof list`: everything registered.
#pragma once

#include <algorithm>

#include <draftproof/cli/inventory.hpp>

namespace draftproof::commands {

struct List {
  static constexpr std::string_view name = "list";
  static constexpr std::string_view about = "verifiers, mutants, draft laws, properties, families and studies";

  void declare(CLI::App&) {}

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
    for (const Listed& entry : inventory()) add(entry.kind, entry.name, entry.about);
    session.write(document);
    return exit_held;
  }
};

}  // namespace draftproof::commands
