// The report of a simulation.
#pragma once

#include <optional>

#include <draftproof/captures/source.hpp>
#include <draftproof/properties/estimation/acceptance_estimate.hpp>
#include <draftproof/properties/simulation/backend.hpp>
#include <draftproof/properties/simulation/simulation.hpp>
#include <draftproof/report/document.hpp>

namespace draftproof {

/// The simulation of one position, and the values it is compared with.
struct SimulatedPosition {
  const Source& source;
  std::size_t position;
  const Simulation& what;
  const RatioTable& table;
  const Tally& tally;  ///< with histogram
  std::optional<double> optimum;
  double cpu_seconds;
  std::optional<AcceptanceEstimate> estimate{};  ///< if requested
  Backend place{};                               ///< where the tuples ran
};

/// Acceptance by draft, the estimate beside it, and the emitted tokens against the target. `tokens` is the number of
/// tokens shown. Schema draftproof.simulate/2.
Document report_simulation(const SimulatedPosition& at, double confidence, int tokens, bool timings);

}  // namespace draftproof
