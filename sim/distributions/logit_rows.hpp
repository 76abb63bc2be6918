// The rows of one position from logits, as engines have them: float, bf16 or fp16, read once. What comes out are
// fresh rows of float, so every verifier runs on them as it is.
//
//   l_p, l_q   target, proposals    logits of the target and of each proposal, -infinity where masked    [V]
//   T          Temperatures         what they are divided by
//   p, q       of(...)              softmax of each (softmax.hpp), in memory kept from call to call      [V]
//
// Cost: one read of the logits from memory; rows of 4 V bytes each that the passes of a verifier then find in cache.
// Right because a verifier is lossless for the rows it is given: the target it serves is the row p, whose distance
// from the exact softmax is in softmax.hpp, provided the drafts came from the row q.
#pragma once

#include <cassert>
#include <span>
#include <string>
#include <vector>

#include <draftproof/sim/distributions/softmax.hpp>
#include <draftproof/sim/distributions/streamed_rows.hpp>

namespace draftproof {

// What the logits of a position are divided by.

struct Temperatures {
  double target = 1, proposal = 1;
};

class LogitRows {
 public:
  explicit LogitRows(int vocabulary, int proposals = 1)
      : target_(vocabulary), proposals_(static_cast<std::size_t>(proposals), Softmax(vocabulary)) {}

  /// Views on this object's memory, valid until the next call. All logits have V entries; there are as many proposals
  /// as the constructor was told. Throws std::invalid_argument on logits that are no law (softmax.hpp).
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
