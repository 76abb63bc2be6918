// Slots may change between drafting and verification: every request gives the same as in the order of drafting.
//
// Cost: two runs a turn.
//
// Correctness: a slot is not part of a request's law or words.
#pragma once

#include <algorithm>

#include <fmt/format.h>

#include <draftproof/properties/components/batch/built_batch.hpp>

namespace draftproof::checks::batch {

struct SlotsPermuted {
  static constexpr std::string_view name = "slots_permuted";
  static constexpr std::string_view about = "reordered slots change nothing";

  static Answer check(const BatchRunner& runner, const BatchCase& one, std::uint64_t& work) {
    if (std::is_sorted(one.order.begin(), one.order.end())) return Answer::not_applicable();
    for (std::uint32_t turn = 0; turn < batch_turns; ++turn, work += 2) {
      const std::vector<BatchRow> here = BuiltBatch(one, turn).run(runner);
      const std::vector<BatchRow> sorted = BuiltBatch(one, turn, {.sorted = true}).run(runner);
      for (std::size_t r = 0; r < here.size(); ++r)
        if (here[r] != sorted[r])
          return Answer::violated(fmt::format("turn {}: request {} gives {} in the order of drafting, {} reordered",
                                              turn, r, sorted[r].text(), here[r].text()));
    }
    return Answer::held();
  }
};

}  // namespace draftproof::checks::batch
