// Parametric families: target and proposal distributions computed from a few numbers. A family is one header in
// families/. This file has the registry of families and the parser of specifications such as
// `zipf:vocabulary=32000,positions=8`.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <draftproof/captures/row.hpp>

namespace draftproof {

// One record per parameter of a family defines its parsing, range check, default and documentation. Values are
// doubles; counts are doubles without a fraction.

enum class ParameterKind { Real, Whole };

/// `low` and `high` are the inclusive range. `about` is one line and names the unit.
template <class T>
struct Parameter {
  std::string_view name;
  double T::*member;
  double low, high;
  std::string_view about;
  ParameterKind kind = ParameterKind::Real;
};

/// Requires a default-constructible struct whose distributions are a pure function of its members, the seed and the
/// position. `vocabulary` is a member or a constant; an optional member `drafts` is the number of proposals.
template <class T>
concept FamilyLike = std::default_initializable<T> && requires(const T& family) {
  { T::name } -> std::convertible_to<std::string_view>;
  { T::about } -> std::convertible_to<std::string_view>;
  T::parameters();
  { family.vocabulary } -> std::convertible_to<double>;
  { family.pair(std::uint64_t{}, std::size_t{}) } -> std::same_as<RowPair>;
};

/// The fields of Parameter that do not depend on the family's type, for the documentation and the parser.
struct ParameterInfo {
  std::string name;
  std::string about;
  double initial, low, high;
  ParameterKind kind;
};

/// A family with its parameters set. Copies share the immutable distribution.
struct Family {
  std::string name;
  std::vector<std::pair<std::string, double>> settings;  // every parameter, in order, with its value
  std::size_t vocabulary = 0;
  std::size_t drafts = 1;     // number of proposals per position
  std::size_t positions = 1;  // number of positions in the specification; pair() accepts any position
  std::function<RowPair(std::uint64_t seed, std::size_t position)> pair;

  /// Returns name, parameters and positions, for reports.
  nlohmann::json describe() const;
};

/// A registered family: its documentation, and a constructor from values in the order of `parameters`.
struct FamilyInfo {
  std::string name;
  std::string about;
  std::vector<ParameterInfo> parameters;
  std::function<Family(std::span<const double> values)> make;
};

/// Adds a family to the registry; a second registration of a name is ignored. Not thread-safe: call it at the start
/// of main.
void register_family(FamilyInfo info);

/// Returns all registered families, sorted by name.
std::span<const FamilyInfo> known_families();

/// Whether the part of `spec` before its first colon names a registered family.
bool is_family_spec(std::string_view spec);

/// Parses `name` or `name:parameter=number,...`. Every family also takes `positions`. Throws: InputError for unknown
/// families and parameters (with the known names), repeated or malformed parameters, and numbers out of range.
Family parse_family(std::string_view spec);

/// Registers the family type T.
template <FamilyLike T>
void register_family() {
  FamilyInfo info{std::string(T::name), std::string(T::about), {}, {}};
  const T initial{};
  for (const auto& p : T::parameters())
    info.parameters.push_back(
        {std::string(p.name), std::string(p.about), initial.*(p.member), p.low, p.high, p.kind});
  info.make = [](std::span<const double> values) {
    T family{};
    Family result{.name = std::string(T::name), .settings = {}, .pair = {}};
    std::size_t next = 0;
    for (const auto& p : T::parameters()) {
      family.*(p.member) = values[next++];
      result.settings.emplace_back(p.name, family.*(p.member));
    }
    result.vocabulary = static_cast<std::size_t>(family.vocabulary);
    if constexpr (requires { family.drafts; }) result.drafts = static_cast<std::size_t>(family.drafts);
    result.pair = [family](std::uint64_t seed, std::size_t position) { return family.pair(seed, position); };
    return result;
  };
  register_family(std::move(info));
}

}  // namespace draftproof
