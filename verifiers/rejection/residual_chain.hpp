// The residual of p after drafts of different proposals were tested and refused one after another, in any order.
//
//   k_i      row_[i]       proposal against which the i-th refused draft was tested, i from 0
//   F_i      mass_[i]      residual mass before this test; F_0 = 1
//   r_n      left(x)       residual at token x after n refusals: r_0 = p, r_(i+1) = (r_i - F_i q_(k_i))+
//
// Cost: O(n) per token, since r_n(x) is computed from p(x) and the n proposals of x and no row is kept. A refusal
// takes a pass of O(n V), and so does the draw that ends the trial; passes with up to four refusals vectorise.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include <draftproof/sim/random_source.hpp>
#include <draftproof/sim/sampling/weights.hpp>
#include <draftproof/sim/token.hpp>

namespace draftproof {

// The draw that ends a trial in which every draft was refused, on rows where the residual may have vanished by
// rounding.
//
// In exact arithmetic a refusal has probability F > 0, the mass of the residual. After several refusals, or where p
// and q of a draft lie below the unit of sums (2^-60), F may lie below the rounding of the residual, and the draw
// returns no token. The token is then drawn from the target.
//
// Cost: one comparison of the drawn token if the residual has mass, otherwise a second draw.
// Every token emitted has target mass. Enumeration in fractions instead throws on weights that are all zero.

/// Returns a draw from `residual`, or from the target if the residual has no mass. `at` is the position, or its
/// distributions.
template <class P, class R, class W>
DRAFTPROOF_DEVICE Verdict last_draw(const P& at, R& random, const W& residual) {
  const Verdict verdict = random.emit(residual);
  if (verdict.token != no_token) return verdict;
  return random.emit(at.residual(at.zero()));
}

template <class P>
class Refusals {
 public:
  using Scalar = typename P::Scalar;

  DRAFTPROOF_DEVICE explicit Refusals(const P& at) : at_{at} { mass_[0] = at.one(); }

  /// Returns the number of refusals so far.
  DRAFTPROOF_DEVICE int count() const { return count_; }
  /// Returns the residual mass after all refusals so far.
  DRAFTPROOF_DEVICE const Scalar& mass() const { return mass_[count_]; }

  /// Returns the residual at token x, not normalised.
  DRAFTPROOF_DEVICE Scalar left(Token x) const {
    Scalar left = at_.target(x);
    for (int i = 0; i < count_; ++i) left = above_zero(at_, Scalar(left - mass_[i] * at_.proposal(x, row_[i])));
    return left;
  }

  /// Records one more refusal, of a draft tested against proposal `row`. Returns whether any residual is left.
  DRAFTPROOF_DEVICE bool refuse(int row) {
    row_[count_++] = row;
    mass_[count_] = counted<0>([this](auto left) { return at_.sum(left); });
    return mass() > at_.zero();
  }
  /// Records one more refusal, after which the residual has mass `mass_left`.
  DRAFTPROOF_DEVICE bool refuse(int row, const Scalar& mass_left) {
    row_[count_++] = row;
    mass_[count_] = mass_left;
    return mass() > at_.zero();
  }
  /// Whether a draft that was tested against proposal `row` has been refused.
  DRAFTPROOF_DEVICE bool refused(int row) const { return among(row, row_, count_); }

  /// Draws the last token from the residual.
  template <class R>
  DRAFTPROOF_DEVICE Verdict emit(R& random) const {
    return counted<0>([this, &random](auto left) { return last_draw(at_, random, at_.weights(left)); });
  }

 private:
  /// The function left(x) after sizeof...(i) refusals. It has no loop, so that passes over V vectorise.
  template <int... i>
  struct Left {
    const P& at;
    Scalar mass[sizeof...(i)];
    Token row[sizeof...(i)];

    DRAFTPROOF_DEVICE Scalar operator()(Token x) const {
      Scalar left = at.target(x);
      ((left = above_zero(at, Scalar(left - mass[i] * at.proposal(x, row[i])))), ...);
      return left;
    }
  };

  /// Calls visit(left); `left` has the number of refusals as a compile-time constant if it is at most most_counted.
  template <int... i, class Visit>
  DRAFTPROOF_DEVICE auto counted(const Visit& visit) const {
    constexpr int n = sizeof...(i);
    if constexpr (n <= most_counted) {
      if (count_ != n) return counted<i..., n>(visit);
      return visit(Left<i...>{at_, {mass_[i]...}, {row_[i]...}});
    } else {
      return visit([this](Token x) { return left(x); });
    }
  }

  static constexpr int most_counted = 4;

