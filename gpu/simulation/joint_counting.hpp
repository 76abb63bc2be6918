// The joint counts of trials that a statistical gate needs beside a Tally.
//
//   cells               [paths][V]         accepted draft and token; the last path counts all other drafts and no draft
//   drafts              [drafts][V]        the token of each draft
//   serial_dependence   [groups][groups]   groups of the tokens of trials 2i and 2i + 1, for i < pairs
//
// Trials that reached a branch of probability zero are not counted, and their pairs do not count in serial_dependence.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <draftproof/sim/tally.hpp>

namespace draftproof::gpu {

struct JointCounting {
  int paths = 1;                           ///< at least 1
  int drafts = 0;                          ///< number of drafts to count, from the first; 0: no counts of drafts
  int groups = 0;                          ///< number of groups of tokens; 0: serial_dependence is not counted
  std::span<const std::uint32_t> group{};  ///< [V]: the group of each token, below `groups`
  std::uint64_t pairs = 0;
};

struct JointTally {
  Tally tally;  ///< without histogram
  std::vector<std::uint64_t> cells, drafts, serial_dependence;
};

// The range of trials of one call.

/// Trials `first` .. `first` + `count` - 1 of `seed`, with this many drafts.
struct TrialRange {
  std::uint64_t seed = 0, first = 0, count = 0;
  int drafts = 1;
};

}  // namespace draftproof::gpu
