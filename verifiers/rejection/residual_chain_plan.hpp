// Refusals prepared for many trials: the residual mass after every order in which drafts can be refused, and the
// residual weights after all refusals.
//
//   k_1..k_n   path to a node       proposals refused so far, in this order; one proposal for all drafts: n times it
//   F_n        nodes_[i].mass       residual mass after them, as Refusals sums it
//   r_K        lasts_[j]            weights after all K
//
// The residuals of different proposals do not form a family with one parameter: (p - q_(k_1))+ / q_(k_2) orders the
// tokens anew after k_1, and the order of two refusals matters, (p - q_1)+ - F q_2 against (p - q_2)+ - F' q_1. So
// every order has its own sums. For four proposals a plan holds 64 of them, and 24 tables of weights; for more it
// holds none. One proposal has one order.
// Cost: a pass of O(K V) a node once; then O(K) a refusal, O(log V) for the draw that ends a trial.
// Correctness: the same bits as without a plan, because masses and draws are those of Refusals.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include <draftproof/sim/sampling/tabulated_weights.hpp>
#include <draftproof/verifiers/rejection/residual_chain.hpp>

namespace draftproof {

template <ManyTrials L>
class RefusalPlan {
 public:
  using Scalar = typename L::Scalar;
  /// Largest number of different proposals whose orders are kept: K! tables of up to V entries of 12 bytes.
  static constexpr int most_orders_of = 4;

  RefusalPlan(const L& laws, int drafts) : one_row_{laws.proposals() == 1} {
    if (!one_row_ && drafts > most_orders_of) return;
    drafts_ = drafts;
    grow(laws, Refusals<L>(laws));
  }

  /// Whether decisions on this number of drafts can use the plan.
  bool covers(int drafts) const { return drafts == drafts_; }

  /// The calls of Refusals, for one decision that the plan covers.
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

  /// A decision without refusals; the plan and `at` must outlive it.
  template <class P>
  Decision<P> start(const P& at) const {
    return Decision<P>(*this, at);
  }

 private:
  struct Node {
    Scalar mass;
    std::size_t last;                          ///< index in lasts_, if all drafts were refused
    std::array<std::size_t, max_drafts> next;  ///< by the proposal refused next; 0: not reached
  };
  struct Left {
    Refusals<L> refusals;
    Scalar operator()(Token x) const { return refusals.left(x); }
  };

  std::size_t column(int row) const { return one_row_ ? 0 : static_cast<std::size_t>(row); }

  /// Adds the node after these refusals and all that can follow. Returns its index.
  std::size_t grow(const L& laws, const Refusals<L>& refusals) {
    const std::size_t node = nodes_.size();
    nodes_.push_back({refusals.mass(), lasts_.size(), {}});
    if (!(refusals.mass() > laws.zero())) return node;  // no residual: the test before it accepts in any case
    if (refusals.count() == drafts_) {
      lasts_.push_back(laws.tabulated(Left{refusals}));
      return node;
    }
    for (int row = 0; row < (one_row_ ? 1 : drafts_); ++row) {
      if (!one_row_ && refusals.refused(row)) continue;
      Refusals<L> longer = refusals;
      longer.refuse(row);
      const std::size_t next = grow(laws, longer);
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
