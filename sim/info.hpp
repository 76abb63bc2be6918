// What a verifier or drafter says about itself. The framework reads it; nothing else describes a scheme, so the
// listing, the properties it is held to and the documentation cannot disagree.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace draftproof {

/// What the verifier's author claims of the output law.
enum class Promise {
  lossless,        ///< the output law is exactly p
  lossless_up_to,  ///< within Info::tau of p in total variation
  lossy,           ///< differs from p on purpose
};

/// The draft laws a verifier is written for, by the name of their drafters. Empty means any law. A verifier of paths
/// names laws of trees, or laws that the siblings of a tree have (TreeDrafterInfo::siblings).
struct DraftLaws {
  static constexpr std::size_t most = 6;
  std::array<std::string_view, most> names{};
  std::size_t count = 0;

  constexpr DraftLaws() = default;
  template <class... Name>
  requires(sizeof...(Name) > 0 && sizeof...(Name) <= most) constexpr explicit DraftLaws(Name... name)
      : names{std::string_view{name}...}, count{sizeof...(Name)} {}

  constexpr bool any() const { return count == 0; }
  constexpr bool includes(std::string_view law) const {
    for (std::size_t i = 0; i < count; ++i)
      if (names[i] == law) return true;
    return any();
  }
  /// Whether `law` is there by name.
  constexpr bool lists(std::string_view law) const { return !any() && includes(law); }
};

inline constexpr DraftLaws any_law{};

/// Facts a scheme claims beyond losslessness; each is a property the framework checks where it is claimed.
struct Claims {
  bool accepts_equal_laws = false;         ///< p = q: a draft is always accepted
  bool one_draft_is_single_draft = false;  ///< K = 1: acceptance is sum min(p, q)
  bool flag_is_membership = false;         ///< no token is emitted unflagged that is among the drafts
  bool more_drafts_never_hurt = false;     ///< acceptance does not fall as K grows
  bool drafter_invariant = false;          ///< with its randomness fixed, the token depends on p and K alone
  bool one_path_is_token_path = false;     ///< of paths, K = 1: accepts and emits as token verification of the path
  bool one_path_is_block = false;          ///< of paths, K = 1: accepts and emits as block verification of the path
};

/// Why a scheme cannot run under an interpreter; empty text means it can.
struct Unsupported {
  std::string_view explore{};   ///< exhaustive exploration (proofs)
  std::string_view simulate{};  ///< prepared tables (Monte Carlo)
  std::string_view fresh{};     ///< one pass over fresh rows (per-token cost)
  std::string_view device{};    ///< CUDA kernel
};

struct Info {
  std::string_view name;     ///< snake_case, the file's name
  std::string_view summary;  ///< one line
  std::string_view source;   ///< paper and algorithm, or "derived here"
  DraftLaws drafts{};
  Promise promise = Promise::lossless;
  double tau = 0;  ///< for lossless_up_to
  int fewest_drafts = 1;
  int most_drafts = 0;  ///< 0: no limit
  Claims claims{};
  Unsupported unsupported{};
  bool shared_noise = false;  ///< races through noise that its drafter reads too: a trial passes over the vocabulary
  /// Decides on the drafts in turn and sees those up to it alone, so that whether another follows may depend on them.
  bool sequential = false;
  bool ranks_tokens = false;    ///< chooses between equals by token ids: which drafts it accepts depends on them
  std::string_view derived_from{};  ///< of a mutant or lossy scheme: the lossless rule for the same drafts
  /// A mutant that is right in fractions: nothing but the precision of a floating-point form tells it from a
  /// verifier.
  bool wrong_by_rounding = false;

  /// Whether the scheme is wrong on purpose: it departs from a lossless rule and does not say so.
  constexpr bool is_mutant() const { return !derived_from.empty() && promise != Promise::lossy; }
};

struct DrafterInfo {
  std::string_view name;           ///< name of the draft law
  std::string_view summary;        ///< one line
  bool several_proposals = false;  ///< draft k has a proposal of its own
  bool needs_k_tokens = false;     ///< defined for K <= V only
  bool ranks_tokens = false;       ///< breaks ties between tokens by their ids
  int fewest_drafts = 1;
  int most_drafts = 0;               ///< 0: no limit
  bool fixed = false;                ///< no randomness: always the same set
  bool shared_proposal_iid = false;  ///< K independent draws of one q: the ratio scan gives its optimum
  bool prefix_consistent = false;           ///< the first drafts of more are the drafts of fewer, drawn from the same words
  /// For a drafter that reads shared noise: the law its drafts have for whoever does not. Walks take that law's
  /// drafter in its place, the type `Law` of the file; noise cannot be walked.
  std::string_view marginal_law_of{};
  /// For a drafter that is wrong on purpose: the law it declares and does not draw. Its file names that law's drafter
  /// as the type `Declared`.
  std::string_view declared_as{};

  constexpr bool shared_noise() const { return !marginal_law_of.empty(); }
  constexpr bool misdeclares() const { return !declared_as.empty(); }
};

}  // namespace draftproof
