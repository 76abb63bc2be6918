// One verifier, one draft sampling, one instance, and the results of their exact enumeration, which properties use.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <draftproof/properties/instances/instance.hpp>
#include <draftproof/properties/subjects/any_verifier.hpp>
#include <draftproof/sim/numeric/sums.hpp>

namespace draftproof {

// The exact distribution of a drafter followed by a verifier, by enumeration of every branch.

/// Compensated sum for double, because leaves differ by orders of magnitude; plain sum for exact numbers.
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

/// The output distribution and the probabilities of acceptance. `complete` is false if the enumeration reached its
/// limits.
template <class Weight>
struct ExactDistribution {
  std::vector<Weight> output;  ///< V probabilities of the emitted token
  Weight draft_accepted{
      0};                   ///< accepted (verifier's count): probability that the verifier counts a draft as accepted
  Weight draft_emitted{0};  ///< accepted (any draft emitted): probability that the emitted token is among the drafts
  Weight mass{0};           ///< total probability of the enumerated branches; 1 if complete
  std::uint64_t leaves = 0;
  bool complete = false;
};

/// Enumerates `drafter` and then `decider` on `distributions` with up to `drafts` drafts. Throws: std::logic_error at
/// a branch of probability zero. In double, rounding may lead to such a branch; the enumeration then continues with the
/// distribution that the program in double uses at this branch.
template <class L, class Weight>
ExactDistribution<Weight> explore_distribution(const AnyDrafter& drafter, const Decider<L, Explorer<Weight>>& decider,
                                               const L& distributions, int drafts, ExplorerLimits limits = {}) {
  std::vector<Accumulator<Weight>> output(static_cast<std::size_t>(distributions.vocabulary()));
  Accumulator<Weight> draft_accepted, draft_emitted, mass;
  limits.vocabulary = distributions.vocabulary();
  Explorer<Weight> explorer(limits);
  if constexpr (std::floating_point<Weight>) explorer.with_rounding();
  // On small instances the last draw is performed, because a program may change the token that it returns.
  explorer.emit_at_once(std::same_as<Weight, Rational> && distributions.vocabulary() <= 3 && drafts <= 2);
  Token tuple[max_drafts];
  int count = 0;
  const auto add = [&](Token x, int accepted, const Weight& probability) {
    const bool drafted = among(x, tuple, count);
    output[static_cast<std::size_t>(x)].add(probability);
    mass.add(probability);
    if (drafted) draft_emitted.add(probability);
    if (accepted >= 0 || (accepted == accepted_if_drafted && drafted)) draft_accepted.add(probability);
  };
  ExactDistribution<Weight> distribution;
  distribution.complete = explorer.explore(
      [&](Explorer<Weight>& random) {
        count = drafter.draw(distributions, drafts, random, tuple);
        return decider.decide({tuple, static_cast<std::size_t>(count)}, random);
      },
      [&](const Leaf<Weight>& leaf) {
        leaf.each_token([&](Token x, const Weight& probability) { add(x, leaf.verdict.accepted, probability); });
      });
  for (const auto& sum : output) distribution.output.push_back(sum.value());
  distribution.draft_accepted = draft_accepted.value();
  distribution.draft_emitted = draft_emitted.value();
  distribution.mass = mass.value();
  distribution.leaves = explorer.leaves();
  return distribution;
}

/// Trials 0, 1, .. of one seed in double: drafts and verdicts.
struct Trials {
  Trials(int count, int most)
      : stride{most},
        drafts(static_cast<std::size_t>(count * most), no_token),
        lengths(static_cast<std::size_t>(count)),
        verdicts(static_cast<std::size_t>(count)) {}

  TrialBatch batch() { return {1, 0, static_cast<int>(verdicts.size()), stride, drafts.data(), lengths.data()}; }

  int stride;
  std::vector<Token> drafts;
  std::vector<int> lengths;
  std::vector<Verdict> verdicts;
};

class InstanceAnalysis {
 public:
  InstanceAnalysis(const AnyVerifier& verifier, const AnyDrafter& drafter, const Instance& instance,
                   ExplorerLimits limits = {})
      : verifier_{verifier}, drafter_{drafter}, instance_{instance}, limits_{limits} {}

  const AnyVerifier& verifier() const { return verifier_; }
  const AnyDrafter& drafter() const { return drafter_; }
  const Instance& instance() const { return instance_; }
  ExplorerLimits limits() const { return limits_; }

  /// Whether verifier and draft sampling are defined for the V, K and number of proposals of `instance`.
  static bool possible(const AnyVerifier& verifier, const AnyDrafter& drafter, const Instance& instance);

  /// Returns the exact distribution on the instance; cached. Throws: std::logic_error at a branch of
  /// probability zero.
  const ExactDistribution<Rational>& distribution();
  /// Returns the exact distribution on a variation of the instance; not cached.
  ExactDistribution<Rational> distribution_of(const Instance& variation);
  /// Calls `visit` for every tuple that may be drafted. Returns false if the enumeration reached its limit.
  [[nodiscard]] bool each_tuple(
      const std::function<void(std::span<const Token> tuple, const Rational& drawn)>& visit);
  /// Calls `visit` for every token that `decider` may emit given these drafts. Returns false if the enumeration
  /// reached its limit.
  [[nodiscard]] bool each_verdict(
      const Decider<Rows<Rational>, Explorer<Rational>>& decider, std::span<const Token> tuple,
      const std::function<void(Token x, int accepted, const Rational& probability)>& visit);
  /// Runs `count` trials on a variation, on plain rows in double, also of verifiers that cannot be enumerated.
  Trials trials(const Instance& variation, int count) const;
  /// Decides the drafts of `drafted` again, on a variation of the instance, and returns the new trials.
  Trials trials(const Instance& variation, Trials drafted) const;
  /// Returns the optimum of the draft sampling on the instance, as the least value of all cuts (sets of tokens).
  Rational optimum() const;

  /// Returns the number of branches enumerated so far.
  std::uint64_t leaves() const { return leaves_; }

 private:
  const AnyVerifier& verifier_;
  const AnyDrafter& drafter_;
  const Instance& instance_;
  ExplorerLimits limits_;
  std::optional<ExactDistribution<Rational>> distribution_;
  std::uint64_t leaves_ = 0;
};

}  // namespace draftproof
