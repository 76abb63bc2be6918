// Draws without replacement for the trials of a batch, draft by draft over all trials: the tokens of
// CumulativeTable::draw_without for each trial, with the cache misses of all trials in flight together.
//
//   removed    intervals of the tokens drawn so far, ascending; at and mass of each
//   left       row_total less their masses
//
// Cost: O(k) additions and a guided look-up for draft k, as trial by trial; but nothing is sorted, no loop length
// depends on a word, and the reads of the next stage are prefetched.
// Correctness: stepping over an interval that starts above `at` adds nothing, and no later interval starts below, so
// the whole list can be processed.
#pragma once

#include <cstdint>
#include <span>

#include <draftproof/sim/random/batched_philox.hpp>
#include <draftproof/sim/sampling/alias_table.hpp>
#include <draftproof/sim/sampling/cumulative_table.hpp>
#include <draftproof/sim/verifier.hpp>

namespace draftproof {

// Draws without replacement for the trials of a batch of words: together where q fills the tuple, one trial at a time
// where the support of q runs out.
//
// Cost: that of the laws' own draws; a trial that runs out also costs a draw of its own.
// Correctness: equal to drawing trial by trial, because a trial's words have addresses and the second draw reads the
// same words again.

/// Writes the drafts of trial t to out + t * stride and their number to lengths[t]; `drafter` draws a single trial.
template <class Drafter, DrawsTogether L, class Words>
void draw_without_together(const Drafter& drafter, const L& laws, int drafts, Words& words, Token* out, int stride,
                           int* lengths) {
  bool complete[Words::most];
  laws.draw_without(0, drafts, words, out, stride, complete);
  for (int t = 0; t < words.count(); ++t) {
    typename Words::Source random(words, t);
    lengths[t] = complete[t] ? drafts : drafter.draw(laws, drafts, random, out + t * stride);
  }
}

class DrawsWithout {
 public:
  DrawsWithout(const AliasTable& whole, const CumulativeTable& rest) : whole_{whole}, rest_{rest} {}

  /// Writes draft k of trial t to out[t * stride + k], k < drafts, and to complete[t] whether mass was left for every
  /// draft of the trial. Calls arrived(token) for every token.
  template <class Words, class Arrived>
  void draw(int drafts, Words& words, Token* out, int stride, bool* complete, const Arrived& arrived) {
    const int trials = words.count();
    whole_.draw(words.words(Purpose::pick, 0), out, stride);
    for (int t = 0; t < trials; ++t) {
      rest_.prefetch(out[t * stride]);
      arrived(out[t * stride]);
      left_[t] = row_total;
      complete[t] = true;
    }
    for (int k = 1; k < drafts; ++k) {
      const auto word = words.words(Purpose::pick, static_cast<std::uint32_t>(k));
      for (int t = 0; t < trials; ++t) {
        remove(t, k - 1, rest_.interval(out[t * stride + k - 1]));
        complete[t] &= left_[t] > 0;
        at_[t] = step_over(t, k, scale(word[static_cast<std::size_t>(t)], left_[t]));
        at_[t] = complete[t] ? at_[t] : 0;  // no such draw: any place will do
        rest_.prefetch_guide(at_[t]);
      }
      for (int t = 0; t < trials; ++t) rest_.prefetch_sums(at_[t]);
      for (int t = 0; t < trials; ++t) arrived(out[t * stride + k] = rest_.find(at_[t]));
    }
  }

 private:
  using Interval = CumulativeTable::Interval;

  /// Inserts an interval into the n ascending ones. Two selections a step, no branch.
  void remove(int t, int n, Interval moved) {
    left_[t] -= moved.mass;
    Interval* const list = removed_[t];
    for (int i = 0; i < n; ++i) {
      const std::uint64_t before = std::uint64_t{0} - static_cast<std::uint64_t>(moved.at < list[i].at);
      const Interval change{(list[i].at ^ moved.at) & before, (list[i].mass ^ moved.mass) & before};
      list[i] = {list[i].at ^ change.at, list[i].mass ^ change.mass};
      moved = {moved.at ^ change.at, moved.mass ^ change.mass};
    }
    list[n] = moved;
  }
  std::uint64_t step_over(int t, int n, std::uint64_t at) const {
    const Interval* const list = removed_[t];
    for (int i = 0; i < n; ++i)
      at += list[i].mass & (std::uint64_t{0} - static_cast<std::uint64_t>(list[i].at <= at));
    return at;
  }

  const AliasTable& whole_;
  const CumulativeTable& rest_;
  std::uint64_t left_[PhiloxBatch::most], at_[PhiloxBatch::most];
  Interval removed_[PhiloxBatch::most][max_drafts];
};

}  // namespace draftproof
