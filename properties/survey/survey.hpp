// The main job: every applicable verifier on every position of a source. Is it exact, how much does it accept, what
// is the most any lossless verifier could accept of the same drafts, what does a decision cost.
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

/// Whether `name` is among `names`, which mean all where they are none.
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

struct SurveyOptions {
  std::vector<int> drafts{2, 4};  ///< a verifier that takes fewer is surveyed at the most it takes
  /// Draft tuples for each row of the result, spread over the positions; fewer where every tuple passes over the
  /// vocabulary, by a rule that knows V, K and the number of positions alone.
  std::uint64_t tuples = 1 << 20;
  std::uint64_t seed = 1;
  int threads = 0;                       ///< 0: all processors
  std::vector<std::string> verifiers{};  ///< empty: all
  std::vector<std::string>
      laws{};  ///< empty: the first each verifier is written for; where any will do, i.i.d. and fixed
  bool mutants = false;
  const std::atomic<bool>* stop = nullptr;
  std::function<void(std::uint64_t tuples)> progress{};
  const TrialDevice* device = nullptr;  ///< for all rows that run there, with the same counts; null: the host
};

/// One verifier at one number of drafts, over all positions. Sums over positions run in their order.
struct SurveyRow {
  const AnyVerifier* verifier = nullptr;
  const AnyDrafter* drafter = nullptr;
  int drafts = 0;
  std::uint64_t tuples = 0;  ///< planned, over all positions
  Tally tally{};
  double single = 0;                ///< mean over positions of sum min(p, q): the acceptance of one draft
  std::optional<double> optimum{};  ///< mean over positions, for this draft law
  std::string_view not_run{};       ///< why the scheme does not run at this size; empty if it does
  Backend place{};                  ///< where the tuples were run
  double cpu_seconds = 0;           ///< drawing, deciding and counting the tuples, here; not reproducible

  double flag() const { return rate(tally.flagged); }
  double membership() const { return rate(tally.members); }
  /// Of this processor's time: 0 on a device.
  double nanoseconds_per_tuple() const {
    return tally.trials == 0 ? 0 : cpu_seconds * 1e9 / static_cast<double>(tally.trials);
  }
  /// How much of the way from one draft to the optimum the verifier goes; nothing if there is no way to go.
  std::optional<double> gap_closed() const;

 private:
  double rate(std::uint64_t count) const {
    return tally.trials == 0 ? 0 : static_cast<double>(count) / static_cast<double>(tally.trials);
  }
};

struct SurveyResult {
  std::size_t positions = 0;  ///< surveyed
  bool complete = true;       ///< false after a stop
  std::vector<SurveyRow> rows;
};

/// Draft tuples a survey of `source` will draw, for progress. Throws InputError for unknown names.
std::uint64_t survey_size(const Source& source, const SurveyOptions& options);

/// Throws InputError for unknown names and bad rows.
SurveyResult survey(const Source& source, const SurveyOptions& options);

}  // namespace draftproof
