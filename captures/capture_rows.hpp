// Stored numbers into laws: the check each kind of value owes, and the filter. One function per form of
// capture.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <draftproof/captures/capture_schema.hpp>
#include <draftproof/captures/filter.hpp>
#include <draftproof/captures/row.hpp>

namespace draftproof {

/// The law of one full row [V]. Log-probabilities and logits may be -inf (probability zero), nothing may be
/// NaN or +inf; probabilities and exponentials must sum to 1 (tolerances in row.hpp). Throws InputError.
std::vector<double> full_law(std::span<const double> stored, Values values, const Filter& filter,
                             const RowPlace& place);

/// The law [K + 1] of one truncated row: K probabilities, 0 where `padding` says, and the rest.
/// Temperature and top-p of the full law do not follow from it, so the filter must be the default one.
std::vector<double> truncated_law(std::span<const double> stored, const std::vector<bool>& padding, double rest,
                                  const Filter& filter, const RowPlace& place);

}  // namespace draftproof
