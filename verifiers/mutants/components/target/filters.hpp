// Mutants of target rows: wrong filters and penalties. `Hidden` says where a bug does not show.
#pragma once

#include <draftproof/sim/components/component_info.hpp>
#include <draftproof/sim/components/target_steps.hpp>

namespace draftproof::mutants::components::target {

// Mutant: the penalty in the bonus row counts the tokens of the committed text alone, and not the drafts before the
// bonus token.
//
// sim/components/target_steps.hpp describes steps, symbols and cost.
// Source: vllm 0.33.0, min_tokens (docs/findings/engine-vllm-least-length.md).
// Hidden: without a penalty, without drafts, and at all draft positions.
struct BonusForgetsDrafts : TargetRows<BonusForgetsDrafts> {
  static constexpr ComponentInfo info{.name = "bonus_forgets_drafts",
                                      .summary = "the bonus row is made from the committed text, without the drafts",
                                      .source = "vllm 0.33.0, min_tokens"};

  int count(const TargetRequest& request, const Token* drafts, int i, Token x) const {
    return TargetSteps::count(request, drafts, i == request.drafts() ? 0 : i, x);
  }
};

// Mutant: applies every filter to the whole row, as a fused kernel of top-k and top-p does, although the request
// specifies a chain, in which each filter is applied to the tokens that the previous filter left.
//
// Hidden: where only one filter is on, or where no filter except the last removes mass.
//
// sim/components/target_steps.hpp describes steps, symbols and cost.
struct ChainFilteredJointly : TargetRows<ChainFilteredJointly> {
  static constexpr ComponentInfo info{.name = "chain_filtered_jointly",
                                      .summary = "chained filters all see the unfiltered row",
                                      .source = "derived here"};

  bool joint(const TargetRequest&) const { return true; }
};

// Mutant: applies every filter to the tokens that the previous filter left, although the request specifies filters of
// the whole row.
//
// Hidden: where only one filter is on, or where no filter except the last removes mass.
//
// sim/components/target_steps.hpp describes steps, symbols and cost.
struct JointFilteredInChain : TargetRows<JointFilteredInChain> {
  static constexpr ComponentInfo info{.name = "joint_filtered_in_chain",
                                      .summary = "joint filters see the row that earlier filters left",
                                      .source = "derived here"};

  bool joint(const TargetRequest&) const { return false; }
};

// Mutant: applies bias, min-p and top-k to the bonus row only, not to the rows that drafts are tested against.
//
// sim/components/target_steps.hpp describes steps, symbols and cost.
// Source: vllm-project/vllm#42744.
// Hidden: without drafts and without filters.
struct FilterReachesBonusOnly : TargetRows<FilterReachesBonusOnly> {
  static constexpr ComponentInfo info{.name = "filter_reaches_bonus_only",
                                      .summary = "bias, min-p and top-k are applied to the bonus row alone",
                                      .source = "vllm-project/vllm#42744"};

  bool filtered(const TargetRequest& request, int i) const { return i == request.drafts(); }
};

// Mutant: from the second position on the penalty counts the last committed token twice.
//
// sim/components/target_steps.hpp describes steps, symbols and cost.
// Source: vllm-project/vllm#33251, found in review.
// Hidden: at the first position, without a penalty, and without committed tokens.
struct PenaltyCountsLastTokenTwice : TargetRows<PenaltyCountsLastTokenTwice> {
  static constexpr ComponentInfo info{
      .name = "penalty_counts_last_token_twice",
      .summary = "from the second draft position on the last committed token counts twice",
      .source = "vllm-project/vllm#33251"};

  int count(const TargetRequest& request, const Token* drafts, int i, Token x) const {
    const bool again = i > 0 && !request.committed.empty() && request.committed.back() == x;
    return TargetSteps::count(request, drafts, i, x) + (again ? 1 : 0);
  }
};

// Mutant: top-p keeps a token if the sum of the shares up to this token is below p, so the token with which the sum
// reaches p is dropped. If the first token alone reaches p, no token would be left, and the first token is kept.
//
// Hidden: without top-p.
//
// sim/components/target_steps.hpp describes steps, symbols and cost.
struct TopPLeavesOutTheLast : TargetRows<TopPLeavesOutTheLast> {
  static constexpr ComponentInfo info{.name = "top_p_leaves_out_the_last",
                                      .summary = "top-p drops the token with which the sum reaches top_p",
                                      .source = "derived here"};

  template <class Scalar>
  void filter(const TargetRequest& request, TargetFilters<Scalar>& filters) const {
    TargetRequest others = request;
    others.top_p = others.typical_p = 0;
    TargetSteps::filter(others, filters);
    if (request.top_p > 0) {
      TargetFilters<Scalar> strict = filters;
      strict.top_p(request.top_p, false);
      const auto& left = strict.kept();
      if (std::find(left.begin(), left.end(), true) != left.end())
        filters = strict;
      else
        filters.top_p(1);
    }
    if (request.typical_p > 0) filters.typical_p(request.typical_p);
  }
};

}  // namespace draftproof::mutants::components::target
