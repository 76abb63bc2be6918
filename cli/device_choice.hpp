// The option that says where draft tuples are drawn and decided: on the host, or on a device that the program was
// linked with. Results are the same; what cannot run there runs here and the report says so.
#pragma once

#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include <draftproof/cli/session.hpp>
#include <draftproof/properties/simulation/trial_device.hpp>

namespace draftproof {

struct DeviceChoice {
  std::string name = "cpu";

  void declare(CLI::App& app);
  /// Null for the host. Throws InputError for a device that is not in this program.
  const TrialDevice* device() const;
  /// The exit code, once written why, if the device is not on this machine.
  std::optional<ExitCode> absent(const Session& session) const;
};

}  // namespace draftproof
