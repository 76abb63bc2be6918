// A stop token ends the step and is its last token; a limit bounds the length of a step. Nothing else changes.
//
// Cost: two runs a turn.
//
// Correctness: the same words without stop and limit give the uncut step.
#pragma once

#include <algorithm>

#include <fmt/format.h>

#include <draftproof/properties/components/batch/built_batch.hpp>

namespace draftproof::checks::batch {

struct OutputCut {
  static constexpr std::string_view name = "output_cut";
  static constexpr std::string_view about = "steps end with their stop token or at their limit";

  static Answer check(const BatchRunner& runner, const BatchCase& one, std::uint64_t& work) {
    BatchCase uncut = one;
    for (auto& request : uncut.requests) {
      request.stop = no_token;
      request.limit = 0;
    }
    if (uncut == one) return Answer::not_applicable();
    for (std::uint32_t turn = 0; turn < batch_turns; ++turn, work += 2) {
      const std::vector<BatchRow> cut = BuiltBatch(one, turn).run(runner);
      std::vector<BatchRow> whole = BuiltBatch(uncut, turn).run(runner);
      for (std::size_t r = 0; r < cut.size(); ++r) {
        auto& tokens = whole[r].emitted;
        const std::string before = whole[r].text();
        const auto stop = std::find(tokens.begin(), tokens.end(), one.requests[r].stop);
        if (stop != tokens.end()) tokens.erase(stop + 1, tokens.end());
        const auto limit = static_cast<std::size_t>(one.requests[r].limit);
        if (limit > 0 && tokens.size() > limit) tokens.resize(limit);
        whole[r].accepted = std::min(whole[r].accepted, static_cast<int>(tokens.size()));
        if (cut[r] != whole[r])
          return Answer::violated(fmt::format("turn {}: request {} gives {} uncut, cut {}, wanted {}", turn, r,
                                              before, cut[r].text(), whole[r].text()));
      }
    }
    return Answer::held();
  }
};

}  // namespace draftproof::checks::batch
