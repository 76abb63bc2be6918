// The subject of a proof: the token of one position, or the step of one iteration over paths or a tree. Properties,
// findings, proofs, the prover and reports are written once over a level.
//
//   Verifier, Drafter   what is examined
//   Instance            a small model of integer weights; has text(), and shrinks(instance) shrinks it
//   InstanceAnalysis         where a property works: possible(..), leaves()
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
  static constexpr std::string_view example = "p=(1 1)/2 q=(0 1)/1 K=1";  ///< of an instance
  static constexpr int instances = 500;                                   ///< per verifier and draft law, by default
  /// Properties that decide losslessness; one that applies and holds is a proof.
  static constexpr std::array<std::string_view, 1> decisive{"exact_law"};
  static const std::vector<PropertyOf<TokenLevel>>& properties();
  /// Total variation between the output law and the target; nothing where the tree is too large to walk.
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
  static constexpr std::array<std::string_view, 2> decisive{"completed_law", "process_law"};
  static const std::vector<PropertyOf<BlockLevel>>& properties();
  /// The same between completed steps and the target; nothing for schemes with state.
  static std::optional<Rational> distance(InstanceAnalysis& at);
};

/// What a property written once has of its own on either level: `position` or `paths`.
template <class Level, class Position, class Paths>
constexpr auto on_level(Position position, Paths paths) {
  if constexpr (std::is_same_v<Level, TokenLevel>)
    return position;
  else
    return paths;
}

}  // namespace draftproof
