// The transport plan: moves as much as possible of the drafts' probability onto the target, by assigning shares of
// each drafted set to its members.
//
//   f(A,x)   share[A][j]       mass of set A on its j-th token; over all A at most the token's capacity
//            share[A].back()   mass that A keeps: Q(A) - sum of f(A,x)
//   s(x)     served[x]         sum of f(A,x) over A
//
// Cost: a maximum flow over sum of |A| edges.
// Source: Sun et al. 2023 (SpecTr), arXiv:2310.15141, the transport problem; sets in place of tuples derived here.
// Correctness: exact in fractions. In floating point the flow is one of integers, so shares add up without rounding
// and never exceed Q or the capacity; the total is below the optimum by less than (sets + V) 2^-52.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <draftproof/sim/random/uniform_source.hpp>
#include <draftproof/sim/sampling/weights.hpp>
#include <draftproof/verifiers/transport/draft_sets.hpp>
#include <draftproof/verifiers/transport/resolution_plan.hpp>

namespace draftproof {

// A draw of one of few items with weights, such as the nodes of a tree.

/// Weights of integer items, in the form that random sources take (random_source.hpp).
template <class Scalar>
class IndexWeights {
 public:
  /// Adds an item; items of weight 0 are never drawn.
  void add(int item, Scalar weight) { weights_.emplace_back(item, std::move(weight)); }

  /// The item drawn by 64 random bits; no_token without items of positive weight.
  Token draw(std::uint64_t word) const {
    double total = 0;
    for (const auto& [item, weight] : weights_) total += static_cast<double>(weight);
    const double threshold = unit_interval(word) * total;
    double running = 0;
    Token last = no_token;
    for (const auto& [item, weight] : weights_) {
      if (!(weight > Scalar{0})) continue;
      running += static_cast<double>(weight);
      last = item;
      if (threshold < running) break;
    }
    return last;
  }
  /// Calls `visit(item, weight)` for each item of positive weight.
  template <class Visit>
  void for_each(Visit visit) const {
    for (const auto& [item, weight] : weights_)
      if (weight > Scalar{0}) visit(item, weight);
  }

 private:
  std::vector<std::pair<int, Scalar>> weights_;
};

template <class Scalar>
struct TransportPlan {
  DraftSets<Scalar> drafts;
  std::vector<std::vector<Scalar>> share;
  std::vector<Scalar> served;

  /// Index in set `set` of the token that is emitted; the set's size if the mass is kept.
  template <class R>
  std::size_t pick(std::size_t set, R& random) const {
    const auto& shares = share[set];
    const auto weight = [&shares](Token j) -> Scalar { return shares[static_cast<std::size_t>(j)]; };
    return static_cast<std::size_t>(random.pick(FunctionWeights{static_cast<int>(shares.size()), weight}));
  }

  /// Gives the mass that each set keeps to the set's first token.
  void spend_spare() {
    for (std::size_t i = 0; i < share.size(); ++i) spend_spare(i, 0);
  }
  /// Gives the mass that each set keeps, if this mass is rounding of the flow, to the set's token with the greatest
  /// capacity, since a token without capacity may have no share.
  void spend_rounding(std::span<const Scalar> capacity) {
    const auto less = [&capacity](Token a, Token b) {
      return capacity[static_cast<std::size_t>(a)] < capacity[static_cast<std::size_t>(b)];
    };
    for (std::size_t i = 0; i < share.size(); ++i) {
      const auto& set = drafts.sets[i];
      spend_spare(i, static_cast<std::size_t>(std::max_element(set.begin(), set.end(), less) - set.begin()));
    }
  }

 private:
  void spend_spare(std::size_t set, std::size_t member) {
    served[static_cast<std::size_t>(drafts.sets[set][member])] += share[set].back();
    share[set][member] += share[set].back();
    share[set].back() = Scalar{0};
  }
};

/// The plan for these sets if token x takes at most capacity[x] >= 0.
template <class Scalar>
TransportPlan<Scalar> plan_transport(DraftSets<Scalar> drafts, std::span<const Scalar> capacity) {
  const int sets = static_cast<int>(drafts.size()), tokens = static_cast<int>(capacity.size());
  const int source = sets + tokens, sink = source + 1;
  MaxFlow<FlowCapacity<Scalar>> network(sink + 1);
  std::vector<int> first_edge;
  for (int i = 0; i < sets; ++i) {
    const auto chance = to_capacity(drafts.probability[static_cast<std::size_t>(i)]);
    network.add_edge(source, i, chance);
    // The edges of a set have numbers two apart, because each edge is followed by its reverse.
    for (bool first = true; const Token x : drafts.sets[static_cast<std::size_t>(i)]) {
      const int edge = network.add_edge(i, sets + x, chance);
      if (std::exchange(first, false)) first_edge.push_back(edge);
    }
  }
  for (int x = 0; x < tokens; ++x)
    network.add_edge(sets + x, sink, to_capacity(capacity[static_cast<std::size_t>(x)]));
  network.run(source, sink);

  TransportPlan<Scalar> plan{std::move(drafts), {}, std::vector<Scalar>(capacity.size(), Scalar{0})};
  for (std::size_t i = 0; i < plan.drafts.size(); ++i) {
    auto& share = plan.share.emplace_back();
    Scalar spare = plan.drafts.probability[i];
    for (int edge = first_edge[i]; const Token x : plan.drafts.sets[i]) {
      share.push_back(from_capacity<Scalar>(network.flow(edge)));
      edge += 2;
      spare -= share.back();
      plan.served[static_cast<std::size_t>(x)] += share.back();
    }
    share.push_back(spare);
  }
  return plan;
}

}  // namespace draftproof
