// The counters of the threads of a block. Most trials may end in one token; two measures avoid contention on its
// counter: one lane of a warp adds equal counts of all lanes, and the tokens most probable under p have counters in
// the block's own memory.
//
//   symbol     code                      meaning
//   lanes      equal_lanes(value)        number of lanes of the warp with `value`; whether this lane adds for them
//              add(counter, n)           atomic; the counter is the block's (32 bits) or the device's (64 bits)
//   hot        HotTokens                 at most `most` tokens, their counters, and the index of each token's counter
//
// Cost: two votes of a warp per trial; an addition in the block's memory for each hot token that some lane holds, an
// addition in device memory for each cold token; at most `most` additions in device memory at the end of a block.
// Correctness: counts are integers, and a block's counters cannot overflow while it has fewer than 2^32 trials.
#pragma once

#include <concepts>
#include <cstdint>

#include <draftproof/sim/token.hpp>

namespace draftproof::gpu {

/// The tokens that have counters in each block's shared memory.
struct HotTokens {
  static constexpr int most = 4096;
  static constexpr std::uint16_t cold = 0xffff;

  int count = 0;
  const Token* tokens = nullptr;        ///< [count]
  const std::uint16_t* slot = nullptr;  ///< [V]: the index of each token in `tokens`, or `cold`
};

/// The counters of all blocks together; 64 bits each.
struct TotalCounts {
  using Count = unsigned long long;  ///< the 64-bit type of CUDA's atomicAdd

  Count* by_draft = nullptr;       ///< [max_drafts]
  Count* draft_emitted = nullptr;  ///< a single counter
  Count* impossible = nullptr;     ///< a single counter
  Count* histogram = nullptr;      ///< [V], or null if not counted
};

/// Counters of a block.
struct BlockCounts {
  unsigned int hot[HotTokens::most];
  unsigned int by_draft[max_drafts];
};

/// Lanes of a warp that hold the same value.
struct EqualLanes {
  bool speaks;         ///< true for one lane of each set of equal lanes
  unsigned int count;  ///< number of lanes in the set
};

template <class T>
concept TrialThreads = requires(const T& threads, unsigned int& own, TotalCounts::Count& total, unsigned int n) {
  { threads.index() } -> std::convertible_to<int>;  ///< index of this thread in its block
  { threads.size() } -> std::convertible_to<int>;   ///< threads of a block
  { threads.block() } -> std::convertible_to<unsigned int>;
  { threads.blocks() } -> std::convertible_to<unsigned int>;
  { threads.lanes() } -> std::convertible_to<int>;
  { threads.equal_lanes(0) } -> std::same_as<EqualLanes>;  ///< collective over a warp
  { threads.lane_sum(n) } -> std::same_as<unsigned int>;   ///< collective over a warp
  { threads.lane_get(0, 0) } -> std::same_as<int>;  ///< collective; each lane may read a different lane's value
  threads.add(own, n);
  threads.add(total, n);
  threads.barrier();
};

/// One thread's view of the counters. All threads of a block construct it together and call flush() together.
template <TrialThreads T>
class TrialCounts {
 public:
  DRAFTPROOF_DEVICE TrialCounts(const T& threads, BlockCounts& block, const HotTokens& hot, const TotalCounts& totals)
      : threads_{threads}, block_{block}, hot_{hot}, totals_{totals} {
    for (int slot = threads_.index(); slot < hot_.count; slot += threads_.size()) block_.hot[slot] = 0;
    for (int k = threads_.index(); k < max_drafts; k += threads_.size()) block_.by_draft[k] = 0;
    threads_.barrier();
  }

  /// Adds one trial, or nothing if `counts` is false. The lanes of a warp call it together.
  DRAFTPROOF_DEVICE void add(bool counts, const Verdict& verdict, const Token* drafts, int count) {
    const bool served = counts && verdict.token >= 0;
    impossible_ += counts && !served;
    bool drafted = false;
    for (int k = 0; k < count; ++k) drafted |= drafts[k] == verdict.token;
    draft_emitted_ += drafted;  // no draft is no_token

    const int accepted = served && verdict.accepted >= 0 ? verdict.accepted : none_accepted;
    if (const EqualLanes equal = threads_.equal_lanes(accepted); equal.speaks && accepted >= 0)
      threads_.add(block_.by_draft[accepted], equal.count);
    if (totals_.histogram == nullptr) return;
    const Token token = served ? verdict.token : no_token;
    if (const EqualLanes equal = threads_.equal_lanes(token); equal.speaks && token >= 0) {
      const std::uint16_t slot = hot_.slot[token];
      if (slot != HotTokens::cold)
        threads_.add(block_.hot[slot], equal.count);
      else
        threads_.add(totals_.histogram[token], equal.count);
    }
  }

  /// Adds the block's counters to the totals. All threads of the block call it.
  DRAFTPROOF_DEVICE void flush() {
    threads_.barrier();
    if (totals_.histogram != nullptr)
      for (int slot = threads_.index(); slot < hot_.count; slot += threads_.size())
        if (const unsigned int n = block_.hot[slot]; n > 0) threads_.add(totals_.histogram[hot_.tokens[slot]], n);
    for (int k = threads_.index(); k < max_drafts; k += threads_.size())
      if (const unsigned int n = block_.by_draft[k]; n > 0) threads_.add(totals_.by_draft[k], n);
    const unsigned int draft_emitted = threads_.lane_sum(draft_emitted_), impossible = threads_.lane_sum(impossible_);
    if (threads_.index() % threads_.lanes() != 0) return;
    if (draft_emitted > 0) threads_.add(*totals_.draft_emitted, draft_emitted);
    if (impossible > 0) threads_.add(*totals_.impossible, impossible);
  }

 private:
  T threads_;
  BlockCounts& block_;
  HotTokens hot_;
  TotalCounts totals_;
  unsigned int draft_emitted_ = 0, impossible_ = 0;
};

}  // namespace draftproof::gpu
