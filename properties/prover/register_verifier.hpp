// Adds verifiers, mutants and drafters to the registries of positions and of paths; checks their Info, and stores the
// mistakes of registrations.
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

// Registration of what a file defines: what its Info must have, checked by the compiler, and mistakes that show only
// when everything is registered, stored until a program reports them.
//
// Correctness: a program's own files are registered before main, where an exception would end it without a word.

/// What went wrong in registrations so far, one line each: a name that is there already. A program that registers
/// files reports these before it does anything else.
inline std::vector<std::string>& registration_mistakes() {
  static std::vector<std::string> mistakes;
  return mistakes;
}

/// Calls `add` and keeps what it throws.
template <class Add>
void keep_mistakes(const Add& add) {
  try {
    add();
  } catch (const std::exception& error) {
    registration_mistakes().emplace_back(error.what());
  }
}

/// Refuses an Info that a report could not show. A verifier for any drafts says so by `.drafts = any_law`, which is
/// the default.
template <class V>
constexpr void check_info() {
  static_assert(!V::info.name.empty(), "Info: .name is missing: snake_case, the file's name");
  static_assert(!V::info.summary.empty(), "Info: .summary is missing: one line");
  static_assert(
      V::info.fewest_drafts >= 1 && (V::info.most_drafts == 0 || V::info.most_drafts >= V::info.fewest_drafts),
      "Info: .fewest_drafts is at least 1, and .most_drafts is 0 or not below it");
  static_assert(V::info.promise != Promise::lossless_up_to || V::info.tau > 0,
                "Info: .promise = lossless_up_to needs .tau, the largest distance from p");
}

#ifndef __OPTIMIZE__
/// One in each such source: of internal linkage, so that optimised sources keep theirs.
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
  static_assert(!D::info.name.empty(), "TreeDrafterInfo: .name is missing: snake_case, the file's name");
  keep_mistakes([] { PathRegistry::instance().add(std::make_unique<TreeDrafterOf<D>>()); });
}

/// Adds a drafter of trees that is wrong on purpose. It must declare another law.
template <class D>
void register_wrong_tree_drafter() {
  static_assert(D::info.wrong && !D::info.declared_as.empty(), "a wrong drafter of trees says which law it poses as");
  register_tree_drafter<D>();
}

/// Any verifier of one position: what registration demands of a file.
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
  static_assert(!D::info.name.empty(), "DrafterInfo: .name is missing: snake_case, the file's name");
  keep_mistakes([] { Registry::instance().add(std::make_unique<DrafterOf<D>>()); });
}
/// Adds a drafter that is wrong on purpose. It must declare another law.
template <class D>
void register_wrong_drafter() {
  static_assert(D::info.misdeclares(), "a wrong drafter says which law it poses as");
  register_drafter<D>();
}

}  // namespace draftproof
