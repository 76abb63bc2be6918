// Adds the trials of a warp to joint counts (joint_counting.hpp) in device memory. Lanes with the same counter add to
// it once.
//
//   symbol   code     meaning
//   i        i        trial of the range; lanes of a warp hold successive trials, the first lane an even one
//   a        path     accepted draft, or the last path
//
// Cost: a vote and an addition in device memory for the cell (a, token), for each of the K drafts and for the pair of
// trials, as far as requested. It uses no memory of the block, which the Tally's counters fill.
// Correctness: counts are integers, so the order of additions does not matter.
#pragma once

#include <cstdint>

#include <draftproof/gpu/tables/trial_counts.cuh>

namespace draftproof::gpu {

/// Counters in device memory; a count whose array is null is not made.
struct JointTotals {
  using Count = TotalCounts::Count;

  int paths = 1, counted_drafts = 0, groups = 0;
  Token vocabulary = 0;
  std::uint64_t pairs = 0;
  Count* cells = nullptr;
  Count* drafts = nullptr;
  Count* serial_dependence = nullptr;
  const std::uint32_t* group = nullptr;

  bool wanted() const { return cells != nullptr; }
  /// Returns the counters for a launch that starts after the first `trials` trials, with as many fewer pairs to count.
  /// `trials` must be even, so that no pair is split.
  JointTotals after(std::uint64_t trials) const {
    JointTotals rest = *this;
    rest.pairs = pairs > trials / 2 ? pairs - trials / 2 : 0;
    return rest;
  }
};

/// Adds one trial, or nothing if `counts` is false. The lanes of a warp call it together.
template <TrialThreads T>
DRAFTPROOF_DEVICE void count_jointly(const T& threads, const JointTotals& totals, std::uint64_t i, bool counts,
                                     const Verdict& verdict, const Token* drafts, int length) {
  const auto add = [&threads](JointTotals::Count* counters, int place) {
    if (const EqualLanes equal = threads.equal_lanes(place); equal.speaks && place >= 0)
      threads.add(counters[place], equal.count);
  };
  constexpr int nowhere = -1;
  const bool served = counts && verdict.token >= 0;
  const int last = totals.paths - 1;
  const int path = verdict.accepted >= 0 && verdict.accepted < last ? verdict.accepted : last;
  add(totals.cells, served ? path * totals.vocabulary + verdict.token : nowhere);
  if (totals.drafts != nullptr)
    for (int k = 0; k < totals.counted_drafts; ++k)
      add(totals.drafts, served && k < length ? k * totals.vocabulary + drafts[k] : nowhere);
  if (totals.serial_dependence == nullptr) return;
  const Token token = served ? verdict.token : no_token;
  const Token before = threads.lane_get(token, (threads.index() % threads.lanes()) & ~1);
  const bool paired = (i & 1) != 0 && i / 2 < totals.pairs && token >= 0 && before >= 0;
  add(totals.serial_dependence,
      paired ? static_cast<int>(totals.group[before]) * totals.groups + static_cast<int>(totals.group[token])
             : nowhere);
}

}  // namespace draftproof::gpu
