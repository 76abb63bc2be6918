// The upper half of a float: its exponent and 8 significant bits. Most engines compute logits in this format.
//
//   u    2^-8    rounding moves a normal number by at most u of itself (short_float.hpp)
//
// Cost: widening is a shift. Right because every bit of it is a bit of the float.
#pragma once

#include <draftproof/sim/short_float.hpp>

namespace draftproof {

using Bfloat16 = ShortFloat<8>;

static_assert(sizeof(Bfloat16) == 2 && Bfloat16::fraction_bits == 7 && Bfloat16::bias == 127);

}  // namespace draftproof
