// A request gives in every call of a history what it gives alone with the same history: requests come, idle without
// drafts, leave, and return in another slot, while the runner is never started anew.
//
//   call       the requests that take part, in slots of their own order; some of them without drafts or with fewer
//   position   tokens that a request has emitted so far: where its words begin in the next call
//
// Cost: a run of the batch and one of each request a call, eight calls a turn.
//
// Correctness: what a request emits is a function of its rows, drafts and words. A runner may keep anything from call
// to call, but not let it be seen. Its words are those of its own positions: a history that is wrong alone as in the
// batch would pass a comparison. Stop tokens and limits end a request, so they are left out.
#pragma once

#include <algorithm>
#include <map>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <draftproof/properties/components/batch/batch_history.hpp>

namespace draftproof::checks::batch {

struct Histories {
  static constexpr std::string_view name = "histories";
  static constexpr std::string_view about =
      "over calls in which requests come, idle, leave and return, each gives what it gives alone";
  static constexpr int calls = 8;

  static Answer check(const BatchRunner& runner, const BatchCase& cut, std::uint64_t& work) {
    BatchCase one = cut;
    for (BatchCaseRequest& request : one.requests) {
      request.stop = no_token;
      request.limit = 0;
    }
    for (std::uint32_t turn = 0; turn < 4; ++turn) {
      const auto together = runner.start();
      std::map<int, std::unique_ptr<BatchSession>> alone;
      std::vector<std::uint32_t> positions(one.requests.size(), 8 * turn);
      std::string story;
      for (int call = 0; call < calls; ++call) {
        const BatchCall now = history_call(one, turn, call);
        story += (story.empty() ? "" : ", then ") + now.text();
        BatchStreams streams;
        const BuiltBatch built = now.built(positions);
        const auto rows = built.run(*together, streams);
        ++work;
        for (const BatchDraw& draw : streams.ledger())
          if (!own_word(now, built, draw.address))
            return Answer::violated(
                fmt::format("turn {}: in call {} of {} a word of position {} is read, where no request is", turn,
                            call + 1, story, draw.address.position));
        for (std::size_t n = 0; n < now.requests.size(); ++n, ++work) {
          const int r = now.requests[n];
          auto& session = alone[r];
          if (!session) session = runner.start();
          BatchStreams own;
          const BatchRow wanted = now.built(positions, static_cast<int>(n)).run(*session, own)[n];
          if (rows[n] != wanted)
            return Answer::violated(
                fmt::format("turn {}: in call {} of {} request {} gives {}, alone with the same history {}", turn,
                            call + 1, story, r, rows[n].text(), wanted.text()));
        }
        for (std::size_t n = 0; n < now.requests.size(); ++n)
          positions[static_cast<std::size_t>(now.requests[n])] += static_cast<std::uint32_t>(rows[n].emitted.size());
      }
    }
    return Answer::held();
  }

 private:
  static bool own_word(const BatchCall& now, const BuiltBatch& built, const StreamAddress& word) {
    for (std::size_t n = 0; n < now.requests.size(); ++n) {
      const StreamAddress own = built.address(static_cast<int>(n));
      const auto past = own.position + static_cast<std::uint32_t>(now.drafts[n]);
      if (word.key == own.key && word.stream == own.stream && word.position >= own.position && word.position <= past)
        return true;
    }
    return false;
  }
};

}  // namespace draftproof::checks::batch
