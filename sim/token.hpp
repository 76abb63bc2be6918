// Tokens, and the verdict on one draft tuple.
#pragma once

#include <cstdint>

#include <draftproof/sim/device/host_device.hpp>

namespace draftproof {

/// A token id, 0 .. V - 1.
using Token = std::int32_t;

/// Returned by a draw from weights that are all zero: the program reached a branch of probability zero. Kernels
/// cannot throw, so the caller reports it.
inline constexpr Token no_token = -1;

/// Placeholder for the last token of a trial: an explorer spreads the verdict's probability over all tokens, and a
/// batch of trials draws the token later (trials/deferred_emits.hpp).
inline constexpr Token every_token = -2;

/// Largest number of drafts at one position; it bounds the arrays on a kernel's stack.
inline constexpr int max_drafts = 32;

/// Values of Verdict::accepted: none_accepted if no draft is accepted. accepted_if_drafted goes with every_token: when
/// the token is known, the first draft equal to the token is the accepted draft.
inline constexpr int none_accepted = -1;
inline constexpr int accepted_if_drafted = -2;

/// One decision: the emitted token and the index of the accepted draft, or none_accepted.
struct Verdict {
  Token token = no_token;
  std::int32_t accepted = none_accepted;
};

/// Returns the verdict that accepts draft k, which is token x.
DRAFTPROOF_DEVICE constexpr Verdict accepted(Token x, int k) { return {x, k}; }

/// Returns the index of the first draft equal to `x`, or none_accepted if there is no such draft.
template <class Position>
DRAFTPROOF_DEVICE constexpr int find_draft(const Position& at, Token x) {
  for (int k = 0; k < at.drafts(); ++k)
    if (at.draft(k) == x) return k;
  return none_accepted;
}

/// Returns `verdict` with the first draft equal to its token as the accepted draft. Schemes that compare a drawn token
/// with the drafts accept in this way.
template <class Position>
DRAFTPROOF_DEVICE constexpr Verdict matched(const Position& at, Verdict verdict) {
  verdict.accepted = verdict.token == every_token ? accepted_if_drafted : find_draft(at, verdict.token);
  return verdict;
}

}  // namespace draftproof
