// What a decision is about and what it ends in: tokens, and the verdict on one draft tuple.
#pragma once

#include <cstdint>

#include <draftproof/sim/device/host_device.hpp>

namespace draftproof {

/// A token id, 0 .. V - 1.
using Token = std::int32_t;

/// Returned by a draw from weights that are all zero: a branch of probability zero was reached. The caller that
/// owns an error channel reports it; nothing throws in a kernel.
inline constexpr Token no_token = -1;

/// Token of a verdict whose mass an explorer has spread over the whole vocabulary.
inline constexpr Token every_token = -2;

/// Drafts a verifier may be given at one position; bounds the arrays that live on a kernel's stack.
inline constexpr int max_drafts = 32;

/// Verdict::accepted when the rule took no draft, and when the flag waits for the token to be known.
inline constexpr int none_accepted = -1;
inline constexpr int accepted_if_drafted = -2;

/// One decision: the token to emit and the index of the draft that was accepted, if any.
struct Verdict {
  Token token = no_token;
  std::int32_t accepted = none_accepted;
};

/// The verdict "draft k, which is x, is taken".
DRAFTPROOF_DEVICE constexpr Verdict accepted(Token x, int k) { return {x, k}; }

/// Index of the first draft equal to `x`, or none_accepted.
template <class Position>
DRAFTPROOF_DEVICE constexpr int find_draft(const Position& at, Token x) {
  for (int k = 0; k < at.drafts(); ++k)
    if (at.draft(k) == x) return k;
  return none_accepted;
}

/// Counts a final draw that lands on a draft as accepted: the flag of schemes that match rather than test.
template <class Position>
DRAFTPROOF_DEVICE constexpr Verdict matched(const Position& at, Verdict verdict) {
  verdict.accepted = verdict.token == every_token ? accepted_if_drafted : find_draft(at, verdict.token);
  return verdict;
}

}  // namespace draftproof
