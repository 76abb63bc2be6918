// The optimum of a draft law at one position, by the method known for it: the ratio scan for i.i.d. drafts, p(set)
// for a law without randomness, the law's own file in optimum/laws, and enumeration of all cuts for the rest at small
// V.
#pragma once

#include <optional>

#include <draftproof/optimum/law_optimum.hpp>
#include <draftproof/properties/subjects/any_verifier.hpp>

namespace draftproof {

/// Bounds on the largest membership acceptance of any lossless verifier of `drafts` drafts of this law. They are
/// equal if the method is exact; nothing if no method is known at this size. Requires that the law is defined for
/// these arguments.
std::optional<OptimumBounds> optimum_bounds_of(const AnyDrafter& drafter, const RatioTable& table, int drafts);

/// The upper bound, if both bounds agree to six digits; nothing otherwise.
std::optional<double> optimum_of(const AnyDrafter& drafter, const RatioTable& table, int drafts);

/// Whether the optimum is exactly 1 for the laws that the table represents, decided without a tolerance; nothing if
/// no method decides it.
std::optional<bool> always_accepts(const AnyDrafter& drafter, const RatioTable& table, int drafts);

}  // namespace draftproof
