// IEEE 754 binary16: 11 significant bits and a short exponent.
//
//   u        2^-11    rounding moves a normal number by at most u of itself (short_float.hpp)
//   2^-14             least normal number: most probabilities of a large vocabulary lie below it
//   2^-24             least number; an entry moves by up to half of it, 2^-25
//   65504             largest finite number: logits fit, masks of -1e9 become -infinity
//
// Cost: widening is a few integer operations, or one instruction of the processor. Right because float has the wider
// exponent: a denormal of this format is a normal float.
#pragma once

#include <draftproof/sim/short_float.hpp>

namespace draftproof {

using Half = ShortFloat<5>;

static_assert(sizeof(Half) == 2 && Half::fraction_bits == 10 && Half::bias == 15);

}  // namespace draftproof
