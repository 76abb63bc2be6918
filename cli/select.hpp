// Options shared by several commands: verifiers, draft samplings, sources, instances, devices.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <draftproof/captures/input_error.hpp>
#include <draftproof/captures/source.hpp>
#include <draftproof/cli/arguments.hpp>
#include <draftproof/cli/register_command.hpp>
#include <draftproof/properties/components/component_registry.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/properties/simulation/trial_device.hpp>

namespace draftproof {

/// Returns the verifier or drafter of that name. Throws: InputError for an unknown name, with the known ones.
const AnyVerifier& need_verifier(const std::string& name);
const AnyDrafter& need_drafter(const std::string& name);

/// Returns the named verifiers, or all of them if no name is given (mutants and lossy schemes only with `mutants`).
/// Throws: InputError for an unknown name.
std::vector<const AnyVerifier*> select_verifiers(const std::vector<std::string>& names, bool mutants);

/// Verifiers of both levels: of one position, and of paths.
struct SelectedVerifiers {
  std::vector<const AnyVerifier*> position;
  std::vector<const AnyPathVerifier*> paths;
};

/// Like select_verifiers, for both levels. Throws: InputError for a name unknown to both.
SelectedVerifiers select_of_both(const std::vector<std::string>& names, bool mutants);

struct SelectedSubjects : SelectedVerifiers {
  std::vector<const AnyComponent*> components;
};

/// Like select_of_both, with components, by name or as "sampler/alias_sampler". A verifier takes precedence over a
/// component of the same name. Throws: InputError for an unknown name.
SelectedSubjects select_of_all(const std::vector<std::string>& names, bool mutants);

/// Throws: InputError for an unknown name; the message has the nearest of the `known` names.
[[noreturn]] void unknown_entry(const std::vector<Listed>& known, const std::string& name);

/// Checks the registrations of the program, before anything runs. Throws: InputError if a name is registered twice, or
/// if a verifier names an unknown draft sampling; the message has the nearest names.
void check_registrations();

/// Throws: InputError for a draft sampling unknown to both levels.
void need_draft_sampling(const std::string& name);

/// A source and the filters applied to its rows on loading.
struct SourceChoice {
  SourceOptions options{};
  /// Adds the filter options; the caller adds the option or argument that names sources.
  void declare(CLI::App& app);
  /// Opens one source. Throws: InputError.
  Source open(const std::string& spec, std::uint64_t seed) const;
  /// Opens all sources. If `rows_too`, reads every stored row once, so that an invalid row in the last file is found
  /// before work on the first file starts. Throws: InputError.
  std::vector<Source> open_whole(const std::vector<std::string>& specs, std::uint64_t seed,
                                 bool rows_too = true) const;
};

/// Adds --position.
CLI::Option* add_position(CLI::App& app, std::size_t& position);
/// Throws: InputError if the source has no position of this number.
void need_position(const Source& source, std::size_t position);

/// Returns the instance of --instance. Throws: InputError.
template <class Level>
typename Level::Instance parse_instance(const std::string& text) {
  try {
    return Level::Instance::parse(text);
  } catch (const std::invalid_argument& error) {
    // The parser's message is "instance: got X, expected Y".
    std::string got = error.what(), expected = std::string(Level::example);
    constexpr std::string_view begin = "instance: got ", middle = ", expected ";
    if (const auto at = got.find(middle); got.starts_with(begin) && at != std::string::npos) {
      expected = got.substr(at + middle.size()) + ", as in " + expected;
      got = got.substr(begin.size(), at - begin.size());
    }
    throw InputError({.file = "--instance", .got = std::move(got), .expected = std::move(expected)});
  }
}

/// Where draft tuples are drawn and decided: on the host, or on a device that the program is linked with. Results are
/// the same. Trials that cannot run on the device run on the host, and the report says so.
struct DeviceChoice {
  std::string name = "cpu";

  /// Adds the option to `app`.
  void declare(CLI::App& app);
  /// Returns the selected device, null for the host. Throws: InputError for a device that the program is not linked
  /// with.
  const TrialDevice* device() const;
  /// If this machine lacks the device, writes the reason and returns the exit code.
  std::optional<ExitCode> absent(const Session& session) const;
};

/// Help text for sources.
inline constexpr const char* source_help =
    "capture (FILE.npz, .npy, .safetensors; FILE:NAME picks a proposal) or family (zipf:vocabulary=32000)";

}  // namespace draftproof
