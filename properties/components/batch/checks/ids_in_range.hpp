// Every emitted id is a token of the vocabulary, whether or not the vocabulary is a multiple of a tile: 2 to 9
// tokens, and the case's own size.
//
// Cost: one run a turn and size.
//
// Correctness: lanes after the last token hold no token.
#pragma once

#include <fmt/format.h>

#include <draftproof/properties/components/batch/built_batch.hpp>

namespace draftproof::checks::batch {

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
            return Answer::violated(
                fmt::format("turn {}: request {} of {} tokens gives {}", turn, r, one.vocabulary(), rows[r].text()));
    }
    return Answer::held();
  }
};

}  // namespace draftproof::checks::batch
