// What a walk says about itself, derived from what its verifier says of one position.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include <draftproof/sim/walk.hpp>

namespace draftproof {

namespace detail {

/// The characters of `text` followed by `suffix`, for as long as the program runs.
template <const std::string_view& text, const std::string_view& suffix>
struct Joined {
  static constexpr auto characters = [] {
    std::array<char, text.size() + suffix.size()> joined{};
    std::copy(text.begin(), text.end(), joined.begin());
    std::copy(suffix.begin(), suffix.end(), joined.begin() + text.size());
    return joined;
  }();
  static constexpr std::string_view value{characters.data(), characters.size()};
};

template <class V>
struct WalkTexts {
  static constexpr std::string_view name = V::info.name;
  static constexpr std::string_view distorts = V::info.distorts;
  static constexpr std::string_view name_suffix = "_walk";
  static constexpr std::string_view summary = V::info.summary;
  static constexpr std::string_view summary_suffix = ", at every node of a tree";
};

}  // namespace detail

/// Whether V can decide at the nodes of a tree: it takes a single draft, and its walk can be explored or reads the
/// noise that drafted. Which trees there are for it, their drafters say.
template <class V>
inline constexpr bool walkable =
    V::info.fewest_drafts <= 1 &&
    (V::info.cannot.explore.empty() || V::info.shared_noise) && V::info.promise != Promise::lossless_up_to;

/// The walk of V under the name of V with "_walk".
template <class V>
struct WalkOf : Walk<V> {
 private:
  using Texts = detail::WalkTexts<V>;

 public:
  static constexpr Info info{.name = detail::Joined<Texts::name, Texts::name_suffix>::value,
                             .summary = detail::Joined<Texts::summary, Texts::summary_suffix>::value,
                             .source = V::info.source,
                             .drafts = V::info.drafts,
                             .promise = V::info.promise,
                             .most_drafts = V::info.most_drafts,
                             .claims = {.accepts_equal_laws = V::info.claims.accepts_equal_laws,
                                        // Walks run on tables, whose draws are sorted by ratio; noise is by token.
                                        .drafter_invariant = V::info.claims.drafter_invariant && V::info.shared_noise,
                                        .one_path_is_token_path = V::info.claims.one_draft_is_single_draft &&
                                                                  V::info.promise == Promise::lossless},
                             .cannot = V::info.cannot,
                             .shared_noise = V::info.shared_noise,
                             .in_turn = V::info.in_turn,
                             .ranks_tokens = V::info.ranks_tokens,
                             .distorts = V::info.distorts.empty()
                                             ? std::string_view{}
                                             : detail::Joined<Texts::distorts, Texts::name_suffix>::value,
                             .wrong_by_rounding = V::info.wrong_by_rounding};
};

}  // namespace draftproof
