// Converts and sums the rows of a batch on a HostMachine, as a device does before it computes tables and optima.
#pragma once

#include <span>
#include <vector>

#include <draftproof/gpu/rows/convert_row.cuh>
#include <draftproof/gpu/tables/build_table.cuh>
#include <draftproof/tests/support/gpu/host_machine.hpp>

namespace draftproof::parity {

/// The converted rows of a batch, with the sums and largest entries (RowNote, RowRest) from which tables and optima are
/// computed.
class HostDistributions {
 public:
  template <class Entry>
  HostDistributions(HostMachine& machine, const gpu::Batch<Entry>& batch,
                    gpu::Contents contents = gpu::Contents::probabilities)
      : faults_(static_cast<std::size_t>(batch.positions), gpu::no_fault) {
    gpu::DistinctRows rows{gpu::stored(batch, contents)};
    rows.batch.faults = faults_.data();
    floats_.resize(static_cast<std::size_t>(rows.floats()));
    std::vector<gpu::SoftmaxNote> notes(static_cast<std::size_t>(gpu::softmax_blocks(batch.vocabulary)));
    HostTeam team({.partitions = 1, .warps = 2, .lanes = 4});
    for (std::int64_t i = 0; i < rows.size(); ++i)
      team.run([&](const HostThread& thread) {
        gpu::convert_row(thread, rows, i, floats_.data() + i * rows.row_apart(), notes.data());
      });
    gpu::DistinctRows converted{gpu::stored(rows.converted(floats_.data()))};
    fixed_ = {converted, nullptr, nullptr};
    rests_.resize(static_cast<std::size_t>(rows.size()));
    run_notes_.resize(static_cast<std::size_t>(fixed_.runs().size()));
    fixed_.rests = rests_.data();
    fixed_.run_notes = run_notes_.data();
    machine.each(gpu::NoteRuns{fixed_});
    machine.each(gpu::RestOfRows{fixed_});
  }
  HostDistributions(const HostDistributions&) = delete;
  HostDistributions& operator=(const HostDistributions&) = delete;

  const gpu::FixedRows& fixed() const { return fixed_; }
  const std::vector<std::uint64_t>& faults() const { return faults_; }

 private:
  std::vector<std::uint64_t> faults_;
  std::vector<float> floats_;
  std::vector<RowRest> rests_;
  std::vector<gpu::RowNote> run_notes_;
  gpu::FixedRows fixed_{};
};

/// Returns optima[k][i], the optimum of drafts[k] drafts at position i; the rows are sorted together in groups of
/// `turn` positions.
inline std::vector<std::vector<Optimum>> host_optima(HostMachine& machine, const gpu::FixedRows& fixed,
                                                     const std::vector<int>& drafts, std::int64_t turn) {
  const std::int64_t positions = fixed.rows.batch.positions;
  std::vector<Optimum> optima(drafts.size() * static_cast<std::size_t>(positions), Optimum{-1, 0});
  for (std::int64_t first = 0; first < positions; first += turn) {
    const gpu::Turn own{fixed, first, static_cast<std::uint32_t>(std::min(turn, positions - first))};
    const auto space = [&own](gpu::Places& places) {
      return gpu::TurnSpace(places, own.positions, own.vocabulary(), 0);
    };
    std::vector<char> memory = memory_for(space);
    gpu::Places places(memory.data());
    gpu::optima_of_turn(machine, own, space(places), std::span(drafts), optima.data() + first, positions);
  }
  std::vector<std::vector<Optimum>> found;
  for (std::size_t k = 0; k < drafts.size(); ++k)
    found.emplace_back(optima.begin() + static_cast<std::ptrdiff_t>(k) * positions,
                       optima.begin() + static_cast<std::ptrdiff_t>(k + 1) * positions);
  return found;
}

/// The arrays of a table, built for a batch with one position, and the memory that holds them.
struct HostBuilt {
  std::vector<char> memory;
  gpu::TableArrays arrays;
};

inline HostBuilt host_built(HostMachine& machine, const gpu::FixedRows& fixed) {
  const gpu::Turn turn{fixed, 0, 1};
  std::vector<std::uint64_t> counts(static_cast<std::size_t>(gpu::CountTokens{turn, nullptr}.runs().size()));
  machine.each(gpu::CountTokens{turn, counts.data()});
  std::size_t tokens = 0;
  for (const std::uint64_t count : counts) tokens += count;
  const std::size_t vocabulary = turn.vocabulary(), rows = static_cast<std::size_t>(fixed.rows.batch.proposals);
  HostBuilt built{std::vector<char>(gpu::TableArrays(nullptr, vocabulary, rows, tokens).bytes, char{0x5a}),
                  gpu::TableArrays(nullptr, vocabulary, rows, tokens)};
  built.arrays = gpu::TableArrays(built.memory.data(), vocabulary, rows, tokens);
  const auto space = [vocabulary](gpu::Places& places) { return gpu::TableSpace(places, vocabulary, 0); };
  std::vector<char> memory = memory_for(space);
  gpu::Places places(memory.data());
  gpu::TableSpace own = space(places);
  gpu::build_table(machine, turn, built.arrays, own);
  return built;
}

}  // namespace draftproof::parity
