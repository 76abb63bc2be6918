#include <draftproof/report/page/records.hpp>

#include <algorithm>

namespace draftproof::page {

namespace {

bool lists_objects(const Json& value) { return value.is_array() && !value.empty() && value.front().is_object(); }

/// Adds the scalars of `object` and of the objects in it; lists of objects are tables of their own.
void flatten(const Json& object, const std::string& prefix, Json& row) {
  for (const auto& [key, value] : object.items()) {
    if (value.is_object())
      flatten(value, prefix + key + ".", row);
    else if (!lists_objects(value))
      row[prefix + key] = value;
  }
}

/// What names an element of a list in the rows of the lists inside it.
Json names_of(const Json& parent) {
  Json names = Json::object();
  for (const char* key : {"level", "source", "verifier", "mutant", "law", "tier", "with"})
    if (const Json& value = member(parent, key); value.is_string()) names[key] = value;
  return names;
}

void add_table(const std::string& name, const Json& list, const Json& names, std::vector<Records>& tables) {
  for (const Json* element : objects_in(list)) {
    auto table = std::find_if(tables.begin(), tables.end(), [&](const Records& known) { return known.name == name; });
    if (table == tables.end()) table = tables.insert(tables.end(), {name, {}, {}});
    Json row = names;
    flatten(*element, "", row);
    table->rows.push_back(std::move(row));
    Json below = names;
    below.update(names_of(*element));
    for (const auto& [key, value] : element->items())
      if (lists_objects(value)) add_table(name + "." + key, value, below, tables);
  }
}

}  // namespace

std::vector<Records> records_in(const Json& data) {
  std::vector<Records> tables;
  if (!data.is_object()) return tables;
  for (const auto& [key, value] : data.items())
    if (lists_objects(value)) add_table(key, value, Json::object(), tables);
  for (Records& table : tables)
    for (const Json& row : table.rows)
      for (const auto& item : row.items())
        if (std::find(table.columns.begin(), table.columns.end(), item.key()) == table.columns.end())
          table.columns.push_back(item.key());
  return tables;
}

Records main_records(const Json& data) {
  auto tables = records_in(data);
  std::size_t chosen = 0;
  for (const char* name : {"sources.optimum", "sources.rows"})
    for (std::size_t i = 0; i < tables.size(); ++i)
      if (tables[i].name == name) chosen = i;
  Records found = tables.empty() ? Records{} : std::move(tables[chosen]);
  if (member(data, "complete") != false) return found;
  found.columns.emplace_back("complete");
  if (found.rows.empty()) found.rows.push_back(Json::object());
  for (Json& row : found.rows) row["complete"] = false;
  return found;
}

}  // namespace draftproof::page
