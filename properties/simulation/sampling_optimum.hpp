// The optimum of a draft sampling at one position, by the best known method: the ratio scan for i.i.d. drafts,
// p(set) for fixed drafts, the sampling's file in optimum/distributions, and otherwise enumeration of all cuts at
// small V.
#pragma once

#include <optional>

#include <draftproof/optimum/sampling_optimum.hpp>
#include <draftproof/properties/subjects/any_verifier.hpp>

namespace draftproof {

/// Returns bounds on the largest acceptance (any draft emitted) of any lossless verifier with `drafts` drafts
/// of this drafter, equal if the method is exact; nullopt if no method is known at this size. Requires that the
/// draft sampling is defined for these arguments.
std::optional<OptimumBounds> optimum_bounds_of(const AnyDrafter& drafter, const RatioTable& table, int drafts);

/// Returns the upper bound if both bounds agree to six digits; nullopt otherwise.
std::optional<double> optimum_of(const AnyDrafter& drafter, const RatioTable& table, int drafts);

/// Whether the optimum is exactly 1 for the rows in the table, decided without a tolerance; nullopt if no
/// method decides it.
std::optional<bool> always_accepts(const AnyDrafter& drafter, const RatioTable& table, int drafts);

}  // namespace draftproof
