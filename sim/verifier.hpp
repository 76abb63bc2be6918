// The concepts of a verifier and a drafter, and how the framework calls them.
//
// A verifier is a struct with a static Info named `info` and either
//     Verdict verify(const P& at, R& random) const
// or a pair: prepare() makes a plan, which depends on (p, q, K) only, and verify() decides with it:
//     auto prepare(const L& distributions, int drafts) const
//     Verdict verify(const P& at, const Plan& plan, R& random) const
//
// A drafter is a struct with a static DrafterInfo named `info` and
//     int draw(const L& distributions, int drafts, R& random, Token* out) const
// which writes at most `drafts` tokens to `out` and returns their number, and
//     static Scalar mass(const L& distributions, int drafts, const Token* prefix, int count)
// which returns the declared probability that a tuple begins with the `count` tokens at `prefix`. `mass` shares no
// code with `draw`; the property declared_drafts compares the two. A drafter that reads shared noise has a type
// `Marginal` instead of `mass`: the drafter of the same distribution without noise.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <utility>

#include <draftproof/sim/info.hpp>
#include <draftproof/sim/position.hpp>
#include <draftproof/sim/random_source.hpp>

namespace draftproof {

/// Distributions whose row(0).draw draws many tokens in one call. For them a drafter may have a function
///     void draw_together(const L& distributions, int drafts, Words& words, Token* out, int stride, int* lengths)
///     const
/// which writes the tuple that `draw` would write for trial t, t < words.count(), to out + t * stride, and its number
/// of drafts to lengths[t].
template <class L>
concept DrawsTogether = requires(const L& distributions, std::span<const std::uint64_t> words, Token* out) {
  distributions.row(0).draw(words, out, 1);
};

/// The type that stands for the plan of a verifier that has no prepare().
struct NoPlan {};

/// Returns the verifier's plan for `distributions` and `drafts`, or NoPlan if the verifier makes no plan.
template <class V, Distributions L>
DRAFTPROOF_DEVICE auto prepare(const V& verifier, const L& distributions, int drafts) {
  if constexpr (requires { verifier.prepare(distributions, drafts); })
    return verifier.prepare(distributions, drafts);
  else
    return NoPlan{};
}

/// The type of the plan of V on distributions L.
template <class V, Distributions L>
using PlanOf = decltype(prepare(std::declval<const V&>(), std::declval<const L&>(), 0));

/// Returns one decision of `verifier` at `at`. `plan` was made for the same distributions and at least as many
/// drafts.
template <class V, Position P, class Plan, class R>
DRAFTPROOF_DEVICE Verdict verify(const V& verifier, const P& at, const Plan& plan, R& random) {
  if constexpr (requires { verifier.verify(at, plan, random); })
    return verifier.verify(at, plan, random);
  else
    return verifier.verify(at, random);
}

/// A struct with a static Info named `info`.
template <class V>
concept HasInfo = requires {
  { V::info } -> std::convertible_to<const Info&>;
};

/// A verifier without a plan: verify(at, random) returns a Verdict.
template <class V, class L, class R>
concept VerifiesAlone = requires(const V& verifier, const DraftedPosition<L>& at, R& random) {
  { verifier.verify(at, random) } -> std::same_as<Verdict>;
};

/// A verifier with a plan: verify(at, prepare(distributions, drafts), random) returns a Verdict.
template <class V, class L, class R>
concept VerifiesWithPlan = requires(const V& verifier, const L& distributions, const DraftedPosition<L>& at,
                                    R& random) {
  { verifier.verify(at, verifier.prepare(distributions, 1), random) } -> std::same_as<Verdict>;
};

/// A verifier of one position, on distributions L with random source R. Registration requires it, so that a compiler
/// error names the call that is missing or has another type.
template <class V, class L, class R>
concept VerifierOn = HasInfo<V> &&(VerifiesAlone<V, L, R> || VerifiesWithPlan<V, L, R>);

namespace detail {
template <class D>
struct ExploredDrafter {
  using type = D;
};
template <class D>
requires(D::info.shared_noise()) struct ExploredDrafter<D> {
  using type = typename D::Marginal;
};
}  // namespace detail

/// The drafter that explorers run in place of D: D itself, or D::Marginal if D reads shared noise.
template <class D>
using ExploredDrafter = typename detail::ExploredDrafter<D>::type;

namespace detail {
template <class D>
struct DeclaredDrafter {
  using type = draftproof::ExploredDrafter<D>;
};
template <class D>
requires(D::info.misdeclares()) struct DeclaredDrafter<D> {
  using type = typename D::Declared;
};
}  // namespace detail

/// The drafter whose distribution D declares: D::Declared if D is wrong on purpose, ExploredDrafter<D> otherwise.
template <class D>
using DeclaredDrafter = typename detail::DeclaredDrafter<D>::type;

}  // namespace draftproof
