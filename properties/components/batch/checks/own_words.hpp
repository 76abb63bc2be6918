// The ledger of a batch: no word is read twice, and each request reads only at its own seed and positions.
//
//   address    (key, stream, position) of a draw
//
// Cost: one run a turn, a sort of its draws.
//
// Correctness: rows that share a word are not independent, even if the law of each is right. The check needs no
// statistics.
#pragma once

#include <algorithm>

#include <fmt/format.h>

#include <draftproof/properties/components/batch/built_batch.hpp>

namespace draftproof::checks::batch {

struct OwnWords {
  static constexpr std::string_view name = "own_words";
  static constexpr std::string_view about = "no word is read twice or by the wrong request";

  static Answer check(const BatchRunner& runner, const BatchCase& one, std::uint64_t& work) {
    for (std::uint32_t turn = 0; turn < batch_turns; ++turn, ++work) {
      const BuiltBatch batch(one, turn);
      BatchStreams streams;
      batch.run(runner, streams);
      std::vector<BatchDraw> draws = streams.ledger();
      std::sort(draws.begin(), draws.end());
      if (const auto twice = std::adjacent_find(draws.begin(), draws.end()); twice != draws.end())
        return Answer::violated(fmt::format("turn {}: the word of {} is read twice", turn, text(twice->address)));
      for (const BatchDraw& draw : draws)
        if (!declared(one, batch, draw.address))
          return Answer::violated(fmt::format("turn {}: no request has the words of {}", turn, text(draw.address)));
    }
    return Answer::held();
  }

 private:
  static bool declared(const BatchCase& one, const BuiltBatch& batch, const StreamAddress& address) {
    for (std::size_t r = 0; r < one.requests.size(); ++r) {
      const StreamAddress own = batch.address(static_cast<int>(r));
      const auto past = own.position + static_cast<std::uint32_t>(one.requests[r].drafts());
      if (own.key == address.key && own.stream == address.stream && address.position >= own.position &&
          address.position <= past)
        return true;
    }
    return false;
  }
  static std::string text(const StreamAddress& address) {
    const bool engine = address.key == batch_engine_seed;
    return fmt::format(
        "{}, position {}",
        engine ? fmt::format("the engine's stream {}", address.stream) : fmt::format("seed {}", address.key),
        address.position);
  }
};

}  // namespace draftproof::checks::batch
