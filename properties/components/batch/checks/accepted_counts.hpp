// The accepted count of a row agrees with its emitted tokens: that many drafts, in order, and one more token unless
// the step was cut.
//
// Cost: one run a turn.
//
// Correctness: by the meaning of the count, with which an engine advances its cache.
#pragma once

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <draftproof/properties/components/batch/built_batch.hpp>

namespace draftproof::checks::batch {

struct AcceptedCounts {
  static constexpr std::string_view name = "accepted_counts";
  static constexpr std::string_view about = "accepted counts agree with the emitted tokens";

  static Answer check(const BatchRunner& runner, const BatchCase& one, std::uint64_t& work) {
    for (std::uint32_t turn = 0; turn < batch_turns; ++turn, ++work) {
      const BuiltBatch batch(one, turn);
      const std::vector<BatchRow> rows = batch.run(runner);
      for (std::size_t r = 0; r < rows.size(); ++r) {
        if (rows[r].refused) return Answer::violated(fmt::format("turn {}: request {} is refused", turn, r));
        const auto& drafts = batch.drafted(static_cast<int>(r));
        const auto accepted = static_cast<std::size_t>(rows[r].accepted), size = rows[r].emitted.size();
        const bool counts = accepted <= drafts.size() && (size == accepted || size == accepted + 1) &&
                            std::equal(drafts.begin(), drafts.begin() + rows[r].accepted, rows[r].emitted.begin());
        const bool whole = one.requests[r].stop < 0 && one.requests[r].limit == 0;
        if (!counts || (whole && size != accepted + 1))
          return Answer::violated(fmt::format("turn {}: request {} with drafts [{}] gives {}", turn, r,
                                              fmt::join(drafts, " "), rows[r].text()));
      }
    }
    return Answer::held();
  }
};

}  // namespace draftproof::checks::batch
