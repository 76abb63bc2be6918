// The exact law of a drafter followed by a verifier, by a walk of every branch.
#pragma once

#include <concepts>
#include <cstdint>
#include <utility>
#include <vector>

#include <draftproof/properties/subjects/any_verifier.hpp>
#include <draftproof/sim/numeric/sums.hpp>

namespace draftproof {

/// Compensated sum for double, plain sum for exact numbers. Leaves differ by orders of magnitude.
template <class Weight>
class Accumulator {
 public:
  void add(const Weight& term) { sum_ += term; }
  Weight value() const { return sum_; }

 private:
  Weight sum_{0};
};
template <>
class Accumulator<double> : public NeumaierSum {};

/// The law and the probabilities of acceptance. `complete` is false if the limits cut the walk short.
template <class Weight>
struct ExactLaw {
  std::vector<Weight> output;  ///< V probabilities of the emitted token
  Weight flag{0};              ///< probability that a draft was accepted
  Weight membership{0};        ///< probability that the token is among the drafts
  Weight mass{0};              ///< explored probability; 1 when complete
  std::uint64_t leaves = 0;
  bool complete = false;
};

/// Walks `drafter` and then `decider` on `laws` with up to `drafts` drafts. Throws: std::logic_error at a branch of
/// probability zero; in double such a branch is rounding, and has the law of the program in double.
template <class L, class Weight>
ExactLaw<Weight> explore_law(const AnyDrafter& drafter, const Decider<L, Explorer<Weight>>& decider, const L& laws,
                             int drafts, ExplorerLimits limits = {}) {
  std::vector<Accumulator<Weight>> output(static_cast<std::size_t>(laws.vocabulary()));
  Accumulator<Weight> flag, membership, mass;
  Explorer<Weight> explorer(limits);
  if constexpr (std::floating_point<Weight>) explorer.with_rounding();
  Token tuple[max_drafts];
  int count = 0;
  const auto add = [&](Token x, int accepted, const Weight& probability) {
    const bool drafted = among(x, tuple, count);
    output[static_cast<std::size_t>(x)].add(probability);
    mass.add(probability);
    if (drafted) membership.add(probability);
    if (accepted >= 0 || (accepted == accepted_if_drafted && drafted)) flag.add(probability);
  };
  ExactLaw<Weight> law;
  law.complete = explorer.explore(
      [&](Explorer<Weight>& random) {
        count = drafter.draw(laws, drafts, random, tuple);
        return decider.decide({tuple, static_cast<std::size_t>(count)}, random);
      },
      [&](const Leaf<Weight>& leaf) {
        leaf.each_token([&](Token x, const Weight& probability) { add(x, leaf.verdict.accepted, probability); });
      });
  for (const auto& sum : output) law.output.push_back(sum.value());
  law.flag = flag.value();
  law.membership = membership.value();
  law.mass = mass.value();
  law.leaves = explorer.leaves();
  return law;
}

}  // namespace draftproof
