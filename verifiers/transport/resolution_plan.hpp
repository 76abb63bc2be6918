// The plan of global resolution: the minimising cut H of the optimum divides the sets of K i.i.d. drafts, with one
// softmax choice for the sets in H and one for all other sets.
//
//   order    tokens          by q / p descending
//   psi      p(S) - q(S)^K   over prefixes S of the order; H is its minimiser, 1 + psi(H) the optimum
//   delta    refused[x]      mass of x left to the residual: steps of psi's running minimum from the right
//   outer    sets not in H   always accepted, on a token outside H, with marginals p - delta
//   inner    sets in H       accepted on a token with marginals p, or refused with mass -psi(H)
//   T        kept            tokens outside H that the outer fit covers: all, or the ones with most q
//   eps_T    truncated       1 - q(H + T)^K: the probability of a draft outside both; the first such is accepted
//   gradient gradient        L1 norm of the error of both fits
//   bound    error           at least the output's total variation, at most gradient / 2 + eps_T
//
// Cost: the sets of at most K tokens of H + T, and two fits (verifiers/transport/two_step.hpp). In double.
// Correctness: `error` bounds the total variation. Let b = p - delta be the mass that the outer sets should emit and
// B its part outside H + T. Only tuples with a draft outside emit that part; they have mass eps_T, hence B <= eps_T,
// and their first such draft has distribution q there. The others are fitted to b on T, scaled down by eps_T - B in
// all. So the output differs from p by at most gradient + (eps_T - B) + sum outside of |eps_T q / q(outside) - b| in
// L1, which is twice `error`; the last sum is at most eps_T + B. Refused mass does not change: truncation costs
// accuracy, no acceptance.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <queue>
#include <type_traits>
#include <utility>
#include <vector>

#include <draftproof/verifiers/transport/draft_sets.hpp>
#include <draftproof/verifiers/transport/two_step.hpp>

namespace draftproof {

// The maximum flow through a small network, by Dinic's algorithm, in any ordered scalar: exact in fractions and in
// integers. Plans of verifiers are flows from drafted sets to tokens.
//
//   c(e)   add_edge(..)   capacity of edge e; the reverse edge holds the capacity to undo its flow
//   f(e)   flow(e)        flow through e
//
// Cost: O(nodes^2 edges) at worst, near O(edges) per phase on the two-layer networks here.
// Correctness: the algorithm ends when no path from source to sink has capacity left, the max-flow min-cut condition.

template <class Capacity>
class MaxFlow {
 public:
  /// A network of `nodes` nodes without edges.
  explicit MaxFlow(int nodes) : leaving_(index(nodes)) {}

  /// Adds an edge; returns its number, for flow().
  int add_edge(int from, int to, Capacity capacity) {
    const int edge = static_cast<int>(edges_.size());
    edges_.push_back({to, std::move(capacity)});
    edges_.push_back({from, Capacity{0}});
    leaving_[index(from)].push_back(edge);
    leaving_[index(to)].push_back(edge + 1);
    return edge;
  }

  /// Computes the flow; to be called once.
  void run(int source, int sink) {
    while (find_levels(source, sink)) {
      next_.assign(leaving_.size(), 0);
      push(source, sink, nullptr);
    }
  }

  /// Flow through the edge with this number.
  const Capacity& flow(int edge) const { return edges_[index(edge) ^ 1].left; }

 private:
  struct Edge {
    int to;
    Capacity left;
  };
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }

  bool find_levels(int source, int sink) {
    level_.assign(leaving_.size(), -1);
    level_[index(source)] = 0;
    std::queue<int> reached;
    for (reached.push(source); !reached.empty(); reached.pop())
      for (const int edge : leaving_[index(reached.front())]) {
        const auto& [to, left] = edges_[index(edge)];
        if (level_[index(to)] >= 0 || !(left > Capacity{0})) continue;
        level_[index(to)] = level_[index(reached.front())] + 1;
        reached.push(to);
      }
    return level_[index(sink)] >= 0;
  }

  /// Sends as much flow as possible from `node` to the sink, at most `limit` (null: no limit). Returns the flow sent.
  Capacity push(int node, int sink, const Capacity* limit) {
    if (node == sink) return *limit;
    Capacity sent{0};
    for (std::size_t& i = next_[index(node)]; i < leaving_[index(node)].size(); ++i) {
      const int edge = leaving_[index(node)][i];
      Edge& forward = edges_[index(edge)];
      if (!(forward.left > Capacity{0}) || level_[index(forward.to)] != level_[index(node)] + 1) continue;
      const Capacity most = limit ? std::min<Capacity>(forward.left, Capacity(*limit - sent)) : forward.left;
      const Capacity through = push(forward.to, sink, &most);
      forward.left -= through;
      edges_[index(edge) ^ 1].left += through;
      sent += through;
      if (limit && !(sent < *limit)) break;  // this edge may have capacity left: keep it
    }
    return sent;
  }

