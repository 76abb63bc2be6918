// Stored numbers as laws: the check for each kind of value, and the filter. One function for each form of capture.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <draftproof/captures/capture_schema.hpp>
#include <draftproof/captures/filter.hpp>
#include <draftproof/captures/row.hpp>

namespace draftproof {

/// The law [V] of one full row. Log-probabilities and logits may be -inf (probability 0); no entry may be NaN or
/// +inf; probabilities and exponentials must sum to 1 (tolerances in row.hpp). Throws: InputError.
std::vector<double> full_law(std::span<const double> stored, Values values, const Filter& filter,
                             const RowPlace& place);

/// The law [K + 1] of one truncated row: K probabilities, which must be 0 where `padding` is true, and the rest. The
/// full law's temperature and top-p cannot be computed from it, so the filter must be the default.
/// Throws: InputError.
std::vector<double> truncated_law(std::span<const double> stored, const std::vector<bool>& padding, double rest,
                                  const Filter& filter, const RowPlace& place);

}  // namespace draftproof
