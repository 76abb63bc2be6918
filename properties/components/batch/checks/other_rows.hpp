// Checks of batch runners: a row does not depend on the other rows.
#pragma once

#include <algorithm>
#include <map>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <draftproof/properties/components/batch/batch_distribution.hpp>
#include <draftproof/properties/components/batch/batch_history.hpp>
#include <draftproof/properties/components/batch/built_batch.hpp>

namespace draftproof::checks::batch {

// In a history of calls of one runner, in which requests join, take part without drafts, leave, and return in another
// slot, each request gives the same output as if the runner had been called for this request alone.
//
//   call       the requests that take part, in a random order of slots; some of them with fewer drafts or none
//   position   number of tokens that a request has emitted so far: the address of its random bits in the next call
//
// Cost: for each call a run of the batch and a run of each request alone; eight calls per turn.
//
// Correctness: a request's output is a function of its rows, drafts and random bits, whatever the runner
// caches. The check also requires that random bits are read at positions of the requests, because a wrong position
// that is the same alone and in the batch would pass the comparison. Stop tokens and limits end a request, so they are
// removed.

struct Histories {
  static constexpr std::string_view name = "histories";
  static constexpr std::string_view about =
      "over calls in which requests join, idle, leave and return, each gets the same result as alone";
  static constexpr int calls = 8;

  static Answer check(const BatchRunner& runner, const BatchCase& cut, std::uint64_t& work) {
    const BatchCase one = cut.uncut();
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
        for (const BatchDraw& draw : streams.draws())
          if (!own_word(now, built, draw.address))
            return Answer::failed(
                fmt::format("trial {}: in call {} of {} random bits of position {} are read, which no request has",
                            turn, call + 1, story, draw.address.position));
        for (std::size_t n = 0; n < now.requests.size(); ++n, ++work) {
          const int r = now.requests[n];
          auto& session = alone[r];
          if (!session) session = runner.start();
          BatchStreams own;
          const BatchRow wanted = now.built(positions, static_cast<int>(n)).run(*session, own)[n];
          if (rows[n] != wanted)
            return Answer::failed(
                fmt::format("trial {}: in call {} of {} request {} gives {}, but alone with the same history {}",
                            turn, call + 1, story, r, rows[n].text(), wanted.text()));
        }
        for (std::size_t n = 0; n < now.requests.size(); ++n)
          positions[static_cast<std::size_t>(now.requests[n])] += static_cast<std::uint32_t>(rows[n].emitted.size());
      }
    }
    return Answer::passed();
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

// By the log of draws of a batch, no random bits are read twice, and each request reads only at its seed and positions.
//
//   address    (key, stream, position) of a draw
//
// Cost: one run per turn, a sort of its draws.
//
// Correctness: rows that share random bits are not independent, even if each has the right distribution. The
// check needs no statistics.
struct BuiltInWords {
  static constexpr std::string_view name = "own_words";
  static constexpr std::string_view about = "no random bits are read twice or by the wrong request";

