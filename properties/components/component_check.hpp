// The checks of the components of one group, one file a check in properties/components/<group>/checks/.
//
//   Group::Subject   a component of the group with its type erased
//   Group::Case      a small test case: text(), parse(text), valid(), ==, shrinks(case)
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>
#include <vector>

#include <draftproof/properties/proof/property.hpp>
#include <draftproof/properties/subjects/named_list.hpp>

namespace draftproof {

/// A check file defines a struct with `name`, `about` and
/// `Answer check(const Subject&, const Case&, std::uint64_t& work)`, all static; `work` counts runs or branches.
/// `static std::vector<Case> cases(std::uint64_t seed, int rounds)` replaces the group's cases. `static constexpr
/// Tier tier` is needed if the check is a proof; the default is edge.
template <class Group>
struct CheckOf {
  using Subject = typename Group::Subject;
  using Case = typename Group::Case;

  std::string_view name;
  std::string_view about;
  Tier tier;
  Answer (*check)(const Subject&, const Case&, std::uint64_t&);
  std::vector<Case> (*cases)(std::uint64_t seed, int rounds);
};

/// The registered checks, sorted by name.
template <class Group>
std::vector<CheckOf<Group>>& checks_of() {
  static std::vector<CheckOf<Group>> checks;
  return checks;
}

/// Registers a check. Throws: std::logic_error if its name is registered already.
template <class Check, class Group>
void add_check() {
  Tier tier = Tier::edge;
  if constexpr (requires { Check::tier; }) tier = Check::tier;
  CheckOf<Group> record{Check::name, Check::about, tier, &Check::check, &Group::cases};
  if constexpr (requires { Check::cases(std::uint64_t{}, 1); }) record.cases = &Check::cases;
  insert_sorted(checks_of<Group>(), record, [](const auto& check) { return std::tuple(0, check.name); });
}

}  // namespace draftproof
