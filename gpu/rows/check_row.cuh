// Checks one row of stored probabilities by a team, with the rule and the sum of checked_sum
// (sim/distributions/stored_row.hpp).
//
//   x    entry          at least 0 and below 2, which NaN is not
//   s    sum            of the entries, each rounded to a multiple of 2^-51
//   |s - 1| <= tolerance
//
// If an entry is invalid, the first invalid entry is reported and the sum is not checked.
// Cost: one read of the row, four barriers.
// Correctness: 2 + x lies in [2, 4), where doubles are multiples of 2^-51, so sums of entries are sums of integers in
// this unit. Every sum of at least 4 fails the test, so sums are capped at 4 and fit into 62 bits.
#pragma once

#include <cstdint>

#include <draftproof/gpu/rows/distinct_rows.hpp>
#include <draftproof/gpu/teams/team_search.cuh>

namespace draftproof::gpu {

/// The first invalid entry of a row, or no_token, and the sum in units of 2^-51, which is valid only if no entry is
/// invalid.
struct CheckedRow {
  Token unsound;
  Fixed units;

  DRAFTPROOF_DEVICE double sum() const { return static_cast<double>(units) * 0x1p-51; }
  DRAFTPROOF_DEVICE bool sound(double tolerance) const {
    const double off = sum() - 1;
    return unsound == no_token && -tolerance <= off && off <= tolerance;
  }
};

/// Checks a row. All threads of a team of one partition call it; all return the same result.
template <Team T, class Entry>
DRAFTPROOF_DEVICE CheckedRow check_entries(const T& team, const Entry* row, int vocabulary) {
  constexpr Fixed enough = Fixed{1} << 53;  // a sum of 4
  const int thread = team.warp() * team.lanes() + team.lane(), threads = team.warps() * team.lanes();
  Candidate own;
  Fixed sum = 0;
  for (Token x = thread; x < vocabulary; x += threads) {
    const auto entry = static_cast<double>(row[x]);
    if (0 <= entry && entry < 2)
      sum += static_cast<Fixed>(bit_cast<std::uint64_t>(2 + entry) - bit_cast<std::uint64_t>(2.0));
    else if (own.token == no_token)
      own = {0, x};
    if (sum > enough) sum = enough;
  }
  const Candidate unsound = team_first(team, own, vocabulary);
  sum = team.lane_sum(sum);
  team.put(team.warp(), sum);
  team.barrier();
  Fixed total = 0;
  for (int warp = team.lane(); warp < team.warps(); warp += team.lanes()) total += team.get(warp);
  return {unsound.token, team.lane_sum(total)};
}

/// Checks row i of `rows` and records its fault, if any.
template <Team T>
DRAFTPROOF_DEVICE void check_row(const T& team, const DistinctRows& rows, std::int64_t i, double tolerance) {
  const DistinctRow row = rows[i];
  with_entries(rows.batch.format, row.entries, [&](const auto* entries) {
    const CheckedRow found = check_entries(team, entries, rows.batch.vocabulary);
    if (found.sound(tolerance)) return;
    const RowFault fault = found.unsound == no_token ? RowFault{RowFault::Kind::sum, row.row}
                                                     : RowFault{RowFault::Kind::probability, row.row, found.unsound};
    rows.tell(row, fault, team.warp() * team.lanes() + team.lane(), team.warps() * team.lanes());
  });
}

}  // namespace draftproof::gpu
