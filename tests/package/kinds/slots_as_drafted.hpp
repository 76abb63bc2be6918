// A wrong user-defined batch runner: it reads proposals as if the requests were in the slots in which they were
// drafted, so that a reordered batch reads other proposals.
#pragma once

#include "row_by_row.hpp"

namespace mine {

struct SlotsAsDrafted {
  static constexpr ComponentInfo info{.name = "slots_as_drafted",
                                      .summary = "proposals are found as if no slot had changed: wrong on purpose",
                                      .source = "a test"};

  template <class Random>
  BatchOutput verify(const RaggedBatch& batch, Random& random) {
    std::vector<int> places;
    for (int s = 0; s < batch.slots; ++s) places.push_back(s);
    RaggedBatch wrong = batch;
    wrong.drafted_at = places.data();
    return RowByRow{}.verify(wrong, random);
  }
};

}  // namespace mine
