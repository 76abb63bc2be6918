// One simulation as a document.
#pragma once

#include <optional>

#include <draftproof/captures/source.hpp>
#include <draftproof/properties/estimation/acceptance_estimate.hpp>
#include <draftproof/properties/simulation/backend.hpp>
#include <draftproof/properties/simulation/simulation.hpp>
#include <draftproof/report/document.hpp>

namespace draftproof {

/// What was simulated at one position, and the facts to hold it against.
struct SimulatedPosition {
  const Source& source;
  std::size_t position;
  const Simulation& what;
  const RatioTable& table;
  const Tally& tally;  ///< with histogram
  std::optional<double> optimum;
  double cpu_seconds;
  std::optional<AcceptanceEstimate> estimate{};  ///< if one was asked for
  Backend place{};                              ///< where the tuples were run
};

/// Acceptance draft by draft, beside it the estimate, and the emitted tokens against the target. Schema
/// draftproof.simulate/1.
Document report_simulation(const SimulatedPosition& at, double confidence, int tokens, bool timings);

}  // namespace draftproof
