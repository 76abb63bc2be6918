// Lists that are sorted by a key and contain every key once. The registries are made of them.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace draftproof {

/// Inserts `item` so that `list` stays sorted by `key`, a tuple whose second part is the name.
/// Throws: std::logic_error if the key is in the list; reports could not tell the two apart.
template <class List, class Item, class Key>
void insert_sorted(List& list, Item&& item, Key key) {
  const auto place =
      std::lower_bound(list.begin(), list.end(), item, [&](const auto& a, const auto& b) { return key(a) < key(b); });
  if (place != list.end() && key(*place) == key(item))
    throw std::logic_error("registered twice: " + std::string(std::get<1>(key(item))));
  list.insert(place, std::forward<Item>(item));
}

/// The item whose info has this name, or null.
template <class List>
auto find_named(const List& list, std::string_view name) {
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const auto& item) { return item->info().name == name; });
  return found == list.end() ? nullptr : found->get();
}

}  // namespace draftproof
