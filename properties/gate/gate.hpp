// A gate runs one verifier, or one component around a verifier, at one tier, and gives one verdict over any
// number of draft samplings and instances.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <draftproof/properties/components/component.hpp>
#include <draftproof/properties/proof/finding.hpp>
#include <draftproof/properties/simulation/trial_device.hpp>
#include <draftproof/properties/subjects/any_path_verifier.hpp>
#include <draftproof/properties/subjects/any_verifier.hpp>

namespace draftproof {

/// How thorough a gate is.
struct Profile {
  std::string_view name;
  std::string_view about;
  int instances, path_instances;  ///< number of generated small models for each draft sampling
  double log2_trials;             ///< log2 of the trials of the sampled tier at each position
  bool every_precision;           ///< whether the precision audit runs at all of its sizes
  /// log2 of the number of tokens that trials of one draft sampling may read in passes over the vocabulary; if they
  /// would read more, the sampled tier uses a smaller V
  double log2_tokens;
  // Numbers for an external verifier, smaller because each outcome takes a call of its program.
  int adapter_models;          ///< number of small models of the proof tier
  int adapter_drafts;          ///< largest number of drafts of a path or tuple in such a model
  int adapter_predictions;     ///< number of calls for each drafted input of a model
  double adapter_log2_trials;  ///< log2 of the trials of the sampled tier
  int adapter_log2_drafts;     ///< log2 of the number of draft tuples requested from an external drafter
  int adapter_log2_tokens;     ///< log2 of the number of tokens in the texts of an external engine
};

inline constexpr std::array<Profile, 3> profiles{
    Profile{"pr", "for every change: minutes for everything", 500, 240, 21, false, 33, 120, 4, 64, 16, 16, 17},
    Profile{"nightly", "once a day: ten times the instances, a hundred times the trials", 5000, 2400, 27.5, true, 36,
            1200, 4, 256, 22.5, 16, 17},
    Profile{"quick", "while a verifier is written: seconds for one", 60, 40, 17, false, 30, 20, 2, 16, 12, 12, 15}};

class Checkpoint;
struct GateOptions;
struct GateResult;

/// An external verifier, which can only be called (adapters/).
class ExternalSubject {
 public:
  virtual ~ExternalSubject() = default;
  virtual std::string name() const = 0;
  virtual std::string_view level() const = 0;
  /// Returns why the tier is not supported; empty if it is.
  virtual std::string refusal(Tier tier) const = 0;
  /// Examines the subject at result.gate.tier. Adds to `result` the findings, the draft samplings, the work and a note.
  virtual void examine(GateResult& result, const GateOptions& options) const = 0;
};

/// Exactly one of the four pointers is set.
struct Gate {
  const AnyVerifier* verifier = nullptr;   ///< a verifier of one position
  const AnyPathVerifier* paths = nullptr;  ///< a verifier of paths
  const AnyComponent* component = nullptr;
  const ExternalSubject* external = nullptr;
  Tier tier = Tier::proof;

  /// Returns the name of the verifier; for a component its qualified name.
  std::string name() const;
  /// Returns the name of the level, or of the component's group.
  std::string_view level() const;
};

struct GateOptions {
  Profile profile = profiles[0];
  std::vector<std::string> draft_samplings{};  ///< if empty, all draft samplings that the verifier is written for
  std::uint64_t seed = 1;
  int threads = 0;  ///< 0: all processors
  const std::atomic<bool>* stop = nullptr;
  std::function<void(std::uint64_t trials)> progress{};  ///< called after each batch of the sampled tier
  /// Probability that any gate of a whole build raises a false alarm. The fraction `share` of this probability is
  /// divided among `gates` sampled gates, including this one.
  double false_alarm = 1e-9, share = 1;
  int gates = 1;
  /// Source of rows for the sampled tier. If empty, standard_source() of sampled_position.hpp, with V = 32,000 if the
  /// scheme supports this.
  std::string source{};
  std::size_t position = 0;             ///< index of the position in the source
  int drafts = 4;                       ///< reduced to the most that the scheme supports
  const TrialDevice* device = nullptr;  ///< where trials of the sampled tier run; null: the CPU
  /// Instances, as text, on which the proof tier runs external verifiers before the generated ones.
  std::vector<std::string> adapter_instances{};
  Checkpoint* checkpoint = nullptr;  ///< stores computed blocks and selects the blocks of this process
  /// Total variation that the sampled tier must detect however it is distributed over tokens; determines the number of
  /// trials. 0: the profile determines it.
  double distance = 0;
};

struct GateResult {
  Gate gate;
  Status status = Status::skipped;
  std::vector<Finding> findings{};
  std::vector<std::string> draft_samplings{};  ///< the draft samplings that the gate ran on
  std::string note{};      ///< why nothing was decided, or the cost of a scheme that is lossy by design
  std::uint64_t work = 0;  ///< number of branches enumerated and trials run
  std::vector<std::pair<std::string, std::uint64_t>> counts{};  ///< counts for JSON by name, for example "models"
  double seconds = 0;

  /// Returns the members that a checkpoint stores.
  static auto fields(auto& r) { return std::tie(r.findings, r.draft_samplings, r.note, r.work, r.counts); }
};

/// Whether this tier has a check or property for the gate's verifier or component. If not, the gate is not run.
bool applies(const Gate& gate);

/// Runs the gate and returns its verdict: `undecided` after an interrupt, unless a failure was found before.
GateResult run_gate(const Gate& gate, const GateOptions& options);

}  // namespace draftproof
