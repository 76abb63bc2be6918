// Every request consumes the random numbers that its runner declares for its drafts and accepted drafts, and no
// others.
//
//   declared    runner.declared_draws(drafts, accepted): a coin for every test and one draw, unless a runner says else
//
// Cost: one run a turn.
//
// Correctness: what a request draws is the part of a stream that its next call begins after. A number too many or too
// few leaves every law as it is and makes runs that should repeat differ. Steps that were cut, whose accepted drafts
// are not known, and refused requests are left out.
#pragma once

#include <fmt/format.h>

#include <draftproof/properties/components/batch/built_batch.hpp>

namespace draftproof::checks::batch {

struct DrawsDeclared {
  static constexpr std::string_view name = "draws_declared";
  static constexpr std::string_view about = "a request consumes as many random numbers as its runner declares";

  static Answer check(const BatchRunner& runner, const BatchCase& one, std::uint64_t& work) {
    BatchCase uncut = one;
    for (BatchCaseRequest& request : uncut.requests) {
      request.stop = no_token;
      request.limit = 0;
    }
    for (std::uint32_t turn = 0; turn < batch_turns; ++turn, ++work) {
      const BuiltBatch batch(uncut, turn);
      BatchStreams streams;
      const std::vector<BatchRow> rows = batch.run(runner, streams);
      for (std::size_t r = 0; r < rows.size(); ++r) {
        if (rows[r].refused) continue;
        const int drafts = uncut.requests[r].drafts();
        const ChainDraws wanted = runner.declared_draws(drafts, rows[r].accepted);
        const ChainDraws found = drawn(streams, batch.address(static_cast<int>(r)), drafts);
        if (found != wanted)
          return Answer::violated(
              fmt::format("turn {}: request {} with {} of {} drafts accepted draws {} and {}, declared {} and {}",
                          turn, r, rows[r].accepted, drafts, coins(found.flips), draws(found.picks),
                          coins(wanted.flips), draws(wanted.picks)));
      }
    }
    return Answer::held();
  }

 private:
  static ChainDraws drawn(const BatchStreams& streams, const StreamAddress& own, int drafts) {
    ChainDraws found{0, 0};
    for (const BatchDraw& draw : streams.ledger()) {
      const auto [key, stream, position] = draw.address;
      if (key != own.key || stream != own.stream || position < own.position ||
          position > own.position + static_cast<std::uint32_t>(drafts))
        continue;
      ++(draw.purpose == Purpose::flip ? found.flips : found.picks);
    }
    return found;
  }
  static std::string coins(int count) { return fmt::format("{} coin{}", count, count == 1 ? "" : "s"); }
  static std::string draws(int count) { return fmt::format("{} token{}", count, count == 1 ? "" : "s"); }
};

}  // namespace draftproof::checks::batch
