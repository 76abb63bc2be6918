// Families of random instances. A family fills p and q with small integer weights; the framework chooses V and K,
// repairs degenerate rows, and shrinks counterexamples.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include <draftproof/sim/random/philox4x32.hpp>

namespace draftproof {

/// Counter-based uniform integers, a function of (seed, instance) and the number of earlier calls only.
class InstanceRng {
 public:
  InstanceRng(std::uint64_t seed, std::uint64_t instance) : seed_{seed}, instance_{instance} {}
  /// Returns a uniform integer in low .. high.
  int between(int low, int high) {
    const auto range = static_cast<std::uint64_t>(high - low + 1);
    return low + static_cast<int>(philox_pair(seed_, instance_, slot_++, purpose).first % range);
  }
  /// Returns true with probability numerator / denominator.
  bool chance(int numerator, int denominator) { return between(0, denominator - 1) < numerator; }

 private:
  static constexpr std::uint32_t purpose = 0x100;
  std::uint64_t seed_, instance_;
  std::uint32_t slot_ = 0;
};

/// Weights of target and proposal, V entries each.
struct WeightPair {
  std::vector<int> target, proposal;
};

/// Returns a pair of rows. Calls weight() for the target's and then the proposal's weight of each token in turn.
template <class Weight>
WeightPair weights_by(int vocabulary, Weight weight) {
  WeightPair w;
  for (int x = 0; x < vocabulary; ++x) {
    w.target.push_back(weight());
    w.proposal.push_back(weight());
  }
  return w;
}

/// A named family of instances.
struct Generator {
  std::string_view name;
  std::string_view about;
  std::function<WeightPair(InstanceRng&, int vocabulary)> weights;
  /// Whether the supports of the rows matter to the family; proposals are then repaired only if all weights are zero.
  bool keeps_supports = false;
};

// Repair of degenerate rows: families may produce rows of zeros, or supports that are too small.

/// Sets zero weights to 1, at random tokens, until the support has `support` tokens, or all of them.
inline void repair_weights(std::vector<int>& row, int support, InstanceRng& dice) {
  const auto alive = [&row] { return std::count_if(row.begin(), row.end(), [](int w) { return w > 0; }); };
  const int wanted = std::clamp(support, 1, static_cast<int>(row.size()));
  while (alive() < wanted) {
    auto x = static_cast<std::size_t>(dice.between(0, static_cast<int>(row.size()) - 1));
    while (row[x] > 0) x = (x + 1) % row.size();
    row[x] = 1;
  }
}

}  // namespace draftproof
