// Fake devices, which run trials on the host and then return wrong counts, or which throw or refuse the job. They test
// how the framework handles a device, on machines with and without a device.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <draftproof/properties/simulation/sampled_trials.hpp>
#include <draftproof/properties/simulation/simulation.hpp>
#include <draftproof/properties/simulation/trial_device.hpp>

namespace draftproof::fake {

struct Behaviour {
  std::string missing{};                                   ///< why the device is missing; empty if it is present
  std::string failure{};                                   ///< error of every run; empty if runs succeed
  std::vector<std::string> refused{};                      ///< names of the verifiers whose jobs the device refuses
  std::function<void(const DeviceTrials&, Tally&)> lie{};  ///< makes the counts of a Tally wrong
  std::function<void(const DeviceTrials&, SampledCounts&)> gate_lie{};  ///< makes the counts of a gate wrong
};

class Table final : public TrialTable {
 public:
  Table(const Behaviour& behaviour, const RatioTable& distributions)
      : behaviour_{behaviour}, distributions_{distributions} {}

  std::string refusal(const AnyVerifier& verifier, const AnyDrafter&, int) const override {
    const auto& refused = behaviour_.refused;
    const std::string name(verifier.info().name);
    return std::find(refused.begin(), refused.end(), name) == refused.end() ? "" : name + " has no kernel";
  }
  Tally tally(const DeviceTrials& trials, bool histogram) const override {
    fail();
    const Simulation what{trials.verifier, trials.drafter, trials.drafts, trials.seed, trials.first, histogram};
    Tally tally = simulate(what, distributions_, {.trials = trials.count, .threads = 1});
    if (behaviour_.lie && trials.count > 0) behaviour_.lie(trials, tally);
    return tally;
  }
  void count(const DeviceTrials& trials, const SampledNull& null, std::uint64_t pairs,
             SampledCounts& counts) const override {
    fail();
    const SampledTrials<RatioTable> run(trials.verifier, trials.drafter, distributions_, trials.drafts, trials.seed,
                                        trials.first);
    run.count(null, 0, pairs, 0, trials.count, counts);
    if (behaviour_.gate_lie) behaviour_.gate_lie(trials, counts);
  }

 private:
  void fail() const {
    if (!behaviour_.failure.empty()) throw DeviceFailure(behaviour_.failure);
  }

  const Behaviour& behaviour_;
  const RatioTable& distributions_;
};

class Device final : public TrialDevice {
 public:
  explicit Device(std::string name, Behaviour behaviour = {})
      : name_{std::move(name)}, behaviour_{std::move(behaviour)} {}

  std::string_view name() const override { return name_; }
  std::string missing() const override { return behaviour_.missing; }
  std::unique_ptr<TrialTable> load(const RatioTable& table) const override {
    return std::make_unique<Table>(behaviour_, table);
  }

 private:
  std::string name_;
  Behaviour behaviour_;
};

/// Whether trial `n` is in the range.
inline bool among(const DeviceTrials& trials, std::uint64_t n) { return n - trials.first < trials.count; }

}  // namespace draftproof::fake
