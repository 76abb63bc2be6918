// The optimum of a draft law at one position, wherever a method for it is known: the ratio scan for i.i.d. drafts,
// p(set) for a law without randomness, the law's own file in optimum/laws, and all cuts by enumeration for the rest
// while V is small.
#pragma once

#include <optional>

#include <draftproof/optimum/law_optimum.hpp>
#include <draftproof/properties/subjects/any_verifier.hpp>

namespace draftproof {

/// Bounds on the largest membership acceptance of any lossless verifier of `drafts` drafts of this law, equal where
/// the method is exact; nothing where none is known at this size. The law is defined for these arguments.
std::optional<OptimumBounds> optimum_bounds_of(const AnyDrafter& drafter, const RatioTable& table, int drafts);

/// The upper bound where both agree to the six digits of a report; nothing otherwise.
std::optional<double> optimum_of(const AnyDrafter& drafter, const RatioTable& table, int drafts);

/// Whether the optimum is exactly 1 for the laws as the table serves them, decided without a tolerance; nothing where
/// no method decides it.
std::optional<bool> always_accepts(const AnyDrafter& drafter, const RatioTable& table, int drafts);

}  // namespace draftproof
