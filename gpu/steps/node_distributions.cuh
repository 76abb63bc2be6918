// The distributions at the nodes of a drafted tree for a team of threads. One TeamRows with one scratch is moved from
// node to node. On a device DraftedTree returns distributions by value. The weights that a distribution returns store
// its node, so that a draw can move TeamRows back to this node.
//
//   at.distributions(u)         NodeDistributions   distributions of one node; several may exist at a time
//   rows.at(..)                 TeamRows            the team's rows at that node; discards the pass of another node
//   rows.order(..)              TeamOrder           passes over buckets of p / q; overwrites all other scratch
//   distributions.residual(b)   weights             moves back to its node for a draw
//
// Cost: as for TeamRows; a look-up of a single token does not move TeamRows. At b = 0 the proposal is not read, so a
// leaf needs no proposal.
#pragma once

#include <cstdint>
#include <utility>

#include <draftproof/gpu/step_batch.hpp>
#include <draftproof/gpu/teams/team_order.cuh>
#include <draftproof/gpu/teams/team_rows.cuh>
#include <draftproof/sim/trees/conditional_model.hpp>
#include <draftproof/sim/trees/node_by_node.hpp>
#include <draftproof/verifiers/paths/greatest/greatest_row.hpp>

namespace draftproof::gpu {

/// The rows of one request, for one thread of its team.
template <class E, Team T>
class TreeRows {
 public:
  using Entry = E;
  using TeamType = T;

  DRAFTPROOF_DEVICE TreeRows(const StepBatch<Entry>& batch, std::int64_t request, const T& team)
      : batch_{batch}, request_{request}, team_{team}, distributions_{batch.rows(request, 0), team} {}

  DRAFTPROOF_DEVICE int vocabulary() const { return batch_.vocabulary; }
  /// Returns the rows after context c, for reading single entries without a pass.
  DRAFTPROOF_DEVICE RowView<Entry> look_up(int c) const { return batch_.rows(request_, c); }
  /// The distributions after context c. Without `with_proposal` the proposal must not be read.
  DRAFTPROOF_DEVICE const TeamRows<RowView<Entry>, T>& at(int c, bool with_proposal = true) const {
    if (c != context_ || with_proposal != with_proposal_) {
      distributions_.look_at(batch_.rows(request_, c, with_proposal));
      context_ = c;
      with_proposal_ = with_proposal;
    }
    return distributions_;
  }
  DRAFTPROOF_DEVICE TeamOrder<Entry, T> order(int c) const {
    context_ = nowhere;
    return {look_up(c), team_};
  }
  using Here = TeamRows<RowView<Entry>, T>;
  DRAFTPROOF_DEVICE const typename Here::Workspace& workspace() const { return distributions_.workspace(); }
  [[gnu::noinline]] DRAFTPROOF_DEVICE typename Here::Bins bins(int c) const { return at(c).bins(); }

  // These functions are not inlined, because in a loop over nodes they would make the compiler spill registers, and a
  // call costs far less than a pass.
  [[gnu::noinline]] DRAFTPROOF_DEVICE double residual_mass(int c, double b) const {
    return at(c, b > 0).residual_mass(b);
  }
  [[gnu::noinline]] DRAFTPROOF_DEVICE Token draw_residual(int c, double b, std::uint64_t word) const {
    return at(c, b > 0).residual(b).draw(word);
  }

 private:
  const StepBatch<Entry>& batch_;
  static constexpr int nowhere = -1;

  std::int64_t request_;
  T team_;
  mutable int context_ = 0;
  mutable bool with_proposal_ = true;
  mutable TeamRows<RowView<Entry>, T> distributions_;
};

/// Distributions after one context of a request; satisfies the concept Distributions. It refers to TreeRows, which
/// must outlive it.
template <class Entry, Team T>
class NodeDistributions {
 public:
  using Rows = TreeRows<Entry, T>;
  using Order = TeamOrder<Entry, T>;
  using Scalar = double;
  static constexpr bool fresh = true, on_device = true;

  DRAFTPROOF_DEVICE NodeDistributions(const Rows& rows, int context) : rows_{&rows}, context_{context} {}

  DRAFTPROOF_DEVICE Order order() const { return rows_->order(context_); }
  DRAFTPROOF_DEVICE int vocabulary() const { return rows_->vocabulary(); }
  DRAFTPROOF_DEVICE int proposals() const { return 1; }
  DRAFTPROOF_DEVICE double zero() const { return 0; }
  DRAFTPROOF_DEVICE double one() const { return 1; }
  DRAFTPROOF_DEVICE double target(Token x) const { return rows_->look_up(context_).p(x); }
  DRAFTPROOF_DEVICE double proposal(Token x, int = 0) const { return rows_->look_up(context_).q(x, 0); }

  DRAFTPROOF_DEVICE double residual_mass(double b) const { return rows_->residual_mass(context_, b); }
  DRAFTPROOF_DEVICE MassAndSlope<double> mass_and_slope(double b) const { return here().mass_and_slope(b); }
  DRAFTPROOF_DEVICE double mass_without(int k, const Token* seen, int n) const {
    return here().mass_without(k, seen, n);
  }
  DRAFTPROOF_DEVICE Token kth_most_probable(int j) const { return here().kth_most_probable(j); }
  template <class F>
  DRAFTPROOF_DEVICE double sum(F f) const {
    return here().sum(std::move(f));
  }
  template <class F>
  DRAFTPROOF_DEVICE Fixed fixed_sum(F f) const {
    return here().fixed_sum(std::move(f));
  }
  template <class Term>
  DRAFTPROOF_DEVICE auto sums_by_place(int places, const Term& term) const {
    return here().sums_by_place(places, term);
  }
  template <int most, class Scan>
  DRAFTPROOF_DEVICE SmallestK<most> k_smallest(int wanted, const Scan& scan) const {
    return here().template k_smallest<most>(wanted, scan);
  }

