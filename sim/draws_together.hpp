// Draws without replacement for the trials of a batch of words: all at once where q can fill the tuple, alone where
// duplicates leave it unfilled.
//
// Cost: that of the laws' own draws; a trial left over costs what it costs alone. Equal to drawing trial by trial: a
// trial's words have addresses, so those that were read in vain are read again.
#pragma once

#include <draftproof/sim/verifier.hpp>

namespace draftproof {

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

}  // namespace draftproof
