// The text of a distribution that was found by calls.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <draftproof/adapters/explorer/explore.hpp>

namespace draftproof::adapters {

/// The name of a kind of draw in the protocol: "coin".
std::string_view to_text(DrawKind kind);

/// The name of a status in the protocol: "no_mass".
std::string_view to_text(RowStatus status);

/// "(0 2)", or "status failed: ValueError: no mass".
std::string outcome_text(const Outcome& outcome);

/// "(0) 1/4, (1) 3/4", in the order of `outcomes`.
std::string outcomes_text(std::span<const OutcomeMass> outcomes);

/// "place 0, coin accept, 0 .. 8388607 of 2^24"; the stream is left out where it has no name.
std::string stretch_text(const Stretch& stretch);

/// Returns the draws that lead to an outcome on its likeliest path, "coin 0 (accept) is 3 .. 5 of 2^3 (0.375 ..
/// 0.625)": the first four draws that decide, or empty text if none does. Draws without a grid are left out. Requires
/// ExploreOptions::keep_stretches.
std::string way_text(const ProgramDistribution& distribution, const Outcome& outcome);

/// Returns which outcomes the values of each coin lead to: a line for each range of values with one outcome, in the
/// order of the draws. Coins whose values all lead to one outcome have no line. Requires
/// ExploreOptions::keep_stretches. Returns at most 24 lines; the last says how many lines were left out.
std::vector<std::string> deciding_lines(const ProgramDistribution& distribution);

}  // namespace draftproof::adapters
