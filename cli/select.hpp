// Options shared by several commands: verifiers, draft laws, sources.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <draftproof/captures/source.hpp>
#include <draftproof/cli/arguments.hpp>
#include <draftproof/cli/register_command.hpp>
#include <draftproof/properties/components/component_registry.hpp>
#include <draftproof/properties/prover/path_registry.hpp>
#include <draftproof/properties/prover/registry.hpp>

namespace draftproof {

/// The verifier or drafter of that name. Throws: InputError for an unknown name, with the known ones.
const AnyVerifier& need_verifier(const std::string& name);
const AnyDrafter& need_drafter(const std::string& name);

/// The named verifiers, or all (mutants and lossy schemes only with `mutants`). Throws: InputError for an unknown
/// name.
std::vector<const AnyVerifier*> select_verifiers(const std::vector<std::string>& names, bool mutants);

/// Verifiers of one position and of paths.
struct SelectedVerifiers {
  std::vector<const AnyVerifier*> position;
  std::vector<const AnyPathVerifier*> paths;
};

/// The same for both levels. Throws: InputError for a name unknown to both.
SelectedVerifiers select_of_both(const std::vector<std::string>& names, bool mutants);

struct SelectedSubjects : SelectedVerifiers {
  std::vector<const AnyComponent*> components;
};

/// The same with components, by name or as "sampler/alias_sampler". A verifier takes precedence over a component of
/// the same name. Throws: InputError for an unknown name.
SelectedSubjects select_of_all(const std::vector<std::string>& names, bool mutants);

/// Throws: InputError, which names the nearest of `known`.
[[noreturn]] void unknown_entry(const std::vector<Listed>& known, const std::string& name);

/// Throws: InputError, of a draft law that a verifier names and nothing draws.
[[noreturn]] void unknown_law_of(const std::string& verifier, const std::string& name);

/// Throws: InputError for a draft law unknown to both levels.
void need_law(const std::string& name);

/// A source and the filters applied to its rows on loading.
struct SourceChoice {
  SourceOptions options{};
  /// Adds the filter options; the caller adds the option or argument that names sources.
  void declare(CLI::App& app);
  /// Opens one source. Throws: InputError.
  Source open(const std::string& spec, std::uint64_t seed) const;
  /// Opens all sources and, if `rows_too`, reads every stored row once, so that an invalid row in the last file is
  /// refused before work on the first starts. Throws: InputError.
  std::vector<Source> open_whole(const std::vector<std::string>& specs, std::uint64_t seed,
                                 bool rows_too = true) const;
};

/// Help text for sources.
inline constexpr const char* source_help =
    "capture (FILE.npz, .npy, .safetensors; FILE:NAME picks a proposal) or family (zipf:vocabulary=32000)";

}  // namespace draftproof
