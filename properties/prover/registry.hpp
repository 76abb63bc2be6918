// The registry: verifiers, mutants, drafters and properties of either level and families of instances, by name;
// and the default draft sampling and number of drafts of a verifier. Components have lists of the same kind
// (properties/components/component.hpp).
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <draftproof/captures/input_error.hpp>
#include <draftproof/properties/instances/generator.hpp>
#include <draftproof/properties/instances/instance_text.hpp>
#include <draftproof/properties/paths/path_analysis.hpp>
#include <draftproof/properties/proof/property.hpp>
#include <draftproof/properties/subjects/any_path_verifier.hpp>
#include <draftproof/properties/subjects/any_verifier.hpp>
#include <draftproof/sim/info.hpp>
#include <draftproof/sim/trees/tree_drafter.hpp>

namespace draftproof {

// Matching of path verifiers and trees: a verifier names draft samplings, and a tree drafter names the sampling
// of its siblings. Because a verifier lists no drafters, a new drafter is matched without changes to the verifiers.

/// Whether the verifier names the sampling of `trees`, or a draft sampling that describes how their siblings are
/// drawn.
constexpr bool takes_trees(const Info& verifier, const TreeDrafterInfo& trees) {
  if (verifier.drafts.includes(trees.name) ||
      (!trees.declared_as.empty() && verifier.drafts.includes(trees.declared_as)))
    return true;
  for (std::size_t i = 0; i < verifier.drafts.count; ++i) {
    const std::string_view distribution = verifier.drafts.names[i];
    if (trees.siblings.lists(distribution) || (verifier.sequential && trees.siblings_sequential.lists(distribution)))
      return true;
  }
  return false;
}

/// registry() calls a generated function that adds this library's entries; static initialisation adds the entries of
/// users' projects. The registry of paths contains the verifiers of one position lifted to trees.
template <class Level>
class RegistryOf {
 public:
  using Verifier = typename Level::Verifier;
  using Drafter = typename Level::Drafter;

  /// Returns the process-wide registry, which may not be filled yet; see registry().
  static RegistryOf& instance();

  /// Throws: std::logic_error if the name is already registered.
  void add(std::unique_ptr<Verifier> verifier);
  void add(std::unique_ptr<Drafter> drafter);
  void add(const Generator& generator) { generators_.add(generator); }
  void add(const PropertyOf<Level>& property) { properties_.add(property); }

  /// All verifiers; for paths, only verifiers for which a drafter of trees is registered.
  const std::vector<std::unique_ptr<Verifier>>& verifiers() const { return verifiers_.all(); }
  const std::vector<std::unique_ptr<Drafter>>& drafters() const { return drafters_.all(); }
  /// Drafters with a `declared_as`, found by name only and not among drafters(): drafters that are wrong on purpose,
  /// and drafters of trees whose proposal is a row other than the context's.
  const std::vector<std::unique_ptr<Drafter>>& wrong_drafters() const { return by_name_.all(); }
  /// Families of instances; the registry of positions has the families of both levels.
  const std::vector<Generator>& generators() const { return generators_.all(); }
  const std::vector<PropertyOf<Level>>& properties() const { return properties_.all(); }

  /// Returns the entry of that name, or null; the drafter look-up finds wrong drafters too.
  const Verifier* verifier(std::string_view name) const { return verifiers_.find(name); }
  const Drafter* drafter(std::string_view name) const;

  /// Returns the drafters() whose draft sampling the verifier is written for, sorted by name.
  std::vector<const Drafter*> drafters_of(const Info& info) const;
  /// Returns the wrong_drafters() that declare a draft sampling of the verifier, sorted by name.
  std::vector<const Drafter*> wrong_drafters_of(const Info& info) const;

 private:
  NamedList<std::unique_ptr<Verifier>> verifiers_;
  NamedList<std::unique_ptr<Verifier>>
      waiting_;  ///< verifiers of paths for which no drafter of trees is registered yet
  NamedList<std::unique_ptr<Drafter>> drafters_, by_name_;
  NamedList<Generator> generators_;
  NamedList<PropertyOf<Level>> properties_;
};

using Registry = RegistryOf<TokenLevel>;
using PathRegistry = RegistryOf<BlockLevel>;

/// Returns the registry with all built-in and user-defined entries.
const Registry& registry();
const PathRegistry& path_registry();

/// Whether a source that registers a verifier was compiled without optimisation. Unoptimised builds, including
/// users' projects, are several times slower, so timing tables print a warning.
inline bool unoptimised_sources = false;

// Defaults: the draft sampling of a verifier, and the number of drafts.

/// Returns the name of the first draft sampling that the verifier is written for; "iid" if it supports any.
inline std::string_view usual_draft_sampling(const Info& info) {
  return info.drafts.any() ? std::string_view("iid") : info.drafts.names[0];
}

/// Returns the drafter of usual_draft_sampling(info). Throws: InputError if there is none; a user's verifier may name
/// any sampling.
inline const AnyDrafter& usual_drafter(const Info& info) {
  if (const AnyDrafter* drafter = registry().drafter(usual_draft_sampling(info))) return *drafter;
  throw InputError({.file = std::string(info.name),
                    .got = in_quotes(std::string(usual_draft_sampling(info))),
                    .expected = "a draft sampling listed by `draftproof list`"});
}

/// Returns `wanted`, or the largest number of drafts that verifier and drafter both support if that is less.
inline int drafts_taken(const AnyVerifier& verifier, const AnyDrafter& drafter, int wanted) {
  for (const int most : {verifier.info().most_drafts, drafter.info().most_drafts})
    if (most > 0) wanted = std::min(wanted, most);
  return wanted;
}

}  // namespace draftproof
