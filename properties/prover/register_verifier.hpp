// Adds verifiers, mutants and drafters to the registries of positions and of paths; checks their Info, and
// stores registration errors.
#pragma once

#include <exception>
#include <string>
#include <vector>

#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/properties/subjects/erased.hpp>
#include <draftproof/properties/subjects/path_erased.hpp>
#include <draftproof/sim/info.hpp>
#include <draftproof/sim/trees/node_by_node.hpp>

namespace draftproof {

// Registration of the types that a file defines. The compiler checks their Info; errors that are found at run time,
// such as a name that is registered twice, are stored until a program reports them.
//
// Correctness: the files of a user's project are registered before main(), where an exception would call
// std::terminate() without a message.

/// Returns the registration errors so far, one line each: names that were registered twice. A program that registers
/// files reports these errors first.
inline std::vector<std::string>& registration_mistakes() {
  static std::vector<std::string> mistakes;
  return mistakes;
}

/// Calls `add` and stores the message of its exception.
template <class Add>
void keep_mistakes(const Add& add) {
  try {
    add();
  } catch (const std::exception& error) {
    registration_mistakes().emplace_back(error.what());
  }
}

/// Rejects an Info without name or summary, with an impossible range of drafts, or without the tau that its promise
/// requires. `.drafts = any_draft_sampling`, the default, is for verifiers that support every draft sampling.
template <class V>
constexpr void check_info() {
  static_assert(!V::info.name.empty(), "Info: .name is missing; it is the file's name in snake_case");
  static_assert(!V::info.summary.empty(), "Info: .summary is missing; it has one line");
  static_assert(
      V::info.fewest_drafts >= 1 && (V::info.most_drafts == 0 || V::info.most_drafts >= V::info.fewest_drafts),
      "Info: .fewest_drafts is at least 1, and .most_drafts is 0 or not below it");
  static_assert(V::info.promise != Promise::lossless_up_to || V::info.tau > 0,
                "Info: .promise = lossless_up_to needs .tau, the largest distance from p");
}

#ifndef __OPTIMIZE__
/// Each unoptimised source has this variable, whose initialisation sets unoptimised_sources. It has internal linkage,
/// so that optimised sources do not share it.
[[maybe_unused]] static const bool marked_as_unoptimised = (unoptimised_sources = true);
#endif

// Adds a verifier, mutant or drafter of paths to the registry of paths.

template <class V>
void register_of_paths(Kind kind) {
  check_info<V>();
  keep_mistakes([kind] { PathRegistry::instance().add(std::make_unique<PathVerifierOf<V>>(kind)); });
}

template <class V>
void register_path_verifier() {
  register_of_paths<V>(Kind::verifier);
}
template <class V>
void register_path_lossy() {
  register_of_paths<V>(Kind::lossy);
}
template <class V>
void register_path_mutant() {
  register_of_paths<V>(Kind::mutant);
}
template <class D>
void register_tree_drafter() {
  static_assert(!D::info.name.empty(), "TreeDrafterInfo: .name is missing; it is the file's name in snake_case");
  keep_mistakes([] { PathRegistry::instance().add(std::make_unique<TreeDrafterOf<D>>()); });
}

/// Adds a drafter of trees that is wrong on purpose. It must declare another distribution than it draws from.
template <class D>
void register_wrong_tree_drafter() {
  static_assert(D::info.wrong && !D::info.declared_as.empty(),
                "a wrong drafter of trees declares another draft sampling");
  register_tree_drafter<D>();
}

/// Whether V is a verifier of one position. A type that is registered as such a verifier must satisfy this concept.
template <class V>
concept PositionVerifier = VerifierOn<V, Rows<double>, Scripted>;

template <PositionVerifier V>
void register_found(Kind kind) {
  check_info<V>();
  keep_mistakes([kind] {
    Registry::instance().add(std::make_unique<VerifierOf<V>>(kind));
    if constexpr (node_liftable<V>)
      PathRegistry::instance().add(std::make_unique<PathVerifierOf<LiftedToTrees<V>>>(kind));
  });
}

template <PositionVerifier V>
void register_verifier() {
  register_found<V>(Kind::verifier);
}
template <PositionVerifier V>
void register_lossy() {
  register_found<V>(Kind::lossy);
}
template <PositionVerifier V>
void register_mutant() {
  register_found<V>(Kind::mutant);
}

// Adds a drafter to the registry.

template <class D>
void register_drafter() {
  static_assert(!D::info.name.empty(), "DrafterInfo: .name is missing; it is the file's name in snake_case");
  keep_mistakes([] { Registry::instance().add(std::make_unique<DrafterOf<D>>()); });
}
/// Adds a drafter that is wrong on purpose. It must declare another distribution than it draws from.
template <class D>
void register_wrong_drafter() {
  static_assert(D::info.misdeclares(), "a wrong drafter declares another draft sampling");
  register_drafter<D>();
}

}  // namespace draftproof
