// How far the histogram of an exact sampler is expected to be from its law, so that an observed distance can be
// read.
#pragma once

#include <cstdint>
#include <span>

namespace draftproof {

/// Expected total variation between `trials` draws from `law` and `law` itself. Each count is binomial; its mean
/// absolute deviation is exact (de Moivre 1730): 2 (m) (1 - p) Pr(X = m) with m = floor(n p) + 1, divided by n.
double expected_total_variation(std::span<const double> law, std::uint64_t trials);

/// Half the L1 distance of the histogram's frequencies from `law`; the counts are not all zero.
double observed_total_variation(std::span<const std::uint64_t> histogram, std::span<const double> law);

}  // namespace draftproof
