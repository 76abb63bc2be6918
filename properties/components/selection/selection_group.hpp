// Selection policies as components: registration, and the cases of their checks.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <draftproof/properties/components/component.hpp>
#include <draftproof/properties/components/component_group.hpp>
#include <draftproof/properties/components/selection/selection_distribution.hpp>

namespace draftproof {

template <class P>
concept ChoosesByDraft = requires(const P& policy, const DraftedRequest<Rational>& request) {
  { policy.keeps(request, 1) } -> std::same_as<bool>;
};
template <class P>
concept ChoosesByBatch = requires(const P& policy, const SelectionView<Rational>& view, Explorer<Rational>& random) {
  { policy.keep(view, random) } -> std::same_as<KeptDrafts>;
};

/// Erases the policy's type. A policy that decides draft by draft keeps a draft only if its parent is kept.
template <class P>
SelectionRule selection_rule() {
  const auto keep = [](const auto& view, auto& random) {
    if constexpr (ChoosesByBatch<P>) {
      return P{}.keep(view, random);
    } else {
      KeptDrafts kept = no_drafts(view);
      for (std::size_t r = 0; r < kept.size(); ++r)
        for (std::size_t u = 1; u < kept[r].size(); ++u)
          kept[r][u] = kept[r][static_cast<std::size_t>(view.requests[r].parent[u])] &&
                       P{}.keeps(view.requests[r], static_cast<int>(u));
      return kept;
    }
  };
  return {&P::info, P::cut, P::trees, P::matching_alone, keep, keep, P::reads_past, P::reads_row};
}

struct SelectionGroup {
  static constexpr std::string_view name = "selection";
  using Subject = SelectionRule;
  using Case = SelectionCase;

  /// Returns 240 cases per round. All of them miss a bug that one case in ten reveals with probability 1e-11.
  static std::vector<SelectionCase> cases(std::uint64_t seed, int rounds) {
    std::vector<SelectionCase> cases;
    for (int n = 0; n < 240 * rounds; ++n) cases.push_back(generate_selection_case(seed, n));
    return cases;
  }
};

template <class P, Kind kind>
void register_selection() {
  static_assert(
      ChoosesByDraft<P> || ChoosesByBatch<P>,
      "a selection policy has `template <class S> bool keeps(const DraftedRequest<S>& request, int u) const` or "
      "`template <class S, class R> KeptDrafts keep(const SelectionView<S>& view, R& random) const`: "
      "sim/components/selection_view.hpp");
  static_assert(P::cut == SelectionCut::before_verification || !P::trees,
                "a policy that cuts the output after verification chooses from chains: .trees is false");
  if constexpr (ChoosesByDraft<P> || ChoosesByBatch<P>) add_component<SelectionGroup, selection_rule<P>, kind>();
}
template <class P>
inline constexpr auto register_selection_component = register_selection<P, Kind::verifier>;
template <class P>
inline constexpr auto register_selection_mutant = register_selection<P, Kind::mutant>;
template <class C>
inline constexpr auto register_selection_check = add_check<C, SelectionGroup>;

}  // namespace draftproof
