// Surveys every applicable verifier on every position of a source: acceptance, the optimum of the draft law, and the
// cost of a decision.
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

/// Whether a survey of these options has rows of `verifier`: mutants only where they are asked for.
template <class Options, class Verifier>
bool asked_for(const Options& options, const Verifier& verifier) {
  return wanted(options.verifiers, verifier.info().name) &&
         (verifier.kind() != Kind::mutant || options.mutants || !options.verifiers.empty());
}

/// `trials`, or fewer where verifier or drafter races through shared noise: as many as 2^27 words are enough for at
/// `words` each, but one from each start.
template <class Verifier, class Drafter>
std::uint64_t affordable_trials(std::uint64_t trials, const Verifier& verifier, const Drafter& drafter,
                                std::uint64_t starts, std::uint64_t words) {
  if (!verifier.info().shared_noise && !drafter.info().shared_noise()) return trials;
  return std::min(trials, std::max(starts, (std::uint64_t{1} << 27) / words));
}

class Checkpoint;

struct SurveyOptions {
  std::vector<int> drafts{2, 4};  ///< a verifier that takes fewer runs with the most that it takes
  /// Draft tuples for each row of the result, divided among the positions. Schemes whose tuples pass over the
  /// vocabulary get fewer, by a rule that depends on V, K and the number of positions alone.
  std::uint64_t tuples = 1 << 20;
  std::uint64_t seed = 1;
  int threads = 0;                       ///< 0: all processors
  std::vector<std::string> verifiers{};  ///< empty: all
  std::vector<std::string>
      laws{};  ///< empty: the first law of each verifier; if it takes any law, i.i.d. and fixed laws
  bool mutants = false;
  bool by_position = false;  ///< rows keep each position beside the sums
  const std::atomic<bool>* stop = nullptr;
  std::function<void(std::uint64_t tuples)> progress{};
  const TrialDevice* device = nullptr;  ///< for all rows that run there, with the same counts; null: the host
  Checkpoint* checkpoint = nullptr;     ///< of blocks of trials and of proofs; not with by_position
};

/// Acceptance at one position, and its optimum there where that is known.
struct AcceptanceAt {
  std::uint64_t tuples = 0, members = 0;  ///< members: with the token among the drafts
  std::optional<double> optimum{};
};

/// The result for one verifier at one number of drafts, over all positions. Sums run in the order of positions.
struct SurveyRow {
  const AnyVerifier* verifier = nullptr;
  const AnyDrafter* drafter = nullptr;
  int drafts = 0;
  std::uint64_t tuples = 0;  ///< planned, over all positions
  Tally tally{};
  double single = 0;                ///< mean over positions of sum min(p, q), the acceptance of one draft
  std::optional<double> optimum{};  ///< mean over positions, for this draft law
  std::string_view not_run{};       ///< why the scheme does not run at this size; empty if it does
  std::vector<AcceptanceAt> at{};   ///< by position, where the options ask for it
  Backend place{};                  ///< where the tuples ran
  double cpu_seconds = 0;           ///< for drawing, deciding and counting on this host; not reproducible

  /// Share of tuples with an accepted draft, in [0, 1].
  double flag() const { return rate(tally.flagged); }
  /// Share of tuples whose token is among the drafts, in [0, 1].
  double membership() const { return rate(tally.members); }
  /// Processor time of this host; 0 on a device.
  double nanoseconds_per_tuple() const {
    return tally.trials == 0 ? 0 : cpu_seconds * 1e9 / static_cast<double>(tally.trials);
  }
  /// (membership - single) / (optimum - single); nothing if the optimum is unknown or the gap is below 1e-9.
  std::optional<double> gap_closed() const;

 private:
  double rate(std::uint64_t count) const {
    return tally.trials == 0 ? 0 : static_cast<double>(count) / static_cast<double>(tally.trials);
  }
};

struct SurveyResult {
  std::size_t positions = 0;  ///< number of positions of the source
  bool complete = true;       ///< false after a stop
  std::vector<SurveyRow> rows;
};

/// Number of draft tuples that a survey of `source` will draw, for progress. Throws: InputError for unknown names.
std::uint64_t survey_size(const Source& source, const SurveyOptions& options);

/// Runs the survey. Throws: InputError for unknown names and invalid rows; DeviceFailure from a device.
SurveyResult survey(const Source& source, const SurveyOptions& options);

}  // namespace draftproof
