// A request alone gives the same bits as in its batch: it neither reads nor writes a neighbour's data.
//
// Cost: B + 1 runs a turn.
//
// Correctness: a row's words are addressed by its own seed and position.
#pragma once

#include <fmt/format.h>

#include <draftproof/properties/components/batch/built_batch.hpp>

namespace draftproof::checks::batch {

struct RowAlone {
  static constexpr std::string_view name = "row_alone";
  static constexpr std::string_view about = "a request alone gives what it gives in the batch";

  static Answer check(const BatchRunner& runner, const BatchCase& one, std::uint64_t& work) {
    if (one.requests.size() < 2) return Answer::not_applicable();
    for (std::uint32_t turn = 0; turn < batch_turns; ++turn) {
      const std::vector<BatchRow> together = BuiltBatch(one, turn).run(runner);
      ++work;
      for (int r = 0; r < static_cast<int>(one.requests.size()); ++r, ++work) {
        const BatchRow own = BuiltBatch(one, turn, {.only = r}).run(runner)[static_cast<std::size_t>(r)];
        const BatchRow& row = together[static_cast<std::size_t>(r)];
        if (row != own)
          return Answer::violated(
              fmt::format("turn {}: request {} alone gives {}, in the batch {}", turn, r, own.text(), row.text()));
      }
    }
    return Answer::held();
  }
};

}  // namespace draftproof::checks::batch
