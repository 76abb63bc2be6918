// Decides in integers whether some lossless verifier always accepts: the optimum is exactly 1.
//
//   condition   p(S) >= Pr(all drafts in S) for every set S of tokens
//   i.i.d.      p(S) >= q(S)^K for the prefixes S of rising p / q, one of which is the least cut
//
// The masses are those of the quantised rows, integers that sum to 2^62; the table represents this law.
//
// Cost: O(V) on a table. Sets within rounding of equality cost a power of K words.
//
// Source: the cut formula, docs/optimum.md.
#pragma once

#include <map>
#include <optional>

#include <draftproof/exact/rational.hpp>
#include <draftproof/optimum/set_law.hpp>
#include <draftproof/sim/distributions/ratio_table.hpp>

namespace draftproof {

/// For any draft law, by all 2^V sets. Requires V <= 20.
bool always_accepts(std::span<const Rational> target, const std::map<TokenSet, Rational>& drafts);

/// For K = `drafts` i.i.d. drafts in fractions, by the prefixes.
bool always_accepts_iid(std::span<const Rational> target, std::span<const Rational> proposal, int drafts);

/// For K i.i.d. drafts of the table's first proposal.
bool always_accepts_iid(const RatioTable& table, int drafts);

/// For K drafts of the table's first proposal without replacement. They are worth at least as much as i.i.d. drafts
/// while the support of q has K tokens. Returns nothing if i.i.d. drafts do not decide it and rounding might.
std::optional<bool> always_accepts_without_replacement(const RatioTable& table, int drafts);

}  // namespace draftproof
