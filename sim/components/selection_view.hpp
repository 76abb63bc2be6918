// The input and output of selection policies. A policy keeps some drafts of every request of a batch; then either the
// verifier gets only the kept drafts, or it gets all drafts and its output is cut.
//
//   u              node                    0 is the context itself; parents come before their children, and siblings
//                                          are in draw order. A chain has the drafts 1 .. L, its positions
//   q(x|u)         request.row[u][x]       row that the drafts after u were drawn from; empty if u has no drafts
//   c(u)           request.confidence[u]   output of a confidence head after u; known before the drafts after u are
//                                          drawn
//   legal          request.legal[u][x]     whether the grammar allows x after u
//   survival       product of c over the nodes before u: the predicted probability that u is reached and accepted
//
// A policy is a struct derived from SelectionPolicy with a ComponentInfo `info` and one of two functions:
//
//   bool keeps(const DraftedRequest<S>& request, int u)                 whether u is kept if its parent is kept
//   KeptDrafts keep(const SelectionView<S>& view, R& random)            the kept drafts of a batch
//
// Correctness: given the drafts before it, a kept draft has the distribution q if the choice did not depend on its
// token or on later tokens. Every verifier that is exact for a fixed number of drafts is then exact. Siblings drawn
// without replacement must be kept from the first sibling on, because without the earlier siblings a later sibling
// does not have the distribution q.
// Source: DSpark, arXiv:2607.05147, appendix A, states the property for draft lengths.
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
  before_verification,  ///< the verifier gets the kept drafts only
  after_with_token,     ///< the verifier gets all drafts; its output is cut one token after the last kept draft
  after,                ///< the verifier gets all drafts; its output is cut after the last kept draft
};

/// Declarations of a policy, with their defaults.
struct SelectionPolicy {
  static constexpr SelectionCut cut = SelectionCut::before_verification;
  static constexpr bool trees = true;  ///< whether it supports trees; otherwise only chains
  static constexpr bool matching_alone =
      false;  ///< whether it is exact for sample-and-match only, whose tokens do not depend on the drafts
  static constexpr bool reads_past = false;  ///< whether it reads results of the previous step
  static constexpr bool reads_row =
      true;  ///< whether its decision about a draft reads the row that the draft is drawn from, or its confidence
};

template <class Scalar>
struct DraftedRequest {
  std::vector<int> parent, depth;  ///< by node
  std::vector<Token> token;        ///< no_token at node 0
  std::vector<std::span<const Scalar>> row;
  std::vector<std::span<const std::uint8_t>> legal;
  std::vector<Scalar> confidence;
  int accepted = 0;                       ///< number of drafts that the previous step accepted
  std::vector<Scalar> past_confidence{};  ///< confidences at positions 1 .. L in the previous step

  int size() const { return static_cast<int>(parent.size()); }
  /// Returns the draft probability of the token of u.
  const Scalar& drawn(int u) const { return row[at(parent[at(u)])][at(token[at(u)])]; }
  bool allowed(int u) const { return legal[at(parent[at(u)])][at(token[at(u)])] != 0; }
  /// These three functions return the row that u was drawn from, the confidence before that draw, and the confidence
  /// after u.
  std::span<const Scalar> row_before(int u) const { return row[at(parent[at(u)])]; }
  const Scalar& confidence_before(int u) const { return confidence[at(parent[at(u)])]; }
  const Scalar& confidence_after(int u) const { return confidence[at(u)]; }
  /// Returns the number of siblings that were drawn before u.
  int rank(int u) const {
    return static_cast<int>(std::count(parent.begin() + 1, parent.begin() + u, parent[at(u)]));
  }
  /// Returns the product of value(v) over u and the nodes between u and the root.
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
  int budget = 0;              ///< largest number of verified drafts of all requests together
  std::vector<Scalar> cost{};  ///< cost of 0, 1, .. verified drafts, not empty; the last entry is for more drafts too

