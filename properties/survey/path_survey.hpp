// Surveys every verifier of paths on one source at equal numbers of drafted tokens. If all trees can be
// enumerated, adds the optimum of their distribution and a row for the oracle that attains it (StartOracle).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/properties/survey/path_simulation.hpp>

namespace draftproof {

class Checkpoint;

struct PathSurveyOptions {
  std::vector<int> drafts{1, 2, 4};  ///< numbers of paths; trees of other shapes get the same numbers of nodes
  int length = 4;                    ///< drafted tokens per path
  int iterations = 0;                ///< per trial; 0: 1 for stateless verifiers if starts are fixed, else 8
  std::uint64_t steps = 1 << 16;     ///< number for each row of the result; fewer for couplings at large V
  std::uint64_t seed = 1;
  int threads = 0;                       ///< 0: all processors
  std::vector<std::string> verifiers{};  ///< empty: all
  std::vector<std::string>
      draft_samplings{};  ///< tree samplings; empty: independent paths, or the verifier's first sampling
  bool mutants = false;
  const std::atomic<bool>* stop = nullptr;
  std::function<void(std::uint64_t steps)> progress{};
  Checkpoint* checkpoint = nullptr;  ///< stores the blocks of trials and proofs
};

/// The result for one verifier with one tree sampling.
struct StepRow {
  const AnyPathVerifier* verifier = nullptr;
  const AnyTreeDrafter* drafter = nullptr;
  int drafts = 1;
  StepTally tally{};
  /// Largest expected number of accepted tokens with this tree sampling, of any one-shot lossless scheme, and
  /// of any scheme that also reads the target's next block; means over the starts. Set if all trees can be
  /// enumerated and trials have one iteration.
  std::optional<double> optimum{}, full_information{};
  /// The row's verifier if it is the oracle. Not registered, because it has the plans of this source.
  std::shared_ptr<const AnyPathVerifier> oracle{};
  double cpu_seconds = 0;  ///< time for drafting, verifying and counting; not reproducible

  double microseconds_per_step() const {
    return tally.steps == 0 ? 0 : cpu_seconds * 1e6 / static_cast<double>(tally.steps);
  }
};

/// Returns the shape of K = `drafts` times L tokens for this drafter: K paths, one node with K children that
/// each begin a path, or K L nodes.
TreeShape shape_of(const AnyTreeDrafter& drafter, int drafts, int length);

/// Returns the rows of the survey without results; the oracle has no plans yet. Throws: InputError for unknown
/// names.
std::vector<StepRow> plan_steps(const PathSource& source, const PathSurveyOptions& options);

/// Returns the rows, filled in order; after an interrupt the rest is empty. Throws: InputError for unknown
/// names, and for lengths and numbers of drafts that a source of stored trees does not have.
std::vector<StepRow> survey_paths(const PathSource& source, const PathSurveyOptions& options);

}  // namespace draftproof
