// Where trials run: on the host, or on the device that was asked for, where it can run them.
//
//   Backend      what a report says of it
//   BackendChooser   of one table: asked scheme by scheme; loads it into the device at the first that may run there
//
// Cost: one copy of the table a device. Whoever did not ask for a device gets neither.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <draftproof/properties/simulation/simulation.hpp>
#include <draftproof/properties/simulation/trial_device.hpp>

namespace draftproof {

struct Backend {
  std::string_view device{};  ///< its name, or "cpu"; empty if no device was asked for
  std::string refusal{};      ///< why not on the device that was

  bool asked() const { return !device.empty(); }
  bool on_device() const { return asked() && refusal.empty(); }
};

class BackendChooser {
 public:
  /// `device` may be null: nobody asked for one.
  BackendChooser(const TrialDevice* device, const RatioTable& table) : device_{device}, table_{table} {}

  Backend of(const AnyVerifier& verifier, const AnyDrafter& drafter, int drafts) {
    if (!device_) return {};
    Backend place{.device = "cpu", .refusal = std::string(verifier.info().unsupported.simulate)};
    if (place.refusal.empty()) place.refusal = table().refusal(verifier, drafter, drafts);
    if (place.refusal.empty()) place.device = device_->name();
    return place;
  }
  /// Of a device that was asked for.
  const TrialTable& table() {
    if (!loaded_) loaded_ = device_->load(table_);
    return *loaded_;
  }

 private:
  const TrialDevice* device_;
  const RatioTable& table_;
  std::unique_ptr<TrialTable> loaded_;
};

// Simulation on a device, as long and with the manners of one on the host: progress, a wish to stop, a limit of time.
//
// Cost: trials are asked for in rounds of 2^22 and then ever more, so that what is between them costs nothing and a
// wish is heard soon. Right because a range of trials is counted alike in one piece or in several.

/// Trials in even rounds until none are left, `done` of them before each; returns how many were run.
std::uint64_t in_rounds(const TrialBudget& budget,
                        const std::function<void(std::uint64_t done, std::uint64_t count)>& run);

/// The Tally that simulate(what, table, budget) has on the host. Throws std::invalid_argument where drafts are to be
/// drawn lazily, which spares a device nothing.
Tally simulate(const Simulation& what, const TrialTable& on, const TrialBudget& budget);

}  // namespace draftproof
