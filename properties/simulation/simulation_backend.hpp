// Simulation on a device, as long and with the manners of one on the host: progress, a wish to stop, a limit of time.
//
// Cost: trials are asked for in rounds of 2^22 and then ever more, so that what is between them costs nothing and a
// wish is heard soon. Right because a range of trials is counted alike in one piece or in several.
#pragma once

#include <functional>

#include <draftproof/properties/simulation/simulation.hpp>
#include <draftproof/properties/simulation/trial_device.hpp>

namespace draftproof {

/// Trials in even rounds until none are left, `done` of them before each; returns how many were run.
std::uint64_t in_rounds(const TrialBudget& budget,
                        const std::function<void(std::uint64_t done, std::uint64_t count)>& run);

/// The Tally that simulate(what, table, budget) has on the host. Throws std::invalid_argument where drafts are to be
/// drawn lazily, which spares a device nothing.
Tally simulate(const Simulation& what, const TrialTable& on, const TrialBudget& budget);

}  // namespace draftproof
