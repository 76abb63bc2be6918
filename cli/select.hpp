// Options that several commands share: which verifiers, which draft laws, which source.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <draftproof/captures/source.hpp>
#include <draftproof/properties/components/component_registry.hpp>
#include <draftproof/properties/prover/path_registry.hpp>
#include <draftproof/properties/prover/registry.hpp>

namespace draftproof {

/// The verifier or drafter of that name; throws InputError naming the nearest known ones.
const AnyVerifier& need_verifier(const std::string& name);
const AnyDrafter& need_drafter(const std::string& name);

/// The named verifiers, or all (mutants only if wanted).
std::vector<const AnyVerifier*> select_verifiers(const std::vector<std::string>& names, bool mutants);

/// Verifiers of one position and of paths.
struct SelectedVerifiers {
  std::vector<const AnyVerifier*> position;
  std::vector<const AnyPathVerifier*> paths;
};

/// The same of both levels; throws InputError for a name that neither has.
SelectedVerifiers select_of_both(const std::vector<std::string>& names, bool mutants);

struct SelectedSubjects : SelectedVerifiers {
  std::vector<const AnyComponent*> components;
};

/// The same with components, by name or as "sampler/alias_sampler"; a verifier of the same name comes first.
SelectedSubjects select_of_all(const std::vector<std::string>& names, bool mutants);

/// Throws InputError for a draft law that neither level has.
void need_law(const std::string& name);

/// A source and what to do to its rows on loading.
struct SourceChoice {
  SourceOptions options{};
  /// Declares the filters; the caller declares where sources are named.
  void declare(CLI::App& app);
  Source open(const std::string& spec, std::uint64_t seed) const;
  /// All of them, every stored row read once: a bad row in the last file is refused before work on the first
  /// starts.
  std::vector<Source> open_whole(const std::vector<std::string>& specs, std::uint64_t seed) const;
};

/// Numbers of tuples or branches. Unsigned options need a check: CLI11 reads "-5" as 2^64 - 5.
inline const CLI::Range many{1.0, 1e15};

/// What a command line may name as a source.
inline constexpr const char* source_help =
    "capture (FILE.npz, .npy, .safetensors; FILE:NAME picks a proposal) or family (zipf:vocabulary=32000)";

}  // namespace draftproof
