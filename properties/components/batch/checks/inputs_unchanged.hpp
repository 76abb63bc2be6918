// A call reads its inputs and writes none of them: rows, masks and drafts are compared before every draw and at the
// end.
//
// Cost: two runs a turn, and a comparison of all inputs a draw.
//
// Correctness: a row that is written and restored is the engine's own again at the end, but whoever reads it in
// between, a request that shares it or a kernel beside this one, reads something else. Inputs are compared at every
// draw, so that a restored row is seen as what it is.
#pragma once

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include <draftproof/properties/components/batch/batch_inputs.hpp>

namespace draftproof::checks::batch {

struct InputsUnchanged {
  static constexpr std::string_view name = "inputs_unchanged";
  static constexpr std::string_view about = "rows, masks and drafts are the same at every draw and after the call";

  static Answer check(const BatchRunner& runner, const BatchCase& one, std::uint64_t& work) {
    for (std::uint32_t turn = 0; turn < 4; ++turn, ++work) {
      const BuiltBatch batch(one, turn);
      const RaggedBatch view = batch.view();
      const BatchInputs before(view);
      std::optional<std::string> during;
      BatchStreams streams;
      streams.before_draw([&](const StreamAddress& address) {
        if (during) return;
        if (auto changed = before.difference())
          during = fmt::format("before the draw of position {}", address.position) + ": " + *changed;
      });
      runner.run(view, streams);
      const auto after = before.difference();
      if (during || after)
        return Answer::violated(fmt::format("turn {}: {}{}", turn, during ? *during : "after the call: " + *after,
                                            during && !after ? ", restored after the call" : ""));
    }
    return Answer::held();
  }
};

}  // namespace draftproof::checks::batch
