// The vocabulary in rungs: single tokens or buckets of tokens, ordered by p / q descending. Schemes that rank drafts
// work on rungs; how fine they are is the model's business.
//
//   n        size()               number of rungs; each has q > 0
//   P_i      target_below(i)      p-mass of the first i rungs, tokens with q = 0 included from i = 0 on
//   s_i      proposal_below(i)    q-mass of the first i rungs
//            of(x)                rung of token x; q(x) > 0
//            single_tokens        every rung is one token
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <draftproof/sim/device/cooperative_memory.hpp>
#include <draftproof/sim/numeric/fixed_point.hpp>
#include <draftproof/sim/simd/ratio_histogram.hpp>

namespace draftproof {

/// One rung per token with q > 0.
template <class Scalar>
class TokenRungs {
 public:
  static constexpr bool single_tokens = true;

  /// `order` lists the tokens with q > 0 by descending ratio; `undraftable` is the p-mass of the others.
  template <class L>
  TokenRungs(const L& laws, const std::vector<Token>& order, Scalar undraftable)
      : rung_(static_cast<std::size_t>(laws.vocabulary()), -1), target_{undraftable}, proposal_{Scalar{0}} {
    for (const Token x : order) {
      rung_[static_cast<std::size_t>(x)] = size();
      target_.push_back(target_.back() + laws.target(x));
      proposal_.push_back(proposal_.back() + laws.proposal(x));
      ratio_.push_back(laws.target(x) / laws.proposal(x));
    }
  }

  /// The same with masses at hand: entry i of `prefix` holds those of the first i tokens, undraftable included.
  template <class L, class Masses>
  TokenRungs(const L& laws, const std::vector<Token>& order, const Masses& prefix)
      : rung_(static_cast<std::size_t>(laws.vocabulary()), -1) {
    for (const auto& mass : prefix) {
      target_.push_back(mass.target);
      proposal_.push_back(mass.proposal);
    }
    for (const Token x : order) {
      rung_[static_cast<std::size_t>(x)] = static_cast<int>(ratio_.size());
      ratio_.push_back(laws.target(x) / laws.proposal(x));
    }
  }

  int size() const { return static_cast<int>(target_.size()) - 1; }
  const Scalar& target_below(int i) const { return target_[static_cast<std::size_t>(i)]; }
  const Scalar& proposal_below(int i) const { return proposal_[static_cast<std::size_t>(i)]; }
  /// p / q of each rung, which differences of the sums would lose on narrow ones.
  const std::vector<Scalar>& ratios() const { return ratio_; }
  int of(Token x) const { return rung_[static_cast<std::size_t>(x)]; }
  /// of(x) for all x; -1 where q = 0.
  const std::vector<int>& by_token() const { return rung_; }

 private:
  std::vector<int> rung_;
  std::vector<Scalar> target_, proposal_, ratio_;
};

/// Stretches of buckets in a plan: more than real rows want (docs/ladder.md), few enough for the memory of a team.
inline constexpr int most_plan_stretches = 512;

/// Buckets of equal steps of the ratio (ratio_buckets.hpp), in the memory of a room (plan_room.hpp): on a device all
/// but of() is brief. One pass over the rows; masses are fixed-point sums.
template <class Room>
class BucketRungsIn {
 public:
  static constexpr bool single_tokens = false;
  /// A plan tells as many stretches of rungs apart at most (ladder_goal.hpp).
  static constexpr int most_stretches = most_plan_stretches;
  /// Rungs are joined (ladder_goal.hpp) at this q-mass times difference in p / q, or at a quarter of it where one
  /// token counts and there is no surplus. Chosen by measurement, docs/ladder.md.
  double least_spread = 0x1p-14;

