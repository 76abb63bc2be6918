// What makes a type a verifier or a drafter, and how the framework calls one.
//
// A verifier is a struct with a static Info named `info` and
//     Verdict verify(const P& at, R& random) const            or
//     auto prepare(const L& laws, int drafts) const           what depends on (p, q, K) alone, and then
//     Verdict verify(const P& at, const Plan& plan, R& random) const
// A drafter is a struct with a static DrafterInfo named `info` and
//     int draw(const L& laws, int drafts, R& random, Token* out) const      returns how many drafts it wrote
// and, if it reads shared noise, a type `Marginal`, the drafter that draws the same law without. It declares its law in
// closed form, in code of its own, which the property declared_drafts holds `draw` to:
//     static Scalar mass(const L& laws, int drafts, const Token* prefix, int count)      that tuples begin so
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include <draftproof/sim/info.hpp>
#include <draftproof/sim/position.hpp>
#include <draftproof/sim/random_source.hpp>

namespace draftproof {

/// Laws that draw one token for each of many words at a time. A drafter may offer
///     void draw_together(const L& laws, int drafts, Words& words, Token* out, int stride, int* lengths) const
/// for them: what draw makes of each trial of a batch of words, tuples `stride` apart.
template <class L>
concept DrawsTogether = requires(const L& laws, std::span<const std::uint64_t> words, Token* out) {
  laws.row(0).draw(words, out, 1);
};

/// The plan of a verifier that prepares nothing.
struct NoPlan {};

/// Everything `verifier` computes from the laws and the number of drafts alone.
template <class V, Laws L>
DRAFTPROOF_DEVICE auto prepare(const V& verifier, const L& laws, int drafts) {
  if constexpr (requires { verifier.prepare(laws, drafts); })
    return verifier.prepare(laws, drafts);
  else
    return NoPlan{};
}

template <class V, Laws L>
using PlanOf = decltype(prepare(std::declval<const V&>(), std::declval<const L&>(), 0));

/// One decision of `verifier` at `at`, with the plan made for the same laws and at least as many drafts.
template <class V, Position P, class Plan, class R>
DRAFTPROOF_DEVICE Verdict verify(const V& verifier, const P& at, const Plan& plan, R& random) {
  if constexpr (requires { verifier.verify(at, plan, random); })
    return verifier.verify(at, plan, random);
  else
    return verifier.verify(at, random);
}

namespace detail {
template <class D>
struct WalkedDrafter {
  using type = D;
};
template <class D>
requires(D::info.shared_noise()) struct WalkedDrafter<D> {
  using type = typename D::Marginal;
};
}  // namespace detail

/// The drafter that is walked in the place of D: D itself, unless it reads shared noise.
template <class D>
using WalkedDrafter = typename detail::WalkedDrafter<D>::type;

namespace detail {
template <class D>
struct DeclaredDrafter {
  using type = draftproof::WalkedDrafter<D>;
};
template <class D>
requires(D::info.misdeclares()) struct DeclaredDrafter<D> {
  using type = typename D::Declared;
};
}  // namespace detail

/// The drafter whose law D declares: that of D, unless it is wrong on purpose.
template <class D>
using DeclaredDrafter = typename detail::DeclaredDrafter<D>::type;

}  // namespace draftproof
