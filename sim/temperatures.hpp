// What the logits of a position are divided by.
#pragma once

namespace draftproof {

struct Temperatures {
  double target = 1, proposal = 1;
};

}  // namespace draftproof
