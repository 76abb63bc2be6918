// Drafts that are chosen: what a selection policy reads, and what it returns. A policy keeps some drafts of every
// request of a batch; a verifier then decides on them as if no others had been drafted, or its output is cut to them.
//
//   u              node                    0 is the context itself; parents come before their children, and siblings
//                                          are in draw order. A chain has the drafts 1 .. L, its positions
//   q(x|u)         request.row[u][x]       row that the drafts after u were drawn from; empty where none were
//   c(u)           request.confidence[u]   what a confidence head says after u; known before the drafts after u are
//                                          drawn
//   legal          request.legal[u][x]     whether the grammar allows x after u
//   survival       product of c over the nodes before u: the predicted probability that u is reached and accepted
//
// A policy is a struct over SelectionPolicy with a ComponentInfo `info` and one of
//
//   bool keeps(const DraftedRequest<S>& request, int u)                 whether u is kept, where its parent is
//   KeptDrafts keep(const SelectionView<S>& view, R& random)            the kept drafts of a batch
//
// Correctness: a draft that was kept has the distribution q, given the drafts before it, if the choice did not depend
// on its token or on later ones. Every rule that is exact for a fixed number of drafts is then exact. Of siblings
// drawn without replacement this needs the first ones in draw order: a later one alone was not drawn from q.
// Source: the property is stated for lengths by DSpark, arXiv:2607.05147, appendix A.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <draftproof/sim/token.hpp>

namespace draftproof {

/// When the choice takes effect.
enum class SelectionCut {
  before_verification,  ///< the verifier sees the kept drafts alone
  after_with_token,     ///< it sees all; its output ends with its own token after the last kept draft
  after,                ///< it sees all; its output ends with the last kept draft
};

/// Declarations of a policy, with their defaults.
struct SelectionPolicy {
  static constexpr SelectionCut cut = SelectionCut::before_verification;
  static constexpr bool trees = true;  ///< whether it chooses from trees; else from chains alone
  static constexpr bool matching_alone =
      false;  ///< whether it is for sample-and-match alone, whose token no draft moves
};

template <class Scalar>
struct DraftedRequest {
  std::vector<int> parent, depth;  ///< by node
  std::vector<Token> token;        ///< no_token at node 0
  std::vector<std::span<const Scalar>> row;
  std::vector<std::span<const std::uint8_t>> legal;
  std::vector<Scalar> confidence;
  int accepted = 0;                       ///< drafts accepted one step ago
  std::vector<Scalar> past_confidence{};  ///< of positions 1 .. L, one step ago

  int size() const { return static_cast<int>(parent.size()); }
  /// The draft probability of the token of u.
  const Scalar& drawn(int u) const { return row[at(parent[at(u)])][at(token[at(u)])]; }
  bool allowed(int u) const { return legal[at(parent[at(u)])][at(token[at(u)])] != 0; }
  /// The row that u was drawn from, and the confidence before that draw.
  std::span<const Scalar> row_before(int u) const { return row[at(parent[at(u)])]; }
  const Scalar& confidence_before(int u) const { return confidence[at(parent[at(u)])]; }
  const Scalar& confidence_after(int u) const { return confidence[at(u)]; }
  /// Number of siblings that were drawn before u.
  int rank(int u) const {
    return static_cast<int>(std::count(parent.begin() + 1, parent.begin() + u, parent[at(u)]));
  }
  /// The product of value(v) over u and the nodes between it and the root.
  template <class Value>
  Scalar along_path(int u, Value value) const {
    Scalar product(value(u));
    for (int v = parent[at(u)]; v > 0; v = parent[at(v)]) product = product * value(v);
    return product;
  }
  Scalar survival(int u) const {
    return along_path(u, [this](int v) { return confidence_before(v); });
  }

 private:
  static std::size_t at(int index) { return static_cast<std::size_t>(index); }
};

template <class Scalar>
struct SelectionView {
  std::vector<DraftedRequest<Scalar>> requests;
  int budget = 0;              ///< most drafts that are verified, over all requests
  std::vector<Scalar> cost{};  ///< of a verification of 0, 1, .. drafts; the last entry stands for more; never empty

