// Kernel mutants: each mutant changes one step between a batch and a verdict. The build runs every file of
// kernel_mutants/ twice: with fibers on the host and, if there is a device, as a kernel.
//
//   rows(batch, position, lanes)    the rows of a position, and their number of tokens
//   Team<T>                         the synchronization of the threads of a team
#pragma once

#include <cstdint>

#include <draftproof/gpu/batch.hpp>
#include <draftproof/gpu/teams/team_rows.cuh>
#include <draftproof/sim/random/philox.hpp>
#include <draftproof/sim/verifier.hpp>

namespace draftproof::kernel_mutants {

/// The correct kernel, of which each mutant replaces one part.
struct SoundKernel {
  static constexpr const char* name = "sound";
  DRAFTPROOF_DEVICE static gpu::RowView<float> rows(const gpu::Batch<float>& batch, std::int64_t position, int) {
    return batch.rows(position);
  }
  template <class T>
  using Team = T;
};

/// A team T that omits every other barrier: the first, third, .. if parity is 0, and the second, fourth, .. if it is 1.
template <class T, unsigned int parity>
class MissingBarrier : public T {
 public:
  using T::T;
  DRAFTPROOF_DEVICE explicit MissingBarrier(const T& team) : T(team) {}
  DRAFTPROOF_DEVICE void barrier() const {
    if (calls_++ % 2 != parity) T::barrier();
  }

 private:
  mutable unsigned int calls_ = 0;
};

/// Returns the verdict on one position, as one thread of `team` computes it.
template <class M, class V, class T>
DRAFTPROOF_DEVICE Verdict decide_with(const gpu::Batch<float>& batch, std::int64_t position, const T& team) {
  const typename M::template Team<T> own(team);
  const gpu::TeamRows distributions(M::rows(batch, position, team.lanes()), own);
  const V verifier{};
  const int count = batch.counts[position];
  const auto plan = prepare(verifier, distributions, count);
  Philox random(batch.seed, batch.first_trial + static_cast<std::uint64_t>(position), Philox::Role::verify);
  return verify(verifier, DraftedPosition(distributions, batch.drafts_at(position), count), plan, random);
}

}  // namespace draftproof::kernel_mutants