  std::vector<Edge> edges_;  ///< an edge and its reverse are adjacent
  std::vector<std::vector<int>> leaving_;
  std::vector<int> level_;
  std::vector<std::size_t> next_;
};

/// The scalar in which a flow of probabilities is computed: integers for floating-point numbers, because with rounding
/// a path could seem to have capacity left after it was filled.
template <class Scalar>
using FlowCapacity = std::conditional_t<std::is_floating_point_v<Scalar>, std::int64_t, Scalar>;

/// Returns a floating-point probability in units of 2^-52, rounded down, and a fraction as it is. Flows convert back
/// without rounding, sums of flows up to 2 are exact, and no capacity exceeds its probability. The loss of a plan is
/// below 2^-52 for each capacity.
template <class Scalar>
FlowCapacity<Scalar> to_capacity(const Scalar& probability) {
  if constexpr (std::is_floating_point_v<Scalar>)
    return static_cast<std::int64_t>(static_cast<double>(probability) * 0x1p52);
  else
    return probability;
}
template <class Scalar>
Scalar from_capacity(const FlowCapacity<Scalar>& capacity) {
  if constexpr (std::is_floating_point_v<Scalar>)
    return static_cast<Scalar>(static_cast<double>(capacity) * 0x1p-52);
  else
    return capacity;
}

class ResolutionPlan {
 public:
  std::vector<int> rank;                   ///< rank by token; -1 where p = q = 0
  std::vector<Token> tokens;               ///< by rank
  DraftSets<double> drafts;                ///< sets of ranks
  std::vector<std::vector<double>> share;  ///< odds of a set's tokens, then of its refusal
  std::vector<double> refused;             ///< by rank
  std::vector<char> kept;                  ///< by rank: in H or T
  double acceptance = 0, gradient = 0, truncated = 0, error = 0;

  static constexpr std::size_t everything = std::numeric_limits<std::size_t>::max();

  /// T holds the `truncation` tokens outside H with the largest q, and all tokens equal to the last of them.
  ResolutionPlan(const std::vector<double>& target, const std::vector<double>& proposal, int count, double tolerance,
                 std::size_t truncation = everything)
      : rank(target.size(), -1) {
    sort(target, proposal);
    find_cut(count);
    truncate(count, truncation);
    auto row = q_;
    for (std::size_t r = 0; r < row.size(); ++r)
      if (!kept[r]) row[r] = 0;
    drafts = independent_sets(std::vector<std::vector<double>>(static_cast<std::size_t>(count), row));
    share.resize(drafts.size());
    resolve(tolerance);
  }

 private:
  void sort(const std::vector<double>& target, const std::vector<double>& proposal) {
    const auto at = [](const auto& row, Token x) { return row[static_cast<std::size_t>(x)]; };
    for (Token x = 0; x < static_cast<Token>(target.size()); ++x)
      if (at(target, x) > 0 || at(proposal, x) > 0) tokens.push_back(x);
    // Tokens with equal p and equal q are adjacent, and ids order these tokens only, so relabelling changes nothing.
    std::sort(tokens.begin(), tokens.end(), [&](Token a, Token b) {
      const double left = at(proposal, a) / at(target, a), right = at(proposal, b) / at(target, b);
      if (left != right) return left > right;
      if (at(target, a) != at(target, b)) return at(target, a) > at(target, b);
      return at(proposal, a) > at(proposal, b) || (at(proposal, a) == at(proposal, b) && a < b);
    });
    for (std::size_t r = 0; r < tokens.size(); ++r) {
      rank[static_cast<std::size_t>(tokens[r])] = static_cast<int>(r);
      p_.push_back(at(target, tokens[r]));
      q_.push_back(at(proposal, tokens[r]));
    }
  }

  bool same(std::size_t r, std::size_t t) const { return p_[r] == p_[t] && q_[r] == q_[t]; }
  /// End of the run of tokens with equal p and equal q that starts at rank r.
  std::size_t run(std::size_t r) const {
    std::size_t end = r + 1;
    while (end < p_.size() && same(r, end)) ++end;
    return end;
  }