  /// None, until others are put in their place.
  BucketRungsIn() = default;
  /// `rows` shows its rows of entries, p and one q.
  template <class Rows>
  requires requires(const Rows& rows) { rows.target_row(); }
  explicit BucketRungsIn(const Rows& rows)
      : BucketRungsIn(wide::RatioMasses(rows.target_row(), rows.proposal_row())) {}
  explicit BucketRungsIn(const wide::RatioMasses& masses) : BucketRungsIn(Room{}, RatioBuckets::count) {
    fill(Room{}, masses);
  }
  /// Places for as many rungs as there can be, to be filled.
  DRAFTPROOF_DEVICE BucketRungsIn(const Room& room, int most)
      : rung_(room.template kept<typename Room::Index>(RatioBuckets::count)),
        bucket_(room.template brief<typename Room::Index>(most)),
        target_(room.template brief<double>(most + 1)),
        proposal_(room.template brief<double>(most + 1)),
        ratio_(room.template brief<double>(most)) {}

  /// Buckets come in the order of the ratios of their tokens, hence of their masses.
  template <class Masses>
  [[gnu::noinline]] DRAFTPROOF_DEVICE void fill(const Room& room, const Masses& masses) {
    const Fixed undraftable = masses.of(RatioBuckets::outside).target;
    constexpr auto descending = [](int i) { return static_cast<std::size_t>(RatioBuckets::count - 1 - i); };
    const auto own = [&](int i) {
      const wide::RatioMass mass = masses.of(descending(i));
      return Above{mass.target, mass.proposal, mass.proposal != 0};
    };
    // Mass that is as good as undraftable, and above all that follow, counts to what is above the next rung.
    const auto enter = [&](int i, const Above& above, const Above& mass) {
      const auto rung = static_cast<std::size_t>(above.rungs);
      // An empty bucket too has a rung, the one above: tokens may be there whose mass vanished in fixed point.
      const std::int64_t place = above.rungs - (mass.rungs == 0);
      rung_[descending(i)] = static_cast<typename Room::Index>(place < 0 ? 0 : place);
      if (mass.rungs == 0) return;
      target_[rung] = from_fixed(undraftable + above.target);
      proposal_[rung] = from_fixed(above.proposal);
      ratio_[rung] = static_cast<double>(mass.target) / static_cast<double>(mass.proposal);
      bucket_[rung] = static_cast<typename Room::Index>(descending(i));
    };
    const Above all = room.scan(RatioBuckets::count, Above{}, own, Plus{}, enter);
    const auto n = static_cast<std::size_t>(all.rungs);
    target_.resize(n + 1);
    proposal_.resize(n + 1);
    ratio_.resize(n);
    bucket_.resize(n);
    // The truncation of V terms, below V 2^-60, goes to the last rung.
    room.each(1, [&](int) { target_[n] = proposal_[n] = 1; });
  }

  DRAFTPROOF_DEVICE int size() const { return static_cast<int>(ratio_.size()); }
  DRAFTPROOF_DEVICE double target_below(int i) const { return target_[static_cast<std::size_t>(i)]; }
  DRAFTPROOF_DEVICE double proposal_below(int i) const { return proposal_[static_cast<std::size_t>(i)]; }
  /// p / q of each rung, from its own masses.
  DRAFTPROOF_DEVICE const ListIn<Room, double>& ratios() const { return ratio_; }
  /// Bounds of p / q in the tokens of a rung.
  DRAFTPROOF_DEVICE double highest(int i) const { return RatioBuckets::end(bucket_[static_cast<std::size_t>(i)]); }
  DRAFTPROOF_DEVICE double lowest(int i) const { return RatioBuckets::begin(bucket_[static_cast<std::size_t>(i)]); }
  DRAFTPROOF_DEVICE int of(double target, double proposal) const {
    return of_bucket(RatioBuckets::of(target, proposal));
  }
  DRAFTPROOF_DEVICE int of_bucket(std::size_t bucket) const { return rung_[bucket]; }

 private:
  /// What lies above a bucket: masses, and rungs that have some.
  struct Above {
    Fixed target = 0, proposal = 0;
    std::int64_t rungs = 0;
    DRAFTPROOF_DEVICE Above operator+(const Above& other) const {
      return {target + other.target, proposal + other.proposal, rungs + other.rungs};
    }
  };

  ListIn<Room, typename Room::Index> rung_, bucket_;
  ListIn<Room, double> target_, proposal_, ratio_;
};

using BucketRungs = BucketRungsIn<OwnRoom>;

}  // namespace draftproof
