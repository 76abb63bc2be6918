#include <draftproof/cli/device_choice.hpp>

#include <draftproof/captures/input_error.hpp>

namespace draftproof {

void DeviceChoice::declare(CLI::App& app) {
  app.add_option("--device", name,
                 "where draft tuples are run, with the same counts: cpu, or cuda where it was built in")
      ->capture_default_str();
}

const TrialDevice* DeviceChoice::device() const {
  if (name == "cpu") return nullptr;
  if (const TrialDevice* device = trial_device(name)) return device;
  std::string known = "cpu";
  for (const auto& device : found_trial_devices()) known += ", " + std::string(device->name());
  const bool without = name == "cuda";  // draftproof has this device, but the program is not linked with it
  throw InputError({.file = "--device",
                    .found = in_quotes(name),
                    .wanted = (found_trial_devices().empty() ? known : "one of " + known) +
                              (without ? ": this program was built without CUDA (draftproof::cuda_trials)" : "")});
}

std::optional<ExitCode> DeviceChoice::absent(const Session& session) const {
  const TrialDevice* const chosen = device();
  const std::string missing = chosen ? chosen->missing() : "";
  if (missing.empty()) return std::nullopt;
  Document document;
  document.data = {{"schema", "draftproof.skipped/1"}, {"device", name}, {"skipped", missing}};
  document.sections.push_back({.title = "", .before = {"skipped: " + missing}});
  session.write(document);
  return exit_skipped;
}

}  // namespace draftproof
