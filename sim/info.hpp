// The declarations of verifiers and drafters. Listings, property checks and documentation all read these structs, so
// they cannot disagree about a scheme.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace draftproof {

/// A verifier's claim about its output distribution.
enum class Promise {
  lossless,        ///< the output distribution is exactly p
  lossless_up_to,  ///< the output distribution is within Info::tau of p in total variation
  lossy,           ///< the output distribution differs from p on purpose
};

/// The draft samplings that a verifier supports, by the names of their drafters. An empty list means any sampling. A
/// verifier of paths lists samplings of trees, or samplings of the siblings in a tree (TreeDrafterInfo::siblings).
struct DraftSamplings {
  static constexpr std::size_t most = 6;
  std::array<std::string_view, most> names{};
  std::size_t count = 0;

  constexpr DraftSamplings() = default;
  template <class... Name>
  requires(sizeof...(Name) > 0 && sizeof...(Name) <= most) constexpr explicit DraftSamplings(Name... name)
      : names{std::string_view{name}...}, count{sizeof...(Name)} {}

  /// Whether every sampling is supported.
  constexpr bool any() const { return count == 0; }
  /// Whether `sampling` is supported, by name or because every sampling is.
  constexpr bool includes(std::string_view sampling) const {
    for (std::size_t i = 0; i < count; ++i)
      if (names[i] == sampling) return true;
    return any();
  }
  /// Whether `sampling` is listed by name; false for an empty list.
  constexpr bool lists(std::string_view sampling) const { return !any() && includes(sampling); }
};

inline constexpr DraftSamplings any_draft_sampling{};

/// Properties that a scheme claims beyond its promise. The framework checks each property where it is claimed.
struct Claims {
  bool accepts_equal_distributions = false;  ///< if p = q, a draft is always accepted
  bool one_draft_is_single_draft = false;    ///< if K = 1, acceptance is sum min(p, q)
  bool emitted_drafts_are_accepted = false;  ///< an emitted token that is a draft always counts as accepted
  bool more_drafts_never_hurt = false;       ///< acceptance does not fall as K grows
  bool drafter_invariant = false;            ///< for fixed random bits, the token depends on p and K only
  bool one_path_is_token_path = false;       ///< on one path, accepts and emits as token verification does
  bool one_path_is_block = false;            ///< on one path, accepts and emits as block verification does
};

/// For each interpreter, the reason why a scheme cannot run under it; empty if the scheme can.
struct Unsupported {
  std::string_view explore{};        ///< exhaustive exploration (proofs)
  std::string_view simulate{};       ///< prepared tables (Monte Carlo)
  std::string_view fresh{};          ///< passes over rows that are not prepared (per-token cost)
  std::string_view device{};         ///< CUDA kernel
  std::string_view device_trials{};  ///< CUDA kernel that runs trials on a table; for schemes that have a CUDA kernel
};

/// Declaration of a verifier.
struct Info {
  std::string_view name;     ///< snake_case
  std::string_view summary;  ///< one line
  std::string_view source;   ///< paper and algorithm, or "derived here"
  DraftSamplings drafts{};
  Promise promise = Promise::lossless;
  double tau = 0;  ///< largest total variation from p; for lossless_up_to
  int fewest_drafts = 1;
  int most_drafts = 0;  ///< 0: no limit
  Claims claims{};
  Unsupported unsupported{};
  bool shared_noise = false;  ///< reads the noise that its drafter reads, so a trial is a pass over the vocabulary
  /// Tests the drafts in order; the decision on draft k depends on drafts 0 .. k only. The number of drafts may then
  /// depend on the drafts.
  bool sequential = false;
  bool ranks_tokens = false;        ///< breaks ties by token id: the accepted drafts depend on the ids
  bool searches_plan = false;       ///< its plan comes from a numerical search, so rounding may change its acceptance
  std::string_view derived_from{};  ///< for a mutant or lossy scheme: the lossless rule for the same drafts
  /// A mutant that is lossless in exact fractions: only the precision of its floating-point form is wrong.
  bool wrong_by_rounding = false;

  /// Whether the scheme is wrong on purpose: it departs from a lossless rule, but its promise is not `lossy`.
  constexpr bool is_mutant() const { return !derived_from.empty() && promise != Promise::lossy; }
  /// Whether the precision audit explores the scheme in double. It skips mutants, except mutants whose bug is a
  /// rounding error.
  constexpr bool precision_audited() const { return !is_mutant() || wrong_by_rounding; }
};

/// Declaration of a drafter.
struct DrafterInfo {
  std::string_view name;           ///< name of the draft sampling
  std::string_view summary;        ///< one line
  bool several_proposals = false;  ///< each draft is drawn from another proposal
  bool needs_k_tokens = false;     ///< defined for K <= V only
  bool ranks_tokens = false;       ///< breaks ties between tokens by their ids
  int fewest_drafts = 1;
  int most_drafts = 0;               ///< 0: no limit
  bool fixed = false;                ///< not random: the drafts are a function of q and K
  bool shared_proposal_iid = false;  ///< K independent draws from one q; a scan over p / q gives their optimum
  bool prefix_consistent = false;    ///< with the same random bits, the first k of K drafts are the drafts for K = k
  /// For a drafter that reads shared noise: the name of the sampling that its drafts have if the noise is random.
  /// Because noise cannot be enumerated, explorers run the drafter of this sampling instead, the type `Marginal`.
  std::string_view marginal_sampling_of{};
  /// For a drafter that is wrong on purpose: the name of the sampling that it declares but does not draw from. The type
  /// `Declared` is the drafter of this sampling.
  std::string_view declared_as{};

  /// Whether the drafter reads noise that its verifier reads too.
  constexpr bool shared_noise() const { return !marginal_sampling_of.empty(); }
  /// Whether the drafter declares a sampling that it does not draw from.
  constexpr bool misdeclares() const { return !declared_as.empty(); }
};

}  // namespace draftproof
