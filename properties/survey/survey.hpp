// Surveys every applicable verifier on every position of a source: acceptance, the optimum of the draft
// sampling, and the cost of a decision.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <draftproof/captures/source.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/properties/simulation/backend.hpp>
#include <draftproof/properties/simulation/simulation.hpp>

namespace draftproof {

/// Whether `name` is among `names`; an empty list contains every name.
inline bool wanted(const std::vector<std::string>& names, std::string_view name) {
  return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

/// Whether a survey with these options has rows of `verifier`: mutants only if requested.
template <class Options, class Verifier>
bool asked_for(const Options& options, const Verifier& verifier) {
  return wanted(options.verifiers, verifier.info().name) &&
         (verifier.kind() != Kind::mutant || options.mutants || !options.verifiers.empty());
}

/// Returns the number of trials: `trials`, or fewer if verifier or drafter reads shared noise, so that all trials
/// together read at most 2^27 random numbers, at `words` per trial. Returns at least one trial for each of the `starts`
/// positions or contexts, up to `trials`.
template <class Verifier, class Drafter>
std::uint64_t affordable_trials(std::uint64_t trials, const Verifier& verifier, const Drafter& drafter,
                                std::uint64_t starts, std::uint64_t words) {
  if (!verifier.info().shared_noise && !drafter.info().shared_noise()) return trials;
  return std::min(trials, std::max(starts, (std::uint64_t{1} << 27) / words));
}

/// Returns the least multiple of `starts` that is at least `trials`, so that every position or context has the same
/// number of trials and the same weight in the mean.
inline std::uint64_t whole_rounds(std::uint64_t trials, std::uint64_t starts) {
  return starts == 0 ? trials : (trials + starts - 1) / starts * starts;
}

class Checkpoint;

struct SurveyOptions {
  std::vector<int> drafts{2, 4};  ///< if a verifier supports only fewer drafts, it runs with its largest number
  /// Draft tuples for each row of the result, divided evenly among the positions: rounded up to whole_rounds. Schemes
  /// that read the whole vocabulary for each tuple get fewer tuples (affordable_trials), by a rule that depends only on
  /// V, K and the number of positions.
  std::uint64_t tuples = 1 << 20;
  std::uint64_t seed = 1;
  int threads = 0;                       ///< 0: all processors
  std::vector<std::string> verifiers{};  ///< empty: all
  std::vector<std::string>
      /// empty: the first sampling of each verifier, or the i.i.d. and fixed samplings for a verifier that takes any
      draft_samplings{};
  bool mutants = false;
  bool by_position = false;  ///< whether rows have the results of each position too
  const std::atomic<bool>* stop = nullptr;
  std::function<void(std::uint64_t tuples)> progress{};
  const TrialDevice* device = nullptr;  ///< runs rows that it supports, with the CPU's counts; null: none
  Checkpoint* checkpoint = nullptr;     ///< stores the blocks of trials and proofs; not for by_position
};

/// Acceptance at one position, and the optimal acceptance there if known.
struct AcceptanceAt {
  std::uint64_t tuples = 0, draft_emitted = 0;  ///< draft_emitted: tuples whose emitted token is among the drafts
  std::optional<double> optimum{};
};

/// The result for one verifier at one number of drafts, over all positions, summed in the order of positions.
struct SurveyRow {
  const AnyVerifier* verifier = nullptr;
  const AnyDrafter* drafter = nullptr;
  int drafts = 0;
  std::uint64_t tuples = 0;  ///< planned number, over all positions
  Tally tally{};
  double single = 0;                ///< mean over positions of sum min(p, q), the acceptance of one draft
  std::optional<double> optimum{};  ///< mean optimal acceptance of this draft sampling
  std::string_view not_run{};       ///< why the scheme does not run at this size; empty if it does
  std::vector<AcceptanceAt> at{};   ///< results by position, if requested
  Backend place{};                  ///< where the tuples ran
  double cpu_seconds = 0;           ///< time for drawing, deciding and counting on the CPU; not reproducible

  /// Returns the share of tuples of which the verifier reported an accepted draft.
  double draft_accepted() const { return rate(tally.draft_accepted); }
  /// Returns the share of tuples whose emitted token is among the drafts.
  double draft_emitted() const { return rate(tally.draft_emitted); }
  /// Returns processor time per tuple; 0 on a device.
  double nanoseconds_per_tuple() const {
    return tally.trials == 0 ? 0 : cpu_seconds * 1e9 / static_cast<double>(tally.trials);
  }
  /// Returns the gap closed, (draft_emitted - single) / (optimum - single); nullopt if the optimum is unknown or
  /// the gap optimum - single is below 1e-9.
  std::optional<double> gap_closed() const;

 private:
  double rate(std::uint64_t count) const {
    return tally.trials == 0 ? 0 : static_cast<double>(count) / static_cast<double>(tally.trials);
  }
};

struct SurveyResult {
  std::size_t positions = 0;  ///< number of positions of the source
  bool complete = true;       ///< false after an interrupt
  std::vector<SurveyRow> rows;
};

/// Returns the number of draft tuples that a survey of `source` will draw, for progress. Throws: InputError for
/// unknown names.
std::uint64_t survey_size(const Source& source, const SurveyOptions& options);

/// Runs the survey. Throws: InputError for unknown names and invalid rows; DeviceFailure from a device.
SurveyResult survey(const Source& source, const SurveyOptions& options);

}  // namespace draftproof
