// Type-erased components around a verifier: batch runners, sources of target rows, samplers. Each group has its
// checks; each check adds one line to a gate's report.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <draftproof/properties/proof/finding.hpp>
#include <draftproof/properties/proof/proof.hpp>
#include <draftproof/properties/proof/property.hpp>
#include <draftproof/properties/subjects/any_verifier.hpp>
#include <draftproof/sim/components/component_info.hpp>

namespace draftproof {

struct ComponentOptions {
  std::uint64_t seed = 1;
  int rounds = 1;  ///< multiplies the number of cases of a check
  /// Whether a failure is repeated in a fork of this process in which the component was not called before. Another
  /// process that a component calls is not forked.
  bool tries_alone = true;
  int cases = 0;  ///< largest number of cases of a check; 0: no limit
};

class AnyComponent {
 public:
  AnyComponent(const ComponentInfo& info, std::string_view group, Kind kind)
      : info_{info}, group_{group}, kind_{kind} {}
  virtual ~AnyComponent() = default;

  const ComponentInfo& info() const { return info_; }
  std::string_view group() const { return group_; }
  /// Returns group and name, "sampler/alias_sampler". A sampler and a verifier may have the same name.
  std::string qualified_name() const { return std::string(group_) + '/' + std::string(info_.name); }
  Kind kind() const { return kind_; }
  /// Whether the component is built in, as opposed to user-defined (registered by the linking program).
  bool builtin() const { return builtin_; }

  /// Returns one finding for each check of the group; failures have the smallest counterexample found by shrinking.
  virtual std::vector<Finding> examine(const ComponentOptions& options) const = 0;
  /// Returns the finding of one check on one case, given as text; nullopt if the group has no such check.
  /// Throws: std::invalid_argument, with the given text and the expected format, if the text is not a case.
  virtual std::optional<Finding> examine_one(std::string_view check, std::string_view instance) const = 0;
  /// Returns for each check the number of cases to which it applies, and how many of these the component fails.
  virtual std::vector<ShownShare> shares(const ComponentOptions& options) const = 0;

 private:
  const ComponentInfo& info_;
  std::string_view group_;
  Kind kind_;
  bool builtin_ = detail::registering_builtin();
};

// The checks of the components of one group, one file per check in properties/components/<group>/checks/.
//
//   Group::Subject   a type-erased component of the group
//   Group::Case      a small test case: text(), parse(text), valid(), ==, shrinks(case)

/// A check file defines a struct with static `name`, `about` and `Answer check(const Subject&, const Case&,
/// std::uint64_t& work)`; `work` counts runs or branches. Optional: `static std::vector<Case>
/// cases(std::uint64_t seed, int rounds)` replaces the group's cases, and `static constexpr Tier tier` marks a
/// proof; the default is edge.
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

/// Returns the registered checks.
template <class Group>
NamedList<CheckOf<Group>>& checks_of() {
  static NamedList<CheckOf<Group>> checks;
  return checks;
}

/// Registers a check. Throws: std::logic_error if the name is already registered.
template <class Check, class Group>
void add_check() {
  Tier tier = Tier::edge;
  if constexpr (requires { Check::tier; }) tier = Check::tier;
  CheckOf<Group> record{Check::name, Check::about, tier, &Check::check, &Group::cases};
  if constexpr (requires { Check::cases(std::uint64_t{}, 1); }) record.cases = &Check::cases;
  checks_of<Group>().add(record);
}

}  // namespace draftproof
