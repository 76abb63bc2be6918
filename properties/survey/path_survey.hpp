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
  int iterations = 0;                ///< per trial; 0 means 1 for stateless verifiers if starts are fixed, else 8
  std::uint64_t steps = 1 << 16;     ///< steps of each row of the result; fewer for couplings at large V
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
  /// Largest expected number of accepted tokens with this tree sampling: `optimum` over all one-shot lossless schemes,
  /// `full_information` over all schemes that also read the target's next block. Both are means over the starts. Set if
  /// all trees can be enumerated and trials have one iteration.
  std::optional<double> optimum{}, full_information{};
  /// Owns the row's verifier if this is the oracle, else null. The oracle is not registered, because its plans are
  /// valid for this source only.
  std::shared_ptr<const AnyPathVerifier> oracle{};
  double cpu_seconds = 0;  ///< time for drafting, verifying and counting; not reproducible

  double microseconds_per_step() const {
    return tally.steps == 0 ? 0 : cpu_seconds * 1e6 / static_cast<double>(tally.steps);
  }
};

/// Returns the shape of the drafter's trees with about K L tokens, K = `drafts` and L = `length`: K paths, a node with
/// K children that each begin a path, or K L nodes.
TreeShape shape_of(const AnyTreeDrafter& drafter, int drafts, int length);

/// Returns the rows of the survey without results; the oracle has no plans yet. Throws: InputError for unknown
/// names.
std::vector<StepRow> plan_steps(const PathSource& source, const PathSurveyOptions& options);

/// Runs the survey and returns its rows. Rows are filled in order; after an interrupt the later rows are empty. Throws:
/// InputError for unknown names, and for lengths and numbers of drafts that a source of stored trees does not have.
std::vector<StepRow> survey_paths(const PathSource& source, const PathSurveyOptions& options);

}  // namespace draftproof
