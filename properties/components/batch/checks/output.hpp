// Checks of batch runners: the contents of the output.
#pragma once

#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <draftproof/properties/components/batch/batch_distribution.hpp>
#include <draftproof/properties/components/batch/built_batch.hpp>

namespace draftproof::checks::batch {

// If a request's accepted count is n, its emitted tokens are its first n drafts in order, and one more token unless a
// stop token or limit cut the step.
//
// Cost: one run per turn.
//
// Correctness: an engine advances its cache by the accepted count, so a wrong count makes the cache wrong.
struct AcceptedCounts {
  static constexpr std::string_view name = "accepted_counts";
  static constexpr std::string_view about = "accepted counts agree with the emitted tokens";

  static Answer check(const BatchRunner& runner, const BatchCase& one, std::uint64_t& work) {
    for (std::uint32_t turn = 0; turn < batch_turns; ++turn, ++work) {
      const BuiltBatch batch(one, turn);
      const std::vector<BatchRow> rows = batch.run(runner);
      for (std::size_t r = 0; r < rows.size(); ++r) {
        if (rows[r].refused) return Answer::failed(fmt::format("trial {}: request {} is refused", turn, r));
        const auto& drafts = batch.drafted(static_cast<int>(r));
        const auto accepted = static_cast<std::size_t>(rows[r].accepted), size = rows[r].emitted.size();
        const bool counts = accepted <= drafts.size() && (size == accepted || size == accepted + 1) &&
                            std::equal(drafts.begin(), drafts.begin() + rows[r].accepted, rows[r].emitted.begin());
        const bool whole = one.requests[r].stop < 0 && one.requests[r].limit == 0;
        if (!counts || (whole && size != accepted + 1))
          return Answer::failed(fmt::format("trial {}: request {} with drafts [{}] gives {}", turn, r,
                                            fmt::join(drafts, " "), rows[r].text()));
      }
    }
    return Answer::passed();
  }
};

// The runner rejects a request with a row that is not a distribution, and the output of other requests does not change.
// Such rows have NaN, infinity, a negative weight, or only zeros (logits that were all minus infinity).
//
// Cost: four runs per request and turn.
//
// Correctness: nothing can be drawn from such a row, and a token emitted for it would look valid.
struct BadRowsRefused {
  static constexpr std::string_view name = "bad_rows_refused";
  static constexpr std::string_view about = "rows that are not distributions are refused, and no others";

  static Answer check(const BatchRunner& runner, const BatchCase& one, std::uint64_t& work) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    constexpr float values[] = {0.0F, std::numeric_limits<float>::quiet_NaN(), infinity, -1.0F};
    const auto size = static_cast<std::size_t>(one.vocabulary());
    for (std::uint32_t turn = 0; turn < 4; ++turn) {
      const std::vector<BatchRow> sound = BuiltBatch(one, turn).run(runner);
      for (std::size_t r = 0; r < one.requests.size(); ++r)
        for (const float value : values) {
          BuiltBatch batch(one, turn);
          const std::size_t first = batch.target_row(static_cast<int>(r));
          std::fill_n(batch.target().begin() + static_cast<std::ptrdiff_t>(first), size, value);
          const std::vector<BatchRow> rows = batch.run(runner);
          ++work;
          if (!rows[r].refused || !rows[r].emitted.empty())
            return Answer::failed(
                fmt::format("trial {}: request {} with a row of {} gives {}", turn, r, value, rows[r].text()));
          for (std::size_t other = 0; other < rows.size(); ++other)
            if (other != r && rows[other] != sound[other])
              return Answer::failed(
                  fmt::format("trial {}: a row of {} in request {} changes request {}", turn, value, r, other));
        }
    }
    return Answer::passed();
  }
};

// Every emitted id is a token of the vocabulary, whether or not the vocabulary is a multiple of a tile: 2 to 9
// tokens, and the case's own size.
//
// Cost: one run per turn and size.
//
// Correctness: in a last tile that is not full, lanes after the last token hold no token.
struct IdsInRange {
  static constexpr std::string_view name = "ids_in_range";
  static constexpr std::string_view about = "no id is negative or beyond the vocabulary";

