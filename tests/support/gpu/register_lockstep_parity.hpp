// Registers a verifier for the lockstep test, which runs TeamRows with fibers of the host instead of a device's
// threads.
#pragma once

#include <stdexcept>
#include <utility>
#include <vector>

#include <draftproof/gpu/drafts/draft_position.cuh>
#include <draftproof/gpu/teams/on_chip_rows.cuh>
#include <draftproof/gpu/teams/team_rows.cuh>
#include <draftproof/gpu/workspace.hpp>
#include <draftproof/tests/support/gpu/host_team.hpp>
#include <draftproof/tests/support/gpu/parity.hpp>

namespace draftproof {
namespace parity {

/// Mappings of a team of fibers. `block` has two warps of four lanes, so that values are exchanged between lanes and
/// between warps. `split` has four such blocks as partitions. `cluster` is like `split`, with the rows in the memory of
/// the partitions.
enum class Mapping { block, split, cluster };
inline constexpr TeamShape block_shape{.partitions = 1, .warps = 2, .lanes = 4};
inline TeamShape shape_of(Mapping mapping) {
  switch (mapping) {
    case Mapping::split:
    case Mapping::cluster:
      return {.partitions = 4, .warps = 2, .lanes = 4};
    default:
      return block_shape;
  }
}

template <class Entry>
using LockstepRowsOf = gpu::TeamRows<gpu::RowView<Entry>, HostThread>;
using LockstepRows = LockstepRowsOf<float>;

/// Runs body(distributions) on all threads of a team on one position, and returns their result, which must be the same
/// for all. Each partition has `memory` bytes for a plan.
template <class Entry, class Body>
auto in_lockstep(const gpu::RowView<Entry>& rows, const Body& body, Mapping mapping = Mapping::block,
                 std::size_t memory = 0) {
  HostTeam team(shape_of(mapping));
  team.give_memory(memory);
  using Result = decltype(body(std::declval<const LockstepRowsOf<Entry>&>()));
  std::vector<Result> results(static_cast<std::size_t>(team.shape().threads()));
  team.run([&](const HostThread& thread) {
    Result& result = results[static_cast<std::size_t>(thread.index())];
    if constexpr (sizeof(Entry) <= sizeof(float))
      if (mapping == Mapping::cluster && rows.proposals == 1) {
        const gpu::TeamLayout layout(rows.vocabulary, thread.lanes(), thread.partitions());
        float* const own = team.slice(thread.partition(), 2 * static_cast<std::size_t>(layout.slice()));
        result = body(gpu::TeamRows(gpu::bring_on_chip(rows, thread, own), thread));
        return;
      }
    result = body(gpu::TeamRows(rows, thread));
  });
  for (const Result& result : results)
    if (!(result == results.front())) throw std::logic_error("lockstep: the threads of a team disagree");
  return results.front();
}

template <class V, class Entry>
gpu::BatchVerdicts lockstep_verdicts(const gpu::Batch<Entry>& batch) {
  gpu::BatchVerdicts result;
  for (int i = 0; i < batch.positions; ++i) {
    const Philox random(batch.seed, batch.first_trial + static_cast<std::uint64_t>(i), Philox::Role::verify);
    const auto decide = [&](const auto& distributions) {
      const V verifier{};
      Philox own = random;
      const auto plan = prepare(verifier, distributions, batch.counts[i]);
      const Verdict verdict =
          verify(verifier, DraftedPosition(distributions, batch.drafts_at(i), batch.counts[i]), plan, own);
      return std::pair{verdict.token, verdict.accepted};
    };
    const auto [token, accepted] =
        in_lockstep(batch.rows(i), decide, static_cast<Mapping>(i % 3), gpu::plan_bytes<V>);
    result.verdicts.push_back({token, accepted});
    if (token == no_token) result.unserved.push_back(static_cast<std::size_t>(i));
  }
  return result;
}

template <class D>
gpu::DraftTuples lockstep_tuples(const gpu::DraftBatch<float>& host) {
  gpu::DraftBatch<float> batch = host;
  gpu::DraftTuples tuples;
  tuples.drafts.assign(static_cast<std::size_t>(batch.positions * batch.draft_stride), no_token);
  tuples.counts.assign(static_cast<std::size_t>(batch.positions), -1);
  batch.drafts = tuples.drafts.data();
  batch.counts = tuples.counts.data();
  for (int i = 0; i < batch.positions; ++i) {
    HostTeam team(shape_of(static_cast<Mapping>(i % 3)));
    team.run([&](const HostThread& thread) {
      gpu::draft_position(D{}, batch, i, thread, thread.index() == i % team.shape().threads());
    });
  }
  return tuples;
}

}  // namespace parity

template <class V>
void register_lockstep_parity() {
  if constexpr (V::info.unsupported.device.empty() && V::info.unsupported.fresh.empty())
    parity::add(parity::Scheme{V::info, parity::host_verdict<V>, parity::lockstep_verdicts<V, float>});
}
template <class V>
void register_mutant_lockstep_parity() {
  register_lockstep_parity<V>();
}
template <class D>
void register_lockstep_distribution() {
  parity::add(parity::DraftSampling{D::info,
                                    [](const parity::HostRows& rows, int drafts, Philox random, Token* out) {
                                      return D{}.draw(rows, drafts, random, out);
                                    },
                                    parity::lockstep_tuples<D>});
}

}  // namespace draftproof
