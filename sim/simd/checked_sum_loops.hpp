// The loops that check, sum and normalise a row in wide registers; stored_row.hpp says what they compute, in its
// scalar twins.
#pragma once

#include <cstddef>
#include <cstdint>

#include <draftproof/sim/device/host_device.hpp>
#include <draftproof/sim/simd/readers.hpp>
#include <draftproof/sim/simd/registers.hpp>

#define DRAFTPROOF_BODY <draftproof/sim/simd/checked_sum_body.hpp>
#include <draftproof/sim/simd/each_width.hpp>
