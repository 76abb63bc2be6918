// Grammar components: registration, and the cases of their checks.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <draftproof/properties/components/component.hpp>
#include <draftproof/properties/components/component_group.hpp>
#include <draftproof/properties/components/grammar/grammar_distribution.hpp>

namespace draftproof {

template <class C>
concept MasksByGrammar = requires(const C& component, const GrammarStep& step) {
  { component.mask_state(step, 1) } -> std::same_as<int>;
  { component.verified(step, 1) } -> std::same_as<bool>;
  { component.next_state(step, 1, Token{0}) } -> std::same_as<int>;
  { C::trees } -> std::convertible_to<bool>;
};

struct GrammarGroup {
  static constexpr std::string_view name = "grammar";
  using Subject = GrammarRule;
  using Case = GrammarCase;

  /// Returns 240 cases per round. All of them miss a bug that one case in ten reveals with probability 1e-11.
  static std::vector<GrammarCase> cases(std::uint64_t seed, int rounds) {
    std::vector<GrammarCase> cases;
    for (int n = 0; n < 240 * rounds; ++n) cases.push_back(generate_grammar_case(seed, n));
    return cases;
  }
};

/// Erases the component's type.
template <class C>
GrammarRule grammar_rule() {
  return {&C::info, C::trees, [](const GrammarStep& step, int u) { return C{}.mask_state(step, u); },
          [](const GrammarStep& step, int u) { return C{}.verified(step, u); },
          [](const GrammarStep& step, int node, Token last) { return C{}.next_state(step, node, last); }};
}

template <class C, Kind kind>
void register_grammar() {
  static_assert(MasksByGrammar<C>,
                "a grammar component is a struct over GrammarMasks with mask_state(step, u), verified(step, u) and "
                "next_state(step, node, last): sim/components/grammar_view.hpp");
  if constexpr (MasksByGrammar<C>) add_component<GrammarGroup, grammar_rule<C>, kind>();
}
template <class C>
inline constexpr auto register_grammar_component = register_grammar<C, Kind::verifier>;
template <class C>
inline constexpr auto register_grammar_mutant = register_grammar<C, Kind::mutant>;
template <class C>
inline constexpr auto register_grammar_check = add_check<C, GrammarGroup>;

}  // namespace draftproof
