// The option that selects where draft tuples are drawn and decided: on the host, or on a device that the program is
// linked with. Results are the same. Trials that cannot run on the device run on the host, and the report says so.
#pragma once

#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include <draftproof/cli/session.hpp>
#include <draftproof/properties/simulation/trial_device.hpp>

namespace draftproof {

struct DeviceChoice {
  std::string name = "cpu";

  /// Adds the option to `app`.
  void declare(CLI::App& app);
  /// The selected device, null for the host. Throws: InputError for a device that the program is not linked with.
  const TrialDevice* device() const;
  /// If this machine lacks the device: writes the reason and returns the exit code.
  std::optional<ExitCode> absent(const Session& session) const;
};

}  // namespace draftproof
