// The rows of one position from logits in float, bf16 or fp16, read once. The result is FreshRows of float, so every
// verifier runs on it unchanged.
//
//   l_p, l_q   target, proposals    logits of the target and of each proposal, -infinity where masked    [V]
//   T          Temperatures         divisors of the logits
//   p, q       of(...)              softmax of each (softmax.hpp), in memory reused by every call        [V]
//
// Cost: one read of the logits from memory; rows of 4 V bytes each, which a verifier's passes then find in cache.
// Correctness: a verifier is lossless for the rows it is given. Its target is the row p, whose distance from the
// exact softmax is in softmax.hpp; the drafts must come from the row q.
#pragma once

#include <cassert>
#include <span>
#include <string>
#include <vector>

#include <draftproof/sim/distributions/softmax.hpp>
#include <draftproof/sim/distributions/streamed_rows.hpp>

namespace draftproof {

// The temperatures by which the logits of a position are divided.

struct Temperatures {
  double target = 1, proposal = 1;
};

class LogitRows {
 public:
  explicit LogitRows(int vocabulary, int proposals = 1)
      : target_(vocabulary), proposals_(static_cast<std::size_t>(proposals), Softmax(vocabulary)) {}

  /// Views on this object's memory, valid until the next call. All logits have V entries; there are as many proposals
  /// as the constructor was given.
  /// Throws: std::invalid_argument on logits that have no softmax, or on a bad temperature (softmax.hpp).
  template <class Entry>
  FreshRows<float> of(std::span<const Entry> target, std::span<const Entry> proposal, Temperatures t = {}) {
    return of(target, std::vector{proposal}, t);
  }
  template <class Entry>
  FreshRows<float> of(std::span<const Entry> target, const std::vector<std::span<const Entry>>& proposals,
                      Temperatures t = {}) {
    assert(proposals.size() == proposals_.size());
    target_.of(target, t.target, "target logits");
    std::vector<std::span<const float>> rows;
    for (std::size_t k = 0; k < proposals_.size(); ++k)
      rows.push_back(proposals_[k].of(proposals[k], t.proposal, "logits of proposal " + std::to_string(k)));
    return {target_.row(), std::move(rows)};
  }

 private:
  Softmax target_;
  std::vector<Softmax> proposals_;
};

}  // namespace draftproof