  DRAFTPROOF_DEVICE static Scalar above_zero(const P& at, const Scalar& left) {
    return left > at.zero() ? left : at.zero();
  }

  const P& at_;
  int count_ = 0;
  Token row_[max_drafts];  // indices of proposals
  Scalar mass_[max_drafts + 1];
};

// Refusals prepared for many trials: the residual mass after every order in which drafts can be refused, and the
// residual weights after all refusals.
//
//   k_1..k_n   path to a node       proposals of the drafts refused so far, in this order; they may all be equal
//   F_n        nodes_[i].mass       residual mass after these n refusals, as Refusals sums it
//   r_K        lasts_[j]            residual weights after K refusals
//
// The residuals of different proposals do not form a family with one parameter: (p - q_(k_1))+ / q_(k_2) orders the
// tokens anew after k_1, and the order of two refusals matters, (p - q_1)+ - F q_2 against (p - q_2)+ - F' q_1. So
// every order has separate sums. For four proposals a plan holds 64 sums and 24 tables of weights; for more than four
// it holds none. If all drafts have the same proposal, there is one order.
// Cost: a pass of O(K V) per node once; then O(K) per refusal, O(log V) for the draw that ends a trial.
// Correctness: the same bits as without a plan, because Refusals computes the masses and weights of the plan too.

template <ManyTrials L>
class RefusalPlan {
 public:
  using Scalar = typename L::Scalar;
  /// Largest number of different proposals for which the plan has tables. K proposals have K! orders, each with a table
  /// of up to V entries of 12 bytes.
  static constexpr int most_orders_of = 4;

  RefusalPlan(const L& distributions, int drafts) : one_row_{distributions.proposals() == 1} {
    if (!one_row_ && drafts > most_orders_of) return;
    drafts_ = drafts;
    grow(distributions, Refusals<L>(distributions));
  }

  /// Whether decisions on `drafts` drafts can use the plan.
  bool covers(int drafts) const { return drafts == drafts_; }

  /// Has the functions of Refusals, for one decision that the plan covers; masses come from the plan.
  template <class P>
  class Decision {
   public:
    Decision(const RefusalPlan& plan, const P& at) : plan_{plan}, at_{at}, refusals_(at) {}

    int count() const { return refusals_.count(); }
    const Scalar& mass() const { return refusals_.mass(); }
    Scalar left(Token x) const { return refusals_.left(x); }
    bool refuse(int row) {
      node_ = plan_.nodes_[node_].next[plan_.column(row)];
      return refusals_.refuse(row, plan_.nodes_[node_].mass);
    }
    template <class R>
    Verdict emit(R& random) const {
      return last_draw(at_, random, plan_.lasts_[plan_.nodes_[node_].last]);
    }

   private:
    const RefusalPlan& plan_;
    const P& at_;
    Refusals<P> refusals_;
    std::size_t node_ = 0;
  };

  /// Returns a decision that has no refusals yet; the plan and `at` must outlive it.
  template <class P>
  Decision<P> start(const P& at) const {
    return Decision<P>(*this, at);
  }

 private:
  struct Node {
    Scalar mass;
    std::size_t last;                          ///< index in lasts_, if all K drafts were refused
    std::array<std::size_t, max_drafts> next;  ///< index in nodes_ by the proposal refused next; 0: cannot occur
  };
  struct Left {
    Refusals<L> refusals;
    Scalar operator()(Token x) const { return refusals.left(x); }
  };

  std::size_t column(int row) const { return one_row_ ? 0 : static_cast<std::size_t>(row); }

  /// Adds the node for these refusals, and the nodes for all continuations. Returns the index of the node for these
  /// refusals.
  std::size_t grow(const L& distributions, const Refusals<L>& refusals) {
    const std::size_t node = nodes_.size();
    nodes_.push_back({refusals.mass(), lasts_.size(), {}});
    if (!(refusals.mass() > distributions.zero()))
      return node;  // without a residual the last test cannot refuse, so this node is not reached
    if (refusals.count() == drafts_) {
      lasts_.push_back(distributions.tabulated(Left{refusals}));
      return node;
    }
    for (int row = 0; row < (one_row_ ? 1 : drafts_); ++row) {
      if (!one_row_ && refusals.refused(row)) continue;
      Refusals<L> longer = refusals;
      longer.refuse(row);
      const std::size_t next = grow(distributions, longer);
      nodes_[node].next[column(row)] = next;
    }
    return node;
  }

  bool one_row_;
  int drafts_ = 0;
  std::vector<Node> nodes_;
  std::vector<CumulativeWeights<Left>> lasts_;
};

}  // namespace draftproof
