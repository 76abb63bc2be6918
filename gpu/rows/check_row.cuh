// One row of stored probabilities is checked by a team: the rule of checked_sum (sim/distributions/stored_row.hpp), with its sum.
//
//   x    entry          at least 0 and below 2; NaN is neither
//   s    sum            of the entries, each rounded to a multiple of 2^-51
//   |s - 1| <= tolerance
//
// Cost: one read of the row, four barriers. Right because 2 + x lies in [2, 4), where the bits of a double count in
// units of 2^-51: sums of them are sums of integers. A sum of 4 and more is as wrong as 4, so sums stop there and
// never leave 62 bits. Where an entry is at fault it is the first one that is named, and no sum.
#pragma once

#include <cstdint>

#include <draftproof/gpu/teams/team_search.cuh>
#include <draftproof/gpu/rows/distinct_rows.hpp>

namespace draftproof::gpu {

/// What a team found: the first entry that is no probability, and the sum in units of 2^-51 if there is none.
struct CheckedRow {
  Token unsound;
  Fixed units;

  DRAFTPROOF_DEVICE double sum() const { return static_cast<double>(units) * 0x1p-51; }
  DRAFTPROOF_DEVICE bool sound(double tolerance) const {
    const double off = sum() - 1;
    return unsound == no_token && -tolerance <= off && off <= tolerance;
  }
};

/// All threads of a team of one share call it; all know the result.
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

/// Row i of `rows`: tells its fault if it has one.
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
