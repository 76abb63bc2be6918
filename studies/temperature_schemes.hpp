// The acceptance of schemes at one position without simulation, as in studies of draft temperatures: for K drafts of
// one proposal, and for one draft of each of K proposals.
//
//   two step     sum min(p_I, p), p_I the law of the draft that a reduced alphabet of n tokens selects
//   rejection    1 - F, F the mass of p that K rounds of recursive rejection leave
//   tournament   sum min(L_K, p), L_K the law of the last winner; its plan holds V^2 pairs, so for small V
//
// `two step` stands for the importance-weighted scheme of Khisti et al., arXiv:2410.18234: a reconstruction
// (docs/plans.md).
// Cost: K V each, and for the reduced alphabet a flow over the sets of at most K of n tokens.
// Correctness: these are sums over the plans of the schemes. A refused selected draft is not drawn again from
// (p - p_I)+, and another draft that is drawn from there by chance is not counted.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <draftproof/optimum/iid_acceptance.hpp>
#include <draftproof/sim/distributions/plain_rows.hpp>
#include <draftproof/verifiers/recursive_rejection_independent.hpp>
#include <draftproof/verifiers/tournament.hpp>
#include <draftproof/verifiers/truncated_alphabet.hpp>

namespace draftproof {

struct TemperatureScheme {
  std::string name;
  /// Acceptance of K drafts; nothing if the scheme has no plan of an affordable size. A single proposal is shared by
  /// all drafts.
  std::function<std::optional<double>(const std::vector<double>& target,
                                      const std::vector<std::vector<double>>& proposals, int drafts)>
      acceptance;
};

/// Tokens of the reduced alphabet: at 2, 4 and 8 drafts these make 820, 793 and 510 sets, a flow of milliseconds.
inline int alphabet_size(int drafts) { return drafts <= 2 ? 40 : drafts <= 4 ? 12 : 9; }

inline double accepted_of(const std::vector<double>& target, const std::vector<double>& selected) {
  double sum = 0;
  for (std::size_t x = 0; x < target.size(); ++x) sum += std::min(target[x], selected[x]);
  return sum;
}

inline TemperatureScheme two_step_scheme() {
  return {"two step", [](const auto& target, const auto& proposals, int drafts) -> std::optional<double> {
            const Rows<double> rows(target, proposals);
            return accepted_of(target, plan_alphabet(rows, drafts, alphabet_size(drafts), 0).law);
          }};
}

/// Schemes for drafts of one proposal, in ascending order of acceptance after the first: recursive rejection <=
/// K-SEQ.
inline std::vector<TemperatureScheme> schemes_of_one_proposal() {
  return {two_step_scheme(),
          {"K-SEQ",
           [](const auto& target, const auto& proposals, int drafts) -> std::optional<double> {
             return acceptance::k_seq(target, proposals.front(), drafts);
           }},
          {"rejection", [](const auto& target, const auto& proposals, int drafts) -> std::optional<double> {
             return acceptance::recursive_rejection(target, proposals.front(), drafts);
           }}};
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
           [rejection](const auto& target, const auto& proposals, int drafts) -> std::optional<double> {
             return rejection(target, proposals, drafts);
           }},
          {"rejection, last first",
           [rejection](const auto& target, const auto& proposals, int drafts) -> std::optional<double> {
             return rejection(target, Proposals(proposals.rbegin(), proposals.rend()), drafts);
           }},
          {"tournament", [](const auto& target, const auto& proposals, int drafts) -> std::optional<double> {
             if (target.size() > 64) return std::nullopt;
             const Rows<double> rows(target, proposals);
             const auto plan = verifiers::Tournament{}.prepare(rows, drafts);
             double sum = 0;
             for (Token x = 0; x < rows.vocabulary(); ++x) sum += std::min(rows.target(x), plan.selected.of(x));
             return sum;
           }}};
}

}  // namespace draftproof
