// The program with fake devices: `honest` gives the host's counts but refuses k_seq; `liar` counts one draft too many
// as emitted; `broken` throws; `absent` reports that there is no such device. The library contains main().
#include <memory>

#include <draftproof/tests/support/fake_device.hpp>

namespace draftproof {
namespace {

constexpr std::uint64_t lied_about = 4321;

bool add_devices() {
  const auto add = [](const char* name, fake::Behaviour behaviour) {
    found_trial_devices().push_back(std::make_unique<fake::Device>(name, std::move(behaviour)));
  };
  add("honest", {.refused = {"k_seq"}});
  add("liar", {.lie = [](const DeviceTrials& trials, Tally& tally) {
        tally.draft_emitted += fake::among(trials, lied_about);
      }});
  add("broken", {.failure = "broken: someCall: out of memory"});
  add("absent", {.missing = "no absent device"});
  return true;
}

[[maybe_unused]] const bool added = add_devices();

}  // namespace
}  // namespace draftproof