  DRAFTPROOF_DEVICE const auto& workspace() const { return rows_->workspace(); }
  DRAFTPROOF_DEVICE auto bins() const { return rows_->bins(context_); }
  DRAFTPROOF_DEVICE int bin(const typename Rows::Here::Bins& bins, Token x) const { return here().bin(bins, x); }

  DRAFTPROOF_DEVICE auto residual(double b) const { return Residual{rows_, context_, b}; }
  DRAFTPROOF_DEVICE auto clipped(double b, double clip_ratio) const {
    return NodeWeights<Clipped>(*this, Clipped{b, clip_ratio});
  }
  DRAFTPROOF_DEVICE auto row(int k) const { return NodeWeights<Row>(*this, Row{k}); }
  DRAFTPROOF_DEVICE auto row_without(int k, const Token* seen, int n) const {
    return NodeWeights<RowWithout>(*this, RowWithout{k, seen, n});
  }
  /// `summed`: whether the last pass over the rows was sum(f) with the same f.
  template <class F>
  DRAFTPROOF_DEVICE auto weights(F f, bool summed = false) const {
    return NodeWeights<Given<F>>(*this, Given<F>{std::move(f), summed});
  }

  using Here = TeamRows<RowView<Entry>, T>;
  /// Returns the team's TeamRows, moved to this node. It stays there until another node is requested.
  DRAFTPROOF_DEVICE const Here& here() const { return rows_->at(context_); }

 private:
  struct Residual {
    const Rows* rows;
    int context;
    double b;
    DRAFTPROOF_DEVICE Token draw(std::uint64_t word) const { return rows->draw_residual(context, b, word); }
    template <class Visit>
    DRAFTPROOF_DEVICE void for_each(Visit visit) const {
      rows->at(context, b > 0).residual(b).for_each(visit);
    }
  };
  struct Clipped {
    DRAFTPROOF_DEVICE Clipped(double to_b, double at) : b{to_b}, clip_ratio{at} {}
    DRAFTPROOF_DEVICE auto operator()(const Here& distributions) const {
      return distributions.clipped(b, clip_ratio);
    }
    double b, clip_ratio;
  };
  struct Row {
    DRAFTPROOF_DEVICE explicit Row(int which) : k{which} {}
    DRAFTPROOF_DEVICE auto operator()(const Here& distributions) const { return distributions.row(k); }
    int k;
  };
  struct RowWithout {
    DRAFTPROOF_DEVICE RowWithout(int which, const Token* tokens, int count) : k{which}, seen{tokens}, n{count} {}
    DRAFTPROOF_DEVICE auto operator()(const Here& distributions) const {
      return distributions.row_without(k, seen, n);
    }
    int k;
    const Token* seen;
    int n;
  };
  template <class F>
  struct Given {
    DRAFTPROOF_DEVICE Given(F function, bool is_summed) : f{std::move(function)}, summed{is_summed} {}
    DRAFTPROOF_DEVICE auto operator()(const Here& distributions) const { return distributions.weights(f, summed); }
    F f;
    bool summed;
  };

  /// The weights that `make` computes from TeamRows at this node; they are computed at the draw.
  template <class Make>
  class NodeWeights {
   public:
    DRAFTPROOF_DEVICE NodeWeights(const NodeDistributions& distributions, Make make)
        : distributions_{distributions}, make_{std::move(make)} {}
    DRAFTPROOF_DEVICE Token draw(std::uint64_t word) const { return make_(distributions_.here()).draw(word); }
    template <class Visit>
    DRAFTPROOF_DEVICE void for_each(Visit visit) const {
      make_(distributions_.here()).for_each(visit);
    }

   private:
    NodeDistributions distributions_;
    Make make_;
  };

  const Rows* rows_;
  int context_;
};

}  // namespace draftproof::gpu

namespace draftproof {

/// A drafted tree in arrays with the distributions at its nodes, which are returned by value.
template <OnDevice L>
class DraftedTree<L> {
 public:
  using Distributions = L;
  using Scalar = typename L::Scalar;

  DRAFTPROOF_DEVICE DraftedTree(const typename L::Rows& rows, const TreeView& tree) : rows_{rows}, tree_{tree} {}

  DRAFTPROOF_DEVICE const TreeView& tree() const { return tree_; }
  DRAFTPROOF_DEVICE L distributions(int u) const { return L(rows_, tree_.context(u)); }

 private:
  const typename L::Rows& rows_;
  TreeView tree_;
};

/// The passes of the team (TeamOrder) at the node of `distributions`. No other node may be requested while they are in
/// use.
template <OnDevice L>
class OrderPasses<L> : public L::Order {
 public:
  DRAFTPROOF_DEVICE explicit OrderPasses(const L& distributions) : L::Order(distributions.order()) {}
};

/// The plans of NodeByNode on a device. They are not cached: a plan is prepared at each visit of a node.
template <class V, OnDevice L>
class NodePlans<V, L> {
 public:
  DRAFTPROOF_DEVICE explicit NodePlans(const V& verifier) : verifier_{verifier} {}
  DRAFTPROOF_DEVICE auto of(const DraftedTree<L>&, int, const L& distributions, int drafts) const {
    return draftproof::prepare(verifier_, distributions, drafts);
  }

 private:
  const V& verifier_;
};

}  // namespace draftproof
