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

/// Trees whose siblings have the law a verifier of one position is written for. Distinct values of an i.i.d. stream
/// in order of first appearance are draws without replacement, but how many there are depends on them: merged paths
/// serve those who take drafts in turn, and not, say, a plan for two drafts without replacement.
constexpr DraftLaws trees_for(const Info& info) {
  const DraftLaws& laws = info.drafts;
  if (laws.any()) return any_law;
  if (laws.includes("iid")) return DraftLaws{"iid_paths", "delayed_paths"};
  if (laws.includes("without_replacement") && info.in_turn)
    return DraftLaws{"without_replacement_tree", "iid_paths", "delayed_paths"};
  if (laws.includes("without_replacement")) return DraftLaws{"without_replacement_tree"};
  if (laws.includes("fixed_top_k")) return DraftLaws{"top_k_tree"};
  return DraftLaws{};
}

}  // namespace detail

/// Whether there are trees for V: its drafts are those of one node, and it takes a single one.
template <class V>
inline constexpr bool walkable =
    (V::info.drafts.any() || detail::trees_for(V::info).count > 0) && V::info.fewest_drafts <= 1 &&
    V::info.cannot.explore.empty() && V::info.promise != Promise::lossless_up_to;

/// The walk of V under the name of V with "_walk".
template <class V>
struct WalkOf : Walk<V> {
 private:
  using Texts = detail::WalkTexts<V>;

 public:
  static constexpr Info info{.name = detail::Joined<Texts::name, Texts::name_suffix>::value,
                             .summary = detail::Joined<Texts::summary, Texts::summary_suffix>::value,
                             .source = V::info.source,
                             .drafts = detail::trees_for(V::info),
                             .promise = V::info.promise,
                             .most_drafts = V::info.most_drafts,
                             .claims = {.accepts_equal_laws = V::info.claims.accepts_equal_laws,
                                        .one_path_is_token_path = V::info.claims.one_draft_is_single_draft &&
                                                                  V::info.promise == Promise::lossless},
                             .cannot = V::info.cannot,
                             .in_turn = V::info.in_turn,
                             .ranks_tokens = V::info.ranks_tokens,
                             .distorts = V::info.distorts.empty()
                                             ? std::string_view{}
                                             : detail::Joined<Texts::distorts, Texts::name_suffix>::value};
};

}  // namespace draftproof
