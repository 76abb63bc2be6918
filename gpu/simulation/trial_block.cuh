// Trials of one verifier on the drafts of one drafter at fixed (p, q, K): the work of each thread of a block. The
// numbers of a thread's trials differ by the number of threads in the grid, and the thread runs each trial alone, with
// the host's random bits.
//
//   symbol    code              meaning
//   n         range.first + i   trial; its random bits are Philox(seed, n, role)
//   N         range.count       number of trials
//
// Cost: O(1) expected per draft, O(log V) per residual draw; passes over V if a rule requires them.
// Correctness: distributions, drafter and verifier are the host's own source and read the same counters, whichever
// thread runs a trial.
#pragma once

#include <cstdint>

#include <draftproof/gpu/simulation/joint_counting.hpp>
#include <draftproof/gpu/simulation/joint_counts.cuh>
#include <draftproof/gpu/tables/trial_counts.cuh>
#include <draftproof/sim/distributions/ratio_table_view.hpp>
#include <draftproof/sim/random/philox.hpp>
#include <draftproof/sim/verifier.hpp>

namespace draftproof::gpu {

template <TrialThreads T, class V, class D, class Plan>
DRAFTPROOF_DEVICE void run_trials(const T& threads, TrialCounts<T>& counts, const V& verifier, const D& drafter,
                                  const Plan& plan, const TableView& distributions, const TrialRange& range,
                                  const JointTotals& joint = {}) {
  const int lane = threads.index() % threads.lanes();
  const std::uint64_t warps = static_cast<std::uint64_t>(threads.size() / threads.lanes());
  const std::uint64_t warp = threads.block() * warps + static_cast<std::uint64_t>(threads.index() / threads.lanes());
  const auto lanes = static_cast<std::uint64_t>(threads.lanes());
  const std::uint64_t volleys = range.count / lanes + (range.count % lanes != 0), stride = threads.blocks() * warps;
  // All lanes of a warp run the same number of iterations, because they count together.
  for (std::uint64_t volley = warp; volley < volleys; volley += stride) {
    const std::uint64_t i = volley * lanes + static_cast<std::uint64_t>(lane);
    Token drafts[max_drafts];
    int length = 0;
    Verdict verdict;
    if (i < range.count) {
      Philox drafting(range.seed, range.first + i, Philox::Role::draft);
      length = drafter.draw(distributions, range.drafts, drafting, drafts);
      Philox verifying(range.seed, range.first + i, Philox::Role::verify);
      verdict = verify(verifier, DraftedPosition<TableView>(distributions, drafts, length), plan, verifying);
    }
    counts.add(i < range.count, verdict, drafts, length);
    if (joint.cells != nullptr) count_jointly(threads, joint, i, i < range.count, verdict, drafts, length);
  }
}

}  // namespace draftproof::gpu
