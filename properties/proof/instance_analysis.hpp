// One verifier, one draft law, one instance, and the results of an exact enumeration of them, with the law that it
// gives. Properties work on this class.
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

// The exact law of a drafter followed by a verifier, by an enumeration of every branch.

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

/// The law and the probabilities of acceptance. `complete` is false if the limits cut the enumeration short.
template <class Weight>
struct ExactLaw {
  std::vector<Weight> output;  ///< V probabilities of the emitted token
  Weight flag{0};              ///< probability that a draft was accepted
  Weight membership{0};        ///< probability that the token is among the drafts
  Weight mass{0};              ///< explored probability; 1 when complete
  std::uint64_t leaves = 0;
  bool complete = false;
};

/// Enumerates `drafter` and then `decider` on `laws` with up to `drafts` drafts. Throws: std::logic_error at a branch
/// of probability zero; in double such a branch is rounding, and has the law of the program in double.
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

  /// Whether verifier and draft law are defined for `instance`.
  static bool possible(const AnyVerifier& verifier, const AnyDrafter& drafter, const Instance& instance);

  /// The exact law on the instance, cached after the first walk. Throws: std::logic_error at a branch of
  /// probability zero.
  const ExactLaw<Rational>& law();
  /// The exact law on a variation of the instance; not cached.
  ExactLaw<Rational> law_of(const Instance& variation);
  /// Calls `visit` for every tuple that may be drafted. Returns false if the limit cut the enumeration short.
  [[nodiscard]] bool each_tuple(
      const std::function<void(std::span<const Token> tuple, const Rational& drawn)>& visit);
  /// Calls `visit` for every token that `decider` may emit given these drafts. Returns false if the limit cut the
  /// walk short.
  [[nodiscard]] bool each_verdict(
      const Decider<Rows<Rational>, Explorer<Rational>>& decider, std::span<const Token> tuple,
      const std::function<void(Token x, int accepted, const Rational& probability)>& visit);
  /// `count` trials on a variation, on plain rows in double. Verifiers that cannot be explored have trials too.
  Trials trials(const Instance& variation, int count) const;
  /// The same drafts, decided again on a variation of the instance.
  Trials trials(const Instance& variation, Trials drafted) const;
  /// The optimum of the draft law on the instance, by enumeration of all cuts.
  Rational optimum() const;

  /// Number of branches walked so far.
  std::uint64_t leaves() const { return leaves_; }

 private:
  const AnyVerifier& verifier_;
  const AnyDrafter& drafter_;
  const Instance& instance_;
  ExplorerLimits limits_;
  std::optional<ExactLaw<Rational>> law_;
  std::uint64_t leaves_ = 0;
};

}  // namespace draftproof
