// The level of a proof: the token of one position, or the step of one iteration over paths or a tree.
// Properties, findings, proofs, the prover and reports are templates over a level.
//
//   Verifier, Drafter   the subjects
//   Instance            a small model of integer weights; has text(), and shrinks(instance) returns smaller ones
//   InstanceAnalysis    the input of a property: possible(..), leaves()
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

#include <draftproof/optimum/exact/rational.hpp>

namespace draftproof {

class AnyVerifier;
class AnyDrafter;
class InstanceAnalysis;
struct Instance;
class AnyPathVerifier;
class AnyTreeDrafter;
class PathInstanceAnalysis;
struct PathInstance;

template <class Level>
struct PropertyOf;

struct TokenLevel {
  using Verifier = AnyVerifier;
  using Drafter = AnyDrafter;
  using Instance = draftproof::Instance;
  using InstanceAnalysis = draftproof::InstanceAnalysis;

  static constexpr std::string_view name = "position";
  static constexpr std::string_view example = "p=(1 1)/2 q=(0 1)/1 K=1";  ///< an instance as text
  static constexpr int instances = 500;  ///< default number of instances per verifier and draft sampling
  /// Properties that decide losslessness: if one of them applies and passes, the verifier is proved lossless.
  static constexpr std::array<std::string_view, 1> decisive{"exact_distribution"};
  static const std::vector<PropertyOf<TokenLevel>>& properties();
  /// Returns the total variation between output and target; nullopt if the tree is too large to enumerate.
  static std::optional<Rational> distance(InstanceAnalysis& at);
};

struct BlockLevel {
  using Verifier = AnyPathVerifier;
  using Drafter = AnyTreeDrafter;
  using Instance = PathInstance;
  using InstanceAnalysis = PathInstanceAnalysis;

  static constexpr std::string_view name = "paths";
  static constexpr std::string_view example = "L=1 K=1 [] p=(1 1)/2 q=(0 1)/1";
  static constexpr int instances = 240;
  static constexpr std::array<std::string_view, 2> decisive{"completed_distribution", "process_distribution"};
  static const std::vector<PropertyOf<BlockLevel>>& properties();
  /// Returns the total variation between completed steps and target; nullopt also for schemes with state.
  static std::optional<Rational> distance(InstanceAnalysis& at);
};

/// Returns `position` or `paths`, for properties that differ between the levels.
template <class Level, class Position, class Paths>
constexpr auto on_level(Position position, Paths paths) {
  if constexpr (std::is_same_v<Level, TokenLevel>)
    return position;
  else
    return paths;
}

}  // namespace draftproof
