// Whether some lossless verifier accepts always: the optimum is 1, not nearly 1. Decided in integers.
//
//   condition   p(S) >= Pr(all drafts in S) for every set S of tokens
//   i.i.d.      p(S) >= q(S)^K for the prefixes S of rising p / q: the least cut is one of them
//
// Cost: O(V) on a table; sets that come within rounding of equality cost a power of K words. Source: the cut formula,
// docs/optimum.md. The masses are those of the quantised rows, integers that sum to 2^62: the law that the table
// serves.
#pragma once

#include <map>
#include <optional>

#include <draftproof/exact/rational.hpp>
#include <draftproof/optimum/set_law.hpp>
#include <draftproof/sim/distributions/ratio_table.hpp>

namespace draftproof {

/// Any draft law, by all 2^V sets. V <= 20.
bool always_accepts(std::span<const Rational> target, const std::map<TokenSet, Rational>& drafts);

/// K = `drafts` i.i.d. drafts in fractions, by the prefixes.
bool always_accepts_iid(std::span<const Rational> target, std::span<const Rational> proposal, int drafts);

/// K i.i.d. drafts of the table's first proposal.
bool always_accepts_iid(const RatioTable& table, int drafts);

/// K drafts of the table's first proposal without replacement, which are worth at least as much as i.i.d. ones while
/// the support of q has K tokens. Nothing where i.i.d. drafts do not decide it and rounding might.
std::optional<bool> always_accepts_without_replacement(const RatioTable& table, int drafts);

}  // namespace draftproof
