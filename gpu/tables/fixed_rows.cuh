// Reads rows of float in memory as integers that sum to 2^62: the distributions that a ratio table of these rows has.
// The integers are not stored. Entries are truncated as they are read, and the most probable tokens share the rest.
//
//   symbol   code            meaning
//   m(x)     row.mass(x)     floor(2^62 entry); adjusted on the most probable tokens, so that the row sums to 2^62
//   r(x)     row.read(x)     the value that programs compare: as m(x), but equal on all most probable tokens
//   s        note.sum        sum of floor(2^62 entry), modulo 2^64
//   h        note.heaviest   the most probable token, the first of equal ones
//   n        note.count      number of tokens whose entry equals the entry of h
//
// Cost: one read of each row, and one read of the RowNotes of its runs, of which there are few.
// Correctness: this is quantise() (sim/sampling/weights.hpp). The truncation is the same function, sums of
// integers do not depend on order, and floats compare as doubles of the same values do. The truncation of a float of
// 2^-38 or more is exact, so the largest entries of a row that is a distribution have the largest masses. If the excess
// of the sum is greater than the mass of the most probable tokens, quantise() would give them negative masses; here the
// position gets a fault.
#pragma once

#include <cstdint>

#include <draftproof/gpu/rows/distinct_rows.hpp>
#include <draftproof/gpu/tables/grid.hpp>
#include <draftproof/sim/device/host_device.hpp>
#include <draftproof/sim/sampling/weights.hpp>

namespace draftproof::gpu {

/// A note of a run of a row (grid.hpp), or of a whole row: the sum, the greatest entry, and the number of tokens that
/// have it.
struct RowNote {
  std::uint64_t sum;
  std::uint64_t greatest;  ///< high half: bits of the largest entry; low half: ~token, so the first token is greatest
  std::uint64_t count;     ///< number of tokens with the largest entry

  DRAFTPROOF_DEVICE Token heaviest() const { return static_cast<Token>(~static_cast<std::uint32_t>(greatest)); }
  DRAFTPROOF_DEVICE std::uint32_t bits() const { return static_cast<std::uint32_t>(greatest >> 32); }
  /// Adds the note of other tokens to this note.
  DRAFTPROOF_DEVICE void add(const RowNote& other) {
    sum += other.sum;
    if (other.bits() > bits()) count = 0;
    if (other.bits() >= bits()) count += other.count;
    if (other.greatest > greatest) greatest = other.greatest;
  }
  /// Returns on every lane the merged notes of all lanes of a warp.
  template <Grid G>
  DRAFTPROOF_DEVICE RowNote joined(const G& grid) const {
    RowNote all{grid.lane_sum(sum), grid.lane_max(greatest), 0};
    all.count = grid.lane_sum(bits() == all.bits() ? count : std::uint64_t{0});
    return all;
  }
};

/// The integer mass of an entry before the heaviest tokens share the rest. Invalid rows are read too, before they are
/// rejected; a negative or NaN entry counts as 0.
DRAFTPROOF_DEVICE inline std::uint64_t mass_of_entry(float entry) {
  const auto value = static_cast<double>(entry);
  return 0 <= value && value < 2 ? truncated_mass(value) : 0;
}

struct FixedRow {
  const float* entries;
  RowRest rest;

  DRAFTPROOF_DEVICE std::uint64_t mass(Token x) const { return rest.mass(mass_of_entry(entries[x]), x); }
  DRAFTPROOF_DEVICE std::uint64_t read(Token x) const { return rest.read(mass_of_entry(entries[x])); }
};

/// The distinct rows of a batch of float rows, with the rest that each row's truncation leaves and the notes of its
/// runs.
struct FixedRows {
  DistinctRows rows;
  RowRest* rests;      ///< [rows.size()]
  RowNote* run_notes;  ///< [runs().size()]

  DRAFTPROOF_DEVICE Runs runs() const {
    return {static_cast<std::uint64_t>(rows.size()), static_cast<std::uint64_t>(rows.batch.vocabulary)};
  }
  DRAFTPROOF_DEVICE FixedRow target(std::int64_t position) const {
    return {static_cast<const float*>(rows.batch.target_row(position)),
            rests[rows.batch.target_stride == 0 ? 0 : position]};
  }
  DRAFTPROOF_DEVICE FixedRow proposal(std::int64_t position, int k) const {
    const std::int64_t group = rows.batch.proposal_stride == 0 ? 0 : position;
    return {static_cast<const float*>(rows.batch.proposal_row(position, k)),
            rests[rows.targets() + group * rows.per_group() + (rows.per_group() == 1 ? 0 : k)]};
  }
  /// Returns row i of the first position: 0 is the target, i > 0 is proposal i - 1, as RowFault numbers rows.
  DRAFTPROOF_DEVICE FixedRow row(int i) const { return i == 0 ? target(0) : proposal(0, i - 1); }
};

/// Writes the notes of all runs: one warp per run.
struct NoteRuns {
  FixedRows fixed;

  std::uint64_t work() const { return fixed.runs().work(); }
  template <Grid G>
  DRAFTPROOF_DEVICE void operator()(const G& grid) const {
    const Runs runs = fixed.runs();
    for_runs(grid, runs.size(), [&](std::uint64_t run) {
      const auto* entries = static_cast<const float*>(fixed.rows[static_cast<std::int64_t>(runs.row(run))].entries);
      RowNote own{0, 0, 0};
      for (std::uint64_t x = runs.begin(run) + static_cast<std::uint64_t>(grid.lane()); x < runs.end(run);
           x += static_cast<std::uint64_t>(grid.lanes())) {
        const float entry = entries[x];
        const std::uint32_t bits = entry > 0 ? bit_cast<std::uint32_t>(entry) : 0;  // -0 counts as 0
        own.add({mass_of_entry(entry), std::uint64_t{bits} << 32 | static_cast<std::uint32_t>(~x), 1});
      }
      own = own.joined(grid);
      if (grid.lane() == 0) fixed.run_notes[run] = own;
    });
  }
};

/// Writes the rests of all rows from the notes of their runs: one warp per row. Records a fault for a row whose
/// heaviest tokens would get negative masses.
struct RestOfRows {
  FixedRows fixed;

  std::uint64_t work() const { return static_cast<std::uint64_t>(fixed.rows.size()) * 32; }
  template <Grid G>
  DRAFTPROOF_DEVICE void operator()(const G& grid) const {
    const Runs runs = fixed.runs();
    for_runs(grid, static_cast<std::uint64_t>(fixed.rows.size()), [&](std::uint64_t i) {
      RowNote own{0, 0, 0};
      for (auto run = static_cast<std::uint64_t>(grid.lane()); run < runs.per_row();
           run += static_cast<std::uint64_t>(grid.lanes()))
        own.add(fixed.run_notes[i * runs.per_row() + run]);
      own = own.joined(grid);
      const RowRest rest =
          RowRest::of(own.sum, mass_of_entry(bit_cast<float>(own.bits())), own.heaviest(), own.count);
      if (static_cast<std::int64_t>(rest.common) < 0) {
        const DistinctRow row = fixed.rows[static_cast<std::int64_t>(i)];
        fixed.rows.tell(row, {RowFault::Kind::sum, row.row}, grid.lane(), grid.lanes());
      }
      if (grid.lane() == 0) fixed.rests[i] = rest;
    });
  }
};

}  // namespace draftproof::gpu