  const Scalar& cost_of(std::size_t drafts) const { return cost[std::min(drafts, cost.size() - 1)]; }
};

/// Whether a node is kept, by request and node. Node 0 and the parent of every kept node are kept.
using KeptDrafts = std::vector<std::vector<bool>>;

/// One draft of a batch, with the score that a policy ranks it by.
template <class Scalar>
struct RankedDraft {
  int request, node, depth;
  Scalar score;
};

/// Returns all drafts of the batch with score(request, node), in the order of requests and nodes.
template <class Scalar, class Score>
std::vector<RankedDraft<Scalar>> drafts_of(const SelectionView<Scalar>& view, Score score) {
  std::vector<RankedDraft<Scalar>> drafts;
  for (std::size_t r = 0; r < view.requests.size(); ++r)
    for (int u = 1; u < view.requests[r].size(); ++u)
      drafts.push_back({static_cast<int>(r), u, view.requests[r].depth[static_cast<std::size_t>(u)],
                        Scalar(score(view.requests[r], u))});
  return drafts;
}

/// Returns all drafts of the batch, highest score first; ties are broken by position, then request, then draw order.
template <class Scalar, class Score>
std::vector<RankedDraft<Scalar>> ranked_drafts(const SelectionView<Scalar>& view, Score score) {
  auto drafts = drafts_of(view, score);
  std::stable_sort(drafts.begin(), drafts.end(), [](const auto& a, const auto& b) {
    return a.score > b.score || (a.score == b.score && a.depth < b.depth);
  });
  return drafts;
}

/// Returns all drafts of the batch, highest survival first.
template <class Scalar>
std::vector<RankedDraft<Scalar>> drafts_by_survival(const SelectionView<Scalar>& view) {
  return ranked_drafts(view, [](const auto& request, int u) { return request.survival(u); });
}

/// Returns a choice that keeps no draft.
template <class Scalar>
KeptDrafts no_drafts(const SelectionView<Scalar>& view) {
  KeptDrafts kept;
  for (const auto& request : view.requests) {
    kept.emplace_back(static_cast<std::size_t>(request.size()), false);
    kept.back()[0] = true;
  }
  return kept;
}

/// Returns a choice that keeps the first `count` drafts of a ranking.
template <class Scalar>
KeptDrafts first_drafts(const SelectionView<Scalar>& view, const std::vector<RankedDraft<Scalar>>& ranking,
                        std::size_t count) {
  KeptDrafts kept = no_drafts(view);
  for (std::size_t i = 0; i < std::min(count, ranking.size()); ++i)
    kept[static_cast<std::size_t>(ranking[i].request)][static_cast<std::size_t>(ranking[i].node)] = true;
  return kept;
}

// Functions for policies that maximise predicted throughput: the expected number of tokens of a batch divided by the
// cost of its verification.

/// Returns the expected number of tokens if the first 0, 1, .. drafts of a ranking by survival are verified, up to
/// the budget: one token for each request, plus the survival of each verified draft.
template <class Scalar>
std::vector<Scalar> expected_tokens(const SelectionView<Scalar>& view,
                                    const std::vector<RankedDraft<Scalar>>& ranking) {
  std::vector<Scalar> tokens{Scalar(static_cast<int>(view.requests.size()))};
  for (std::size_t k = 0; k < std::min(ranking.size(), static_cast<std::size_t>(view.budget)); ++k)
    tokens.push_back(tokens.back() + ranking[k].score);
  return tokens;
}

/// Whether `next` drafts have a higher predicted throughput than `now` drafts, or, with `or_equal`, an equal one.
template <class Scalar>
bool faster(const SelectionView<Scalar>& view, const std::vector<Scalar>& tokens, std::size_t now, std::size_t next,
            bool or_equal) {
  const Scalar left = tokens[next] * view.cost_of(now), right = tokens[now] * view.cost_of(next);
  return or_equal ? !(left < right) : right < left;
}

}  // namespace draftproof