  static std::vector<BatchCase> cases(std::uint64_t seed, int rounds) {
    std::vector<BatchCase> cases = BatchGroup::cases(seed, rounds);
    for (int vocabulary = 2; vocabulary <= 9; ++vocabulary) {
      const std::vector<int> row(static_cast<std::size_t>(vocabulary), 1);
      cases.push_back({.requests = {{.target = {row, row}, .proposal = {row}}, {.target = {row}, .proposal = {}}},
                       .order = {0, 1}});
    }
    return cases;
  }

  static Answer check(const BatchRunner& runner, const BatchCase& one, std::uint64_t& work) {
    for (std::uint32_t turn = 0; turn < batch_turns; ++turn, ++work) {
      const std::vector<BatchRow> rows = BuiltBatch(one, turn).run(runner);
      for (std::size_t r = 0; r < rows.size(); ++r)
        for (const Token x : rows[r].emitted)
          if (x < 0 || x >= one.vocabulary())
            return Answer::failed(
                fmt::format("trial {}: request {} of {} tokens gives {}", turn, r, one.vocabulary(), rows[r].text()));
    }
    return Answer::passed();
  }
};

// No row emits a token of weight 0 or a masked token: the mass of such tokens over all branches is exactly 0.
//
// Cost: as for row_distribution, with the same enumeration.
//
// Correctness: one emitted token of this kind proves a defect. A wrong distribution need not emit such a token.
struct NoForbiddenToken {
  static constexpr std::string_view name = "no_forbidden_token";
  static constexpr std::string_view about = "tokens of weight 0 or under a mask are never emitted";
  static constexpr Tier tier = Tier::proof;

  static Answer check(const BatchRunner& runner, const BatchCase& one, std::uint64_t& work) {
    return check(runner, one, work, {});
  }
  static Answer check(const BatchRunner& runner, const BatchCase& one, std::uint64_t& work, ExplorerLimits limits) {
    return judge_rows(runner, one, work, limits, &BatchDistribution::forbidden);
  }
};

// A stop token ends the step and is its last token; a limit bounds the length of a step. Nothing else changes.
//
// Cost: two runs per turn.
//
// Correctness: the same random bits without stop token and limit give the uncut step.
struct OutputCut {
  static constexpr std::string_view name = "output_cut";
  static constexpr std::string_view about = "steps end with their stop token or at their limit";

  static Answer check(const BatchRunner& runner, const BatchCase& one, std::uint64_t& work) {
    const BatchCase uncut = one.uncut();
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
          return Answer::failed(fmt::format("trial {}: request {} gives {} uncut, cut {}, expected {}", turn, r,
                                            before, cut[r].text(), whole[r].text()));
      }
    }
    return Answer::passed();
  }
};

// Every request consumes as many random numbers as its runner declares for its drafts and accepted drafts.
//
//   declared    runner.declared_draws(drafts, accepted): by default a uniform for every test and one draw of a token
//
// Cost: one run per turn.
//
// Correctness: the next call of a request continues its stream after these numbers. One number too many or too
// few leaves every distribution right, but runs that should be reproducible differ. Cut steps, whose accepted
// drafts are unknown, and refused requests are skipped.

struct DrawsDeclared {
  static constexpr std::string_view name = "draws_declared";
  static constexpr std::string_view about = "a request consumes as many random numbers as its runner declares";

  static Answer check(const BatchRunner& runner, const BatchCase& one, std::uint64_t& work) {
    const BatchCase uncut = one.uncut();
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
          return Answer::failed(
              fmt::format("trial {}: request {} with {} of {} drafts accepted draws {} and {}, declared {} and {}",
                          turn, r, rows[r].accepted, drafts, coins(found.flips), draws(found.picks),
                          coins(wanted.flips), draws(wanted.picks)));
      }
    }
    return Answer::passed();
  }

 private:
  static ChainDraws drawn(const BatchStreams& streams, const StreamAddress& own, int drafts) {
    ChainDraws found{0, 0};
    for (const BatchDraw& draw : streams.draws()) {
      const auto [key, stream, position] = draw.address;
      if (key != own.key || stream != own.stream || position < own.position ||
          position > own.position + static_cast<std::uint32_t>(drafts))
        continue;
      ++(draw.purpose == Purpose::flip ? found.flips : found.picks);
    }
    return found;
  }
  static std::string coins(int count) { return fmt::format("{} uniform{}", count, count == 1 ? "" : "s"); }
  static std::string draws(int count) { return fmt::format("{} token{}", count, count == 1 ? "" : "s"); }
};

}  // namespace draftproof::checks::batch
