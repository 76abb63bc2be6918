// What a statistical gate wants to know of trials beside a Tally: how often values occur together.
//
//   cells        [paths][V]         accepted draft and token; the last path is for whatever the others do not count
//   drafts       [drafts][V]        which draft is which token
//   serial_dependence   [groups][groups]   groups of the tokens of trials 2i and 2i + 1, for i < pairs
//
// Trials that reached a branch of probability zero are in none of them, nor is the neighbour of one in the last.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <draftproof/sim/trials/counts.hpp>

namespace draftproof::gpu {

struct JointCounting {
  int paths = 1;                           ///< at least 1
  int drafts = 0;                          ///< drafts that are counted; 0: none
  int groups = 0;                          ///< 0: no serial_dependence
  std::span<const std::uint32_t> group{};  ///< [V] of each token, below `groups`
  std::uint64_t pairs = 0;
};

struct JointTally {
  Tally tally;  ///< without histogram
  std::vector<std::uint64_t> cells, drafts, serial_dependence;
};

// Which trials a device is to run.

/// Trials `first` .. `first` + `count` - 1 of `seed`, with this many drafts.
struct TrialRange {
  std::uint64_t seed = 0, first = 0, count = 0;
  int drafts = 1;
};

}  // namespace draftproof::gpu
