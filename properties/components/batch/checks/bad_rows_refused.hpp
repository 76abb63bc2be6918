// A row that is not a law is refused, and its neighbours do not change: NaN, infinity, a negative weight, only zeros
// (logits that were all minus infinity).
//
// Cost: four runs a request and turn.
//
// Correctness: no token is a draw from such a row, and a token emitted from it would look valid.
#pragma once

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include <draftproof/properties/components/batch/built_batch.hpp>

namespace draftproof::checks::batch {

struct BadRowsRefused {
  static constexpr std::string_view name = "bad_rows_refused";
  static constexpr std::string_view about = "rows that are no laws are refused, and only they";

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
            return Answer::violated(
                fmt::format("turn {}: request {} with a row of {} gives {}", turn, r, value, rows[r].text()));
          for (std::size_t other = 0; other < rows.size(); ++other)
            if (other != r && rows[other] != sound[other])
              return Answer::violated(
                  fmt::format("turn {}: a row of {} in request {} changes request {}", turn, value, r, other));
        }
    }
    return Answer::held();
  }
};

}  // namespace draftproof::checks::batch
