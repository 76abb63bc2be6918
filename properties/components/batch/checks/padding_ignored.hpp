// The ids after a short row's drafts have no effect: no padding is tested, accepted or emitted.
//
// Cost: V + 1 runs a turn.
//
// Correctness: those columns hold no drafts.
#pragma once

#include <algorithm>

#include <fmt/format.h>

#include <draftproof/properties/components/batch/built_batch.hpp>

namespace draftproof::checks::batch {

struct PaddingIgnored {
  static constexpr std::string_view name = "padding_ignored";
  static constexpr std::string_view about = "ids behind the drafts are never used";

  static Answer check(const BatchRunner& runner, const BatchCase& one, std::uint64_t& work) {
    bool ragged = false;
    for (const auto& request : one.requests) ragged = ragged || request.drafts() < one.longest();
    if (!ragged) return Answer::not_applicable();
    for (std::uint32_t turn = 0; turn < batch_turns; ++turn) {
      const std::vector<BatchRow> padded = BuiltBatch(one, turn).run(runner);
      ++work;
      for (std::size_t r = 0; r < padded.size(); ++r) {
        if (padded[r].accepted > one.requests[r].drafts())
          return Answer::violated(fmt::format("turn {}: request {} has {} drafts and {} accepted", turn, r,
                                              one.requests[r].drafts(), padded[r].accepted));
        if (std::count(padded[r].emitted.begin(), padded[r].emitted.end(), pad_id) > 0)
          return Answer::violated(fmt::format("turn {}: request {} emits padding: {}", turn, r, padded[r].text()));
      }
      for (Token pad = 0; pad < one.vocabulary(); ++pad, ++work)
        if (const auto filled = BuiltBatch(one, turn, {.pad = pad}).run(runner); filled != padded)
          return Answer::violated(fmt::format("turn {}: padding with id {} changes the output", turn, pad));
    }
    return Answer::held();
  }
};

}  // namespace draftproof::checks::batch
