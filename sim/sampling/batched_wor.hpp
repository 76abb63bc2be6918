// Draws without replacement of the trials of a batch, one draft of all trials after the other: what
// CumulativeTable::draw_without gives trial by trial, with the cache misses of all trials under way together.
//
//   removed    intervals of the tokens drawn so far, ascending; at and mass of each
//   left       row_total less their masses
//
// Cost: O(k) additions and a guided look-up for draft k, as one by one, but nothing is sorted anew, no loop's length
// depends on a word, and what the next stage reads is on its way. Right because stepping over an interval that starts
// above `at` adds nothing, and then no later one starts below: the whole list may be gone through.
#pragma once

#include <cstdint>
#include <span>

#include <draftproof/sim/random/batched_philox.hpp>
#include <draftproof/sim/sampling/alias_table.hpp>
#include <draftproof/sim/sampling/cumulative_table.hpp>
#include <draftproof/sim/verifier.hpp>

namespace draftproof {

// Draws without replacement for the trials of a batch of words: all at once where q can fill the tuple, alone where
// duplicates leave it unfilled.
//
// Cost: that of the laws' own draws; a trial left over costs what it costs alone. Equal to drawing trial by trial: a
// trial's words have addresses, so those that were read in vain are read again.

/// Drafts of trial t go to out + t * stride, how many they are to lengths[t]; `drafter` draws a trial alone.
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

  /// Draft k of every trial of `words` into out[t * stride + k], k < drafts. False for a trial of which nothing is
  /// left before it has all its drafts; `arrived` sees every token.
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

  /// Puts an interval into its place among the n there are. Two selections a step, no branch.
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
