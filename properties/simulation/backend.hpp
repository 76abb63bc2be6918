// Where trials run: on the host, or on the device that was asked for, where it can run them.
//
//   Backend      what a report says of it
//   BackendChooser   of one table: asked scheme by scheme; loads it into the device at the first that may run there
//
// Cost: one copy of the table a device. Whoever did not ask for a device gets neither.
#pragma once

#include <memory>
#include <string>
#include <string_view>

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

}  // namespace draftproof
