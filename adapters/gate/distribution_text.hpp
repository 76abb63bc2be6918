// The text of a distribution that was found by calls.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <draftproof/adapters/explorer/explore.hpp>

namespace draftproof::adapters {

/// Returns the name of a kind of draw in the protocol, such as "coin".
std::string_view to_text(DrawKind kind);

/// Returns the name of a status in the protocol, such as "no_mass".
std::string_view to_text(RowStatus status);

/// Returns an outcome as "(0 2)", its tokens, or as "status failed: ValueError: no mass".
std::string outcome_text(const Outcome& outcome);

/// Returns "(0) 1/4, (1) 3/4": outcomes with their probabilities, in the order of `outcomes`.
std::string outcomes_text(std::span<const OutcomeMass> outcomes);

/// Returns a stretch as "place 0, coin accept, 0 .. 8388607 of 2^24"; a stream without a name is left out.
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