  void find_cut(int count) {
    const std::size_t n = p_.size();
    std::vector<double> psi{0};
    double p = 0, q = 0;
    for (std::size_t r = 0; r < n; ++r) {
      p += p_[r];
      q += q_[r];
      psi.push_back(p - std::pow(q, count));
    }
    // A psi that rounding alone moves below zero makes no cut. A prefix sum has up to n roundings, the power has
    // `count`.
    double lowest = -static_cast<double>(n + static_cast<std::size_t>(count)) * 0x1p-52;
    for (std::size_t r = 0; r < n; r = run(r))  // psi is concave along a run, so its minimum is at an end
      if (psi[run(r)] < lowest) {
        cut_ = run(r);
        lowest = psi[cut_];
      }
    reject_ = cut_ > 0 ? -lowest : 0;
    acceptance = 1 - reject_;
    refused.assign(n, 0);
    for (std::size_t r = n; r-- > cut_;) {
      refused[r] = std::max(psi[r + 1] - std::min(psi[r], psi[r + 1]), 0.0);
      psi[r] = std::min(psi[r], psi[r + 1]);
    }
    for (std::size_t r = cut_; r < n; r = run(r)) {
      const auto first = refused.begin() + static_cast<std::ptrdiff_t>(r),
                 last = first + static_cast<std::ptrdiff_t>(run(r) - r);
      std::fill(first, last, std::accumulate(first, last, 0.0) / static_cast<double>(run(r) - r));
    }
  }

  void truncate(int count, std::size_t truncation) {
    kept.assign(p_.size(), 1);
    std::vector<std::size_t> heavy;  // first ranks of runs outside H
    for (std::size_t r = cut_; r < p_.size(); r = run(r)) heavy.push_back(r);
    std::stable_sort(heavy.begin(), heavy.end(), [&](std::size_t a, std::size_t b) { return q_[a] > q_[b]; });
    std::size_t in_t = 0;
    double outside = 0;
    for (const std::size_t r : heavy) {
      const bool keep = in_t < truncation;
      for (std::size_t same_as_r = r; same_as_r < run(r); ++same_as_r) {
        kept[same_as_r] = keep;
        if (!keep) outside += q_[same_as_r];
        ++in_t;
      }
    }
    truncated = -std::expm1(count * std::log1p(-std::min(outside, 1.0)));
  }

  void resolve(double tolerance) {
    const std::size_t n = p_.size();
    std::vector<SoftmaxChoice> outer, inner;
    for (std::size_t i = 0; i < drafts.size(); ++i) {
      const auto& set = drafts.sets[i];
      const auto outside = std::lower_bound(set.begin(), set.end(), static_cast<Token>(cut_));
      if (outside == set.end()) {
        inner.push_back({{set.begin(), set.end()}, drafts.probability[i]});
        inner.back().tokens.push_back(static_cast<int>(n));  // the refusal, as one more token
      } else {
        outer.push_back({{outside, set.end()}, drafts.probability[i]});
      }
    }
    std::vector<double> above(n + 1, 0.0), below(n + 1, 0.0);
    for (std::size_t r = 0; r < n; ++r)
      (r < cut_ ? below : above)[r] = r < cut_ ? p_[r] : std::max(p_[r] - refused[r], 0.0);
    below[n] = reject_;
    double displaced = 0;  // L1 error of the truncation
    if (truncated > 0) {
      double undecided = 0;
      for (std::size_t r = cut_; r < n; ++r) undecided += kept[r] ? 0 : q_[r];
      for (std::size_t r = cut_; r < n; ++r)
        if (!kept[r]) displaced += std::abs(truncated * q_[r] / undecided - above[r]);
      double available = 0, wanted = 0;
      for (const auto& choice : outer) available += choice.weight;
      for (std::size_t r = cut_; r < n; ++r) wanted += above[r] *= kept[r];
      for (double& mass : above) mass *= wanted > 0 ? available / wanted : 0;
      displaced += std::abs(wanted - available);
    }
    SoftmaxFit outside(outer, above, tolerance / 2), inside(inner, below, tolerance / 2);
    for (std::size_t r = 0; r < n; r = run(r)) {
      outside.level_out(r, run(r));
      inside.level_out(r, run(r));
    }
    gradient = outside.error() + inside.error();
    error = (gradient + displaced) / 2;
    for (std::size_t i = 0, next_outer = 0, next_inner = 0; i < drafts.size(); ++i) {
      const auto& set = drafts.sets[i];
      if (static_cast<std::size_t>(set.back()) < cut_) {
        share[i] = inside.odds(inner[next_inner++].tokens);
      } else {
        const auto odds = outside.odds(outer[next_outer++].tokens);
        share[i].assign(set.size() - odds.size(), 0.0);
        share[i].insert(share[i].end(), odds.begin(), odds.end());
        share[i].push_back(0);
      }
    }
  }

  std::vector<double> p_, q_;  ///< by rank
  std::size_t cut_ = 0;        ///< size of H
  double reject_ = 0;
};

}  // namespace draftproof
