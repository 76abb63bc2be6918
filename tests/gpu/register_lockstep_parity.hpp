// Registers a verifier for the lockstep test: BlockRows with host threads in the place of a CUDA block.
#pragma once

#include <atomic>
#include <stdexcept>

#include <draftproof/gpu/block_rows.cuh>
#include <draftproof/tests/gpu/host_threads.hpp>
#include <draftproof/tests/gpu/parity.hpp>

namespace draftproof {
namespace parity {

/// Two warps of four lanes: enough for every exchange to cross lanes and every barrier to matter.
inline constexpr int lockstep_warps = 2, lockstep_lanes = 4;
template <class Entry>
using LockstepRowsOf = gpu::BlockRows<Entry, HostThreads>;
using LockstepRows = LockstepRowsOf<float>;

/// Runs body(rows, thread index) in lockstep on one position; all threads must return the same.
template <class Entry, class Body>
auto in_lockstep(const gpu::RowView<Entry>& rows, Body body) {
  HostBlock block(lockstep_warps, lockstep_lanes);
  gpu::BlockScratch scratch;
  using Result = decltype(body(std::declval<const LockstepRowsOf<Entry>&>()));
  std::vector<Result> results(lockstep_warps * lockstep_lanes);
  block.run([&](HostThreads threads) {
    const LockstepRowsOf<Entry> laws(rows, &scratch, threads);
    results[static_cast<std::size_t>(threads.warp() * threads.lanes() + threads.lane())] = body(laws);
  });
  for (const Result& result : results)
    if (!(result == results.front())) throw std::logic_error("lockstep: the threads of a block disagree");
  return results.front();
}

template <class V, class Entry>
gpu::BatchVerdicts lockstep_verdicts(const gpu::Batch<Entry>& batch) {
  gpu::BatchVerdicts result;
  for (int i = 0; i < batch.positions; ++i) {
    const Philox random(batch.seed, batch.first_trial + static_cast<std::uint64_t>(i), Philox::Role::verify);
    const auto [token, accepted] = in_lockstep(batch.rows(i), [&](const LockstepRowsOf<Entry>& laws) {
      const V verifier{};
      Philox own = random;
      const auto plan = prepare(verifier, laws, batch.counts[i]);
      const Verdict verdict = verify(verifier, At(laws, batch.drafts_at(i), batch.counts[i]), plan, own);
      return std::pair{verdict.token, verdict.accepted};
    });
    result.verdicts.push_back({token, accepted});
    if (token == no_token) result.unserved.push_back(static_cast<std::size_t>(i));
  }
  return result;
}

/// Drafts drawn in lockstep: they exercise the calls that verifiers leave alone.
template <class D>
int lockstep_drafts(const gpu::RowView<float>& rows, int drafts, Philox random, Token* out) {
  const std::vector<Token> drawn = in_lockstep(rows, [&](const LockstepRows& laws) {
    std::vector<Token> own(static_cast<std::size_t>(drafts));
    Philox source = random;
    own.resize(static_cast<std::size_t>(D{}.draw(laws, drafts, source, own.data())));
    return own;
  });
  std::ranges::copy(drawn, out);
  return static_cast<int>(drawn.size());
}

}  // namespace parity

template <class V>
void register_lockstep_parity() {
  if constexpr (V::info.cannot.device.empty() && V::info.cannot.fresh.empty())
    parity::add(parity::Scheme{V::info, parity::host_verdict<V>, parity::lockstep_verdicts<V, float>});
}
template <class V>
void register_mutant_lockstep_parity() {
  register_lockstep_parity<V>();
}
template <class D>
void register_lockstep_law() {
  parity::add(parity::DraftLaw{D::info,
                               [](const parity::HostRows& rows, int drafts, Philox random, Token* out) {
                                 return D{}.draw(rows, drafts, random, out);
                               },
                               parity::lockstep_drafts<D>});
}

}  // namespace draftproof
