// The acceptance of schemes at one position without simulation, as in studies of draft temperatures: for K drafts of
// one proposal, and for one draft of each of K proposals.
//
//   two step     sum min(p_I, p), p_I the law of the draft selected by truncated_lp or truncated_alphabet: a flow on
//                the likeliest tokens, a ladder outside
//   rejection    1 - F, F the mass of p that K rounds of recursive rejection leave
//   ladder       the ladder of the mean proposal without the flow
//   tournament   sum min(L_K, p), L_K the law of the last winner
//
// `two step` stands for the importance-weighted scheme of Khisti et al., arXiv:2410.18234: a reconstruction
// (docs/plans.md).
// Cost: K V for rejection; for selections a sort, K slopes a token for each of nine alternatives, and a flow over at
// most 1024 sets.
// Correctness: these are sums over the plans of the schemes. A refused selected draft is not drawn again from
// (p - p_I)+, and another draft that is drawn from there by chance is not counted.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <draftproof/optimum/iid_acceptance.hpp>
#include <draftproof/sim/distributions/plain_rows.hpp>
#include <draftproof/verifiers/ladder_independent.hpp>
#include <draftproof/verifiers/recursive_rejection_independent.hpp>
#include <draftproof/verifiers/tournament.hpp>
#include <draftproof/verifiers/truncated_alphabet.hpp>
#include <draftproof/verifiers/truncated_lp.hpp>

namespace draftproof {

struct TemperatureScheme {
  std::string name;
  /// Acceptance of K drafts. A single proposal is shared by all drafts.
  std::function<double(const std::vector<double>& target, const std::vector<std::vector<double>>& proposals,
                       int drafts)>
      acceptance;
};

inline double accepted_of(const std::vector<double>& target, const std::vector<double>& selected) {
  double sum = 0;
  for (std::size_t x = 0; x < target.size(); ++x) sum += std::min(target[x], selected[x]);
  return sum;
}

/// Two-step selection with a flow on the likeliest tokens.
inline TemperatureScheme two_step_scheme() {
  return {"two step", [](const auto& target, const auto& proposals, int drafts) -> double {
            const Rows<double> rows(target, proposals);
            const auto distinct = static_cast<int>(proposals.size());
            const int most = distinct == 1 ? verifiers::TruncatedLp{}.inside : verifiers::TruncatedAlphabet{}.inside;
            return accepted_of(target, AlphabetPlan(rows, drafts, distinct, most).law);
          }};
}

/// Schemes for drafts of one proposal, in descending order of acceptance.
inline std::vector<TemperatureScheme> schemes_of_one_proposal() {
  return {two_step_scheme(),
          {"K-SEQ",
           [](const auto& target, const auto& proposals, int drafts) -> double {
             return acceptance::k_seq(target, proposals.front(), drafts);
           }},
          {"rejection", [](const auto& target, const auto& proposals, int drafts) -> double {
             return acceptance::recursive_rejection(target, proposals.front(), drafts);
           }}};
}

/// Acceptance of a plan with the law of its selected draft.
template <class Plan>
double acceptance_of(const Rows<double>& rows, const Plan& plan) {
  double sum = 0;
  for (Token x = 0; x < rows.vocabulary(); ++x) sum += std::min(rows.target(x), plan.selected.of(x));
  return sum;
}

/// Schemes for one draft of each proposal. Rejection depends on the order of the proposals, so both directions are
/// given.
inline std::vector<TemperatureScheme> schemes_of_several_proposals() {
  using Proposals = std::vector<std::vector<double>>;
  const auto rejection = [](const std::vector<double>& target, Proposals proposals, int drafts) {
    const Rows<double> rows(target, std::move(proposals));
    return 1 - verifiers::RecursiveRejectionIndependent{}.prepare(rows, drafts).mass.back();
  };
  return {two_step_scheme(),
          {"rejection",
           [rejection](const auto& target, const auto& proposals, int drafts) -> double {
             return rejection(target, proposals, drafts);
           }},
          {"rejection, last first",
           [rejection](const auto& target, const auto& proposals, int drafts) -> double {
             return rejection(target, Proposals(proposals.rbegin(), proposals.rend()), drafts);
           }},
          {"ladder",
           [](const auto& target, const auto& proposals, int drafts) -> double {
             const Rows<double> rows(target, proposals);
             return acceptance_of(rows, verifiers::LadderIndependent{}.prepare(rows, drafts));
           }},
          {"tournament", [](const auto& target, const auto& proposals, int drafts) -> double {
             const Rows<double> rows(target, proposals);
             return acceptance_of(rows, verifiers::Tournament{}.prepare(rows, drafts));
           }}};
}

}  // namespace draftproof
