// One verifier, one draft law, one instance, and the results of an exact walk of them. Properties work on this class.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include <draftproof/properties/instances/instance.hpp>
#include <draftproof/properties/proof/output_law.hpp>
#include <draftproof/properties/subjects/any_verifier.hpp>

namespace draftproof {

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
  /// Calls `visit` for every tuple that may be drafted. Returns false if the limit cut the walk short.
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
