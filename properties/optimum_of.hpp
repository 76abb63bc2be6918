// The optimum of a draft law at one position, wherever a method for it is known.
#pragma once

#include <optional>

#include <draftproof/properties/subject.hpp>

namespace draftproof {

/// Largest membership acceptance of any lossless verifier of `drafts` drafts of this law. Ratio scan for i.i.d.
/// drafts at any V; p(set) for a law without randomness; all cuts, by enumeration, for V <= 10 and K <= 4; nothing
/// for the rest.
std::optional<double> optimum_of(const AnyDrafter& drafter, const RatioTable& table, int drafts);

}  // namespace draftproof
