// Converts a row of logits to probabilities by a team: the device's form of Softmax (sim/distributions/softmax.hpp),
// equal to it bit for bit.
//
//   block    1024 logits, the work of one warp
//   m        note.greatest     greatest logit of a block
//   S        note.sum          sum of its powers of e relative to m, in units of 2^-46
//   M        greatest logit of the row, as the earliest of the times -m; +infinity and NaN are earlier still
//   Z        units             sum over blocks of w S, in units of 2^-40
//
// Cost: the same lane reads each logit twice, the second time from the nearest cache; four barriers. On chip, powers
// are written and then scaled in place. In device memory, where a read costs more than a power of e, they are
// computed again: a row is read twice and written once.
// Correctness: results equal the host's bit for bit, because there are only maxima, sums of integers, and operations on
// one entry or one block; none depends on the order of the threads.
#pragma once

#include <cstdint>
#include <limits>

#include <draftproof/gpu/row_fault.hpp>
#include <draftproof/gpu/teams/team.hpp>
#include <draftproof/gpu/teams/team_search.cuh>
#include <draftproof/sim/distributions/softmax.hpp>
#include <draftproof/sim/numeric/exp.hpp>

namespace draftproof::gpu {

/// Sum of the powers and greatest logit of one softmax block, which one warp computes and reads again after a barrier.
/// A partition has one note per block.
struct SoftmaxNote {
  std::uint64_t sum;
  float greatest;
};

/// Number of softmax blocks for `tokens` logits.
DRAFTPROOF_DEVICE constexpr int softmax_blocks(int tokens) {
  return tokens / softmax_block_size + (tokens % softmax_block_size != 0);
}

/// The candidate (-logit, token) that comes first in a row of logits, where +infinity and NaN have time -infinity. The
/// time shows whether the logits are a distribution.
struct SoftmaxOutcome {
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  double time;
  Token token;

  DRAFTPROOF_DEVICE bool sound() const { return -infinity < time && time < infinity; }
  /// The fault of the row `row`; call it only if not sound().
  DRAFTPROOF_DEVICE RowFault fault(int row) const {
    if (time > 0) return {RowFault::Kind::masked, row};
    return {RowFault::Kind::infinite, row, token};
  }
};

/// All threads of the team call it, each with its partition: `count` logits from token `first` on. `out` has `count`
/// entries; if `in_place`, it is the memory of the logits. The length of every partition but the last is a multiple of
/// softmax_block_size. If the outcome is not sound, `out` is undefined. Ends with a barrier.
template <bool in_place, Team T, class Entry>
DRAFTPROOF_DEVICE SoftmaxOutcome team_softmax(const T& team, const Entry* logits, int first, int count,
                                              int vocabulary, float inverse, float* out, SoftmaxNote* notes) {
  constexpr auto infinity = static_cast<float>(SoftmaxOutcome::infinity);
  const int blocks = softmax_blocks(count);
  const auto own_blocks = [&](const auto& visit) {
    for (int b = team.warp(); b < blocks; b += team.warps()) {
      const int start = b * softmax_block_size, left = count - start;
      visit(b, start + team.lane(), start + (left < softmax_block_size ? left : softmax_block_size));
    }
  };

  // Calls use(entries, i) with `together` entries of this lane, all loaded before the first is used; entries beyond
  // the end are -infinity.
  constexpr int together = in_place ? 4 : 8;
  const auto together_of = [&](const auto* row, int begin, int end, const auto& use) {
    for (int i = begin; i < end; i += together * team.lanes()) {
      float entries[together];
      for (int j = 0; j < together; ++j) {
        const int at = i + j * team.lanes();
        entries[j] = at < end ? static_cast<float>(row[at]) : -infinity;
      }
      use(entries, i);
    }
  };

  Candidate own;
  own_blocks([&](int b, int begin, int end) {
    float greatest = -infinity;
    bool sound = true;
    together_of(logits, begin, end, [&](const float* entries, int) {
      for (int j = 0; j < together; ++j) {
        sound &= entries[j] < infinity;
        if (entries[j] > greatest) greatest = entries[j];
      }
    });
    // +infinity and NaN get the earliest time, so the first of these tokens is the team's result.
    Candidate here{-static_cast<double>(greatest), first + begin};
    bool found = sound;
    for (int i = begin; !found && i < end; i += team.lanes()) {
      found = !(static_cast<float>(logits[i]) < infinity);
      if (found) here = {-static_cast<double>(infinity), first + i};
    }
    if (begin < end && here.before(own)) own = here;
    greatest = team.lane_max(greatest);
    std::uint64_t sum = 0;
    together_of(logits, begin, end, [&](const float* entries, int i) {
      PowerUnits units;
      for (int j = 0; j < together; ++j) {
        // If all logits are masked, the argument is NaN, for which exp_nonpositive returns 0.
        const float power = exp_nonpositive((entries[j] - greatest) * inverse);
        if (i + j * team.lanes() < end) {
          if (in_place) out[i + j * team.lanes()] = power;
          units.add(power);
        }
      }
      sum += units.sum();
    });
    sum = team.lane_sum(sum);
    if (team.lane() == 0) notes[b] = {sum, greatest};
  });

  const Candidate k_smallest = team_first(team, own, vocabulary);
  const SoftmaxOutcome outcome{k_smallest.time, k_smallest.token};
  if (!outcome.sound()) {
    team.barrier();
    return outcome;
  }
  const auto greatest = static_cast<float>(-k_smallest.time);
  const auto weight_of = [&](const SoftmaxNote& note) {
    return exp_nonpositive((note.greatest - greatest) * inverse);
  };
  std::uint64_t units = 0;
  own_blocks([&](int b, int, int) { units += units_of_block(notes[b].sum, weight_of(notes[b])); });
  team.put(team.partition() * team.warps() + team.warp(), static_cast<Fixed>(units));
  team.barrier();
  Fixed total = 0;
  for (int warp = team.lane(); warp < team.warps() * team.partitions(); warp += team.lanes()) total += team.get(warp);
  total = team.lane_sum(total);

  own_blocks([&](int b, int begin, int end) {
    const float factor = factor_of_block(weight_of(notes[b]), static_cast<std::uint64_t>(total));
    const float least = least_power_realised(factor);
    const auto scale = [&](const float* entries, int i) {
      for (int j = 0; j < together; ++j) {
        const float power = in_place ? entries[j] : exp_nonpositive((entries[j] - notes[b].greatest) * inverse);
        if (i + j * team.lanes() < end) out[i + j * team.lanes()] = power >= least ? power * factor : 0;
      }
    };
    if constexpr (in_place)
      together_of(out, begin, end, scale);
    else
      together_of(logits, begin, end, scale);
  });
  team.barrier();
  return outcome;
}

}  // namespace draftproof::gpu