  const Scalar& cost_of(std::size_t drafts) const { return cost[std::min(drafts, cost.size() - 1)]; }
};

/// By request and node; node 0 is always kept, and a kept node's parent is.
using KeptDrafts = std::vector<std::vector<bool>>;

/// One draft of a batch, with the score that a policy ranks it by.
template <class Scalar>
struct RankedDraft {
  int request, node, depth;
  Scalar score;
};

/// All drafts of the batch with score(request, node), by request and node.
template <class Scalar, class Score>
std::vector<RankedDraft<Scalar>> drafts_of(const SelectionView<Scalar>& view, Score score) {
  std::vector<RankedDraft<Scalar>> drafts;
  for (std::size_t r = 0; r < view.requests.size(); ++r)
    for (int u = 1; u < view.requests[r].size(); ++u)
      drafts.push_back({static_cast<int>(r), u, view.requests[r].depth[static_cast<std::size_t>(u)],
                        Scalar(score(view.requests[r], u))});
  return drafts;
}

/// The same, highest score first; ties are broken by position, then request, then draw order.
template <class Scalar, class Score>
std::vector<RankedDraft<Scalar>> ranked_drafts(const SelectionView<Scalar>& view, Score score) {
  auto drafts = drafts_of(view, score);
  std::stable_sort(drafts.begin(), drafts.end(), [](const auto& a, const auto& b) {
    return a.score > b.score || (a.score == b.score && a.depth < b.depth);
  });
  return drafts;
}

/// The ranking by survival, highest first.
template <class Scalar>
std::vector<RankedDraft<Scalar>> drafts_by_survival(const SelectionView<Scalar>& view) {
  return ranked_drafts(view, [](const auto& request, int u) { return request.survival(u); });
}

/// Returns a choice that keeps the roots alone.
template <class Scalar>
KeptDrafts no_drafts(const SelectionView<Scalar>& view) {
  KeptDrafts kept;
  for (const auto& request : view.requests) {
    kept.emplace_back(static_cast<std::size_t>(request.size()), false);
    kept.back()[0] = true;
  }
  return kept;
}

/// The first `count` drafts of a ranking.
template <class Scalar>
KeptDrafts first_drafts(const SelectionView<Scalar>& view, const std::vector<RankedDraft<Scalar>>& ranking,
                        std::size_t count) {
  KeptDrafts kept = no_drafts(view);
  for (std::size_t i = 0; i < std::min(count, ranking.size()); ++i)
    kept[static_cast<std::size_t>(ranking[i].request)][static_cast<std::size_t>(ranking[i].node)] = true;
  return kept;
}

// Budgets that maximise predicted throughput, the expected tokens of a batch over the cost of its verification.

/// The expected tokens for the first 0, 1, .. drafts of a ranking by survival, up to the budget: one of the verifier
/// for each request, and the survival of each draft.
template <class Scalar>
std::vector<Scalar> expected_tokens(const SelectionView<Scalar>& view,
                                    const std::vector<RankedDraft<Scalar>>& ranking) {
  std::vector<Scalar> tokens{Scalar(static_cast<int>(view.requests.size()))};
  for (std::size_t k = 0; k < std::min(ranking.size(), static_cast<std::size_t>(view.budget)); ++k)
    tokens.push_back(tokens.back() + ranking[k].score);
  return tokens;
}

/// Whether `next` drafts have a higher throughput than `now`, or at least the same.
template <class Scalar>
bool faster(const SelectionView<Scalar>& view, const std::vector<Scalar>& tokens, std::size_t now, std::size_t next,
            bool or_equal) {
  const Scalar left = tokens[next] * view.cost_of(now), right = tokens[now] * view.cost_of(next);
  return or_equal ? !(left < right) : right < left;
}

}  // namespace draftproof
