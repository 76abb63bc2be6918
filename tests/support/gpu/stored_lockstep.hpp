// Verifies stored batches with teams of fibers as the kernels do: a cluster loads rows into on-chip memory; a block
// converts rows first and then reads the converted rows in every pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include <draftproof/gpu/rows/check_row.cuh>
#include <draftproof/gpu/rows/convert_row.cuh>
#include <draftproof/gpu/rows/stored_on_chip.cuh>
#include <draftproof/gpu/teams/team_rows.cuh>
#include <draftproof/gpu/workspace.hpp>
#include <draftproof/sim/random/philox.hpp>
#include <draftproof/sim/verifier.hpp>
#include <draftproof/tests/support/gpu/host_team.hpp>

namespace draftproof::parity {

inline constexpr TeamShape cluster_of_fibers{.partitions = 4, .warps = 2, .lanes = 4};
inline constexpr TeamShape block_of_fibers{.partitions = 1, .warps = 3, .lanes = 4};

/// Returns the verdict by the same steps as decide() of gpu/positions/verify_kernel.cuh.
template <class V, class B, class L>
Verdict decide_in_lockstep(const B& batch, std::int64_t position, const L& distributions) {
  if (batch.refused(position)) return {};
  const V verifier{};
  const int count = batch.counts[position];
  const auto plan = prepare(verifier, distributions, count);
  Philox random(batch.seed, batch.first_trial + static_cast<std::uint64_t>(position), Philox::Role::verify);
  return verify(verifier, DraftedPosition(distributions, batch.drafts + position * batch.draft_stride, count), plan,
                random);
}

/// Returns the common verdict of all threads. Throws: std::logic_error if their verdicts differ.
inline Verdict agreed(const std::vector<Verdict>& all) {
  for (const Verdict& verdict : all)
    if (verdict.token != all.front().token || verdict.accepted != all.front().accepted)
      throw std::logic_error("lockstep: the threads of a team disagree");
  return all.front();
}

/// Returns the verdict of a cluster, and writes the fault of the position, if any, as the kernel does.
template <class V>
Verdict verdict_on_chip(const gpu::StoredBatch& batch, std::int64_t position) {
  const TeamShape shape = cluster_of_fibers;
  HostTeam team(shape);
  team.give_memory(gpu::plan_bytes<V>);
  std::vector<Verdict> verdicts(static_cast<std::size_t>(shape.threads()));
  team.run([&](const HostThread& thread) {
    const gpu::TeamLayout layout = gpu::on_chip_layout(batch.vocabulary, shape.lanes, shape.partitions);
    float* const memory = team.slice(thread.partition(), gpu::on_chip_bytes(layout.slice()) / sizeof(float));
    const auto [rows, fault] = gpu::bring_on_chip(batch, position, thread, memory);
    Verdict& verdict = verdicts[static_cast<std::size_t>(thread.index())];
    if (fault == gpu::no_fault) verdict = decide_in_lockstep<V>(batch, position, gpu::TeamRows(rows, thread));
    if (thread.index() == 0 && fault != gpu::no_fault && batch.faults != nullptr) batch.faults[position] = fault;
  });
  return agreed(verdicts);
}

/// Returns all rows as float probabilities, converted by one block, and records the faults of rows.
inline std::vector<float> converted_rows(const gpu::StoredBatch& batch) {
  const gpu::DistinctRows rows{batch};
  std::vector<float> out(static_cast<std::size_t>(rows.floats()));
  std::vector<gpu::SoftmaxNote> notes(static_cast<std::size_t>(gpu::softmax_blocks(batch.vocabulary)));
  HostTeam team(block_of_fibers);
  team.run([&](const HostThread& thread) {
    for (std::int64_t i = 0; i < rows.size(); ++i)
      gpu::convert_row(thread, rows, i, out.data() + i * rows.row_apart(), notes.data());
  });
  return out;
}

inline void check_rows_in_lockstep(const gpu::StoredBatch& batch, double tolerance) {
  const gpu::DistinctRows rows{batch};
  HostTeam team(block_of_fibers);
  team.run([&](const HostThread& thread) {
    for (std::int64_t i = 0; i < rows.size(); ++i) gpu::check_row(thread, rows, i, tolerance);
  });
}

/// Returns the verdict of a block on converted rows.
template <class V>
Verdict verdict_on_converted(const gpu::Batch<float>& batch, std::int64_t position) {
  HostTeam team(block_of_fibers);
  team.give_memory(gpu::plan_bytes<V>);
  std::vector<Verdict> verdicts(static_cast<std::size_t>(block_of_fibers.threads()));
  team.run([&](const HostThread& thread) {
    verdicts[static_cast<std::size_t>(thread.index())] =
        decide_in_lockstep<V>(batch, position, gpu::TeamRows(batch.rows(position), thread));
  });
  return agreed(verdicts);
}

}  // namespace draftproof::parity