  static Answer check(const BatchRunner& runner, const BatchCase& one, std::uint64_t& work) {
    for (std::uint32_t turn = 0; turn < batch_turns; ++turn, ++work) {
      const BuiltBatch batch(one, turn);
      BatchStreams streams;
      batch.run(runner, streams);
      std::vector<BatchDraw> draws = streams.draws();
      std::sort(draws.begin(), draws.end());
      if (const auto twice = std::adjacent_find(draws.begin(), draws.end()); twice != draws.end())
        return Answer::failed(
            fmt::format("trial {}: {}: these random bits are read twice", turn, text(twice->address)));
      for (const BatchDraw& draw : draws)
        if (!declared(one, batch, draw.address))
          return Answer::failed(
              fmt::format("trial {}: {}: random bits that belong to no request are read", turn, text(draw.address)));
    }
    return Answer::passed();
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

// The ids after a short row's drafts have no effect: no padding is tested, accepted or emitted.
//
// Cost: V + 1 runs per turn.
//
// Correctness: the columns after a request's drafts are not data.
struct PaddingIgnored {
  static constexpr std::string_view name = "padding_ignored";
  static constexpr std::string_view about = "ids after the last draft are never used";

  static Answer check(const BatchRunner& runner, const BatchCase& one, std::uint64_t& work) {
    bool ragged = false;
    for (const auto& request : one.requests) ragged = ragged || request.drafts() < one.longest();
    if (!ragged) return Answer::not_applicable();
    for (std::uint32_t turn = 0; turn < batch_turns; ++turn) {
      const std::vector<BatchRow> padded = BuiltBatch(one, turn).run(runner);
      ++work;
      for (std::size_t r = 0; r < padded.size(); ++r) {
        if (padded[r].accepted > one.requests[r].drafts())
          return Answer::failed(fmt::format("trial {}: request {} has {} drafts and {} accepted", turn, r,
                                            one.requests[r].drafts(), padded[r].accepted));
        if (std::count(padded[r].emitted.begin(), padded[r].emitted.end(), pad_id) > 0)
          return Answer::failed(fmt::format("trial {}: request {} emits padding: {}", turn, r, padded[r].text()));
      }
      for (Token pad = 0; pad < one.vocabulary(); ++pad, ++work)
        if (const auto filled = BuiltBatch(one, turn, {.pad = pad}).run(runner); filled != padded)
          return Answer::failed(fmt::format("trial {}: padding with id {} changes the output", turn, pad));
    }
    return Answer::passed();
  }
};

// A request gives the same tokens alone as in its batch: it neither reads nor writes another request's data.
//
// Cost: B + 1 runs per turn.
//
// Correctness: a row's random bits are addressed by its seed and position.
struct RowAlone {
  static constexpr std::string_view name = "row_alone";
  static constexpr std::string_view about = "a request gives the same tokens alone as in the batch";

  static Answer check(const BatchRunner& runner, const BatchCase& one, std::uint64_t& work) {
    if (one.requests.size() < 2) return Answer::not_applicable();
    for (std::uint32_t turn = 0; turn < batch_turns; ++turn) {
      const std::vector<BatchRow> together = BuiltBatch(one, turn).run(runner);
      ++work;
      for (int r = 0; r < static_cast<int>(one.requests.size()); ++r, ++work) {
        const BatchRow own = BuiltBatch(one, turn, {.only = r}).run(runner)[static_cast<std::size_t>(r)];
        const BatchRow& row = together[static_cast<std::size_t>(r)];
        if (row != own)
          return Answer::failed(
              fmt::format("trial {}: request {} alone gives {}, in the batch {}", turn, r, own.text(), row.text()));
      }
    }
    return Answer::passed();
  }
};

// Every row has the right exact distribution in its batch: for any random bits of the other requests, if a step
// continues after a prefix, the next token has the target's distribution there, without masked tokens.
//
//   W        tokens of a request; its drafts are enumerated too, stop tokens and limits are removed
//
// Cost: every drafted chain and every branch of the runner on it, in fractions, for each request in turn; the
// other requests draw their random bits.
//
// Correctness: rows are independent if each has the target's distribution given the random bits of the others.

struct RowDistribution {
  static constexpr std::string_view name = "row_distribution";
  static constexpr std::string_view about =
      "each row has its target's distribution given the draws of the other rows";
  static constexpr Tier tier = Tier::proof;

  static Answer check(const BatchRunner& runner, const BatchCase& one, std::uint64_t& work) {
    return check(runner, one, work, {});
  }
  static Answer check(const BatchRunner& runner, const BatchCase& one, std::uint64_t& work, ExplorerLimits limits) {
    return judge_rows(runner, one, work, limits, &BatchDistribution::wrong_prefix);
  }
};

// Slots may change between drafting and verification: every request gives the same output as in the order of
// drafting.
//
// Cost: two runs per turn.
//
// Correctness: a request's distribution and random bits do not depend on its slot.
struct SlotsPermuted {
  static constexpr std::string_view name = "slots_permuted";
  static constexpr std::string_view about = "the order of the slots does not change a request's result";

  static Answer check(const BatchRunner& runner, const BatchCase& one, std::uint64_t& work) {
    if (std::is_sorted(one.order.begin(), one.order.end())) return Answer::not_applicable();
    for (std::uint32_t turn = 0; turn < batch_turns; ++turn, work += 2) {
      const std::vector<BatchRow> here = BuiltBatch(one, turn).run(runner);
      const std::vector<BatchRow> sorted = BuiltBatch(one, turn, {.sorted = true}).run(runner);
      for (std::size_t r = 0; r < here.size(); ++r)
        if (here[r] != sorted[r])
          return Answer::failed(fmt::format("trial {}: request {} gives {} in the order of drafting, {} reordered",
                                            turn, r, sorted[r].text(), here[r].text()));
    }
    return Answer::passed();
  }
};

}  // namespace draftproof::checks::batch
