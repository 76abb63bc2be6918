// A gate is one verifier, or one component around a verifier, held to one tier: what a build lets through or stops.
// Every gate gives one verdict, whatever it asks of how many draft laws and instances.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <draftproof/properties/components/component.hpp>
#include <draftproof/properties/proof/finding.hpp>
#include <draftproof/properties/simulation/trial_device.hpp>
#include <draftproof/properties/subjects/any_path_verifier.hpp>
#include <draftproof/properties/subjects/any_verifier.hpp>

namespace draftproof {

/// How much a gate asks.
struct Profile {
  std::string_view name;
  std::string_view about;
  int instances, path_instances;  ///< of generated toy models, for each draft law
  double log2_trials;             ///< trials of the sampled tier at each of its positions
  bool every_precision;           ///< the precision audit at all of its sizes
};

inline constexpr std::array<Profile, 2> profiles{
    Profile{"pr", "for every change: minutes for everything", 500, 240, 21, false},
    Profile{"nightly", "once a day: ten times the instances, a hundred times the trials", 5000, 2400, 27.5, true}};

struct Gate {
  const AnyVerifier* verifier = nullptr;   ///< of one position, or
  const AnyPathVerifier* paths = nullptr;  ///< of paths, or
  const AnyComponent* component = nullptr;
  Tier tier = Tier::proof;

  std::string name() const;
  std::string_view level() const;
};

struct GateOptions {
  Profile profile = profiles[0];
  std::vector<std::string> laws{};  ///< empty: all a verifier is written for
  std::uint64_t seed = 1;
  int threads = 0;  ///< 0: all processors
  const std::atomic<bool>* stop = nullptr;
  std::function<void(std::uint64_t trials)> progress{};  ///< of the sampled tier, after each batch
  /// Probability that any gate of a whole build raises a false alarm; `share` of it is for `gates` sampled gates, of
  /// which this is one.
  double false_alarm = 1e-9, share = 1;
  int gates = 1;
  std::string
      source{};  ///< of the sampled tier; empty: the standard pair, at V = 32,000 where the scheme can go there
  std::size_t position = 0;             ///< one that the source has
  int drafts = 4;                       ///< or the most a scheme takes
  const TrialDevice* device = nullptr;  ///< for trials of the sampled tier; null: the host
};

struct GateResult {
  Gate gate;
  Status status = Status::skipped;
  std::vector<GateFinding> findings{};
  std::vector<std::string> laws{};  ///< draft laws it ran on
  std::string note{};               ///< why nothing was decided, or what a scheme that is lossy by design costs
  std::uint64_t work = 0;           ///< branches walked and trials run
  double seconds = 0;
};

/// Whether a scheme can be asked anything at this tier; gates that cannot are not set up.
bool applies(const Gate& gate);

GateResult run_gate(const Gate& gate, const GateOptions& options);

}  // namespace draftproof
