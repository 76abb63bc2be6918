// The exact law of a floating-point program for paths and trees, as the precision audit measures it: the next token
// after every prefix that the program goes beyond.
//
//   e, beyond(w)   the emitted tokens, and Pr[e goes beyond prefix w]
//   r(x|w)         Pr[e begins with wx]
//   t(.|w)         exact_target of the row after w
//   TV             sum over w of the total variation of r(.|w) and beyond(w) t(.|w); mass without a token counts as one
//                  more token after the empty prefix
//
// Correctness: in exact numbers r(.|w) = beyond(w) t(.|w) for every w says that the program is lossless
// (properties/paths/checks/output_distribution.hpp), and the completed law is at most TV from the target.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include <draftproof/properties/precision/audit.hpp>
#include <draftproof/properties/subjects/any_path_verifier.hpp>

namespace draftproof {

/// A measured program. `complete` is false if the walk was cut short.
struct AuditedPaths {
  double distance = 0;
  std::uint64_t leaves = 0;
  bool complete = false;
};

/// The distance of `verifier` on trees of `drafter` from the target; nothing if the scheme does not run on that form or
/// carries state, which makes one step of it inexact. The rows after a prefix of n tokens are rows[n], or the last. At
/// most `leaves` branches are walked. Throws: std::logic_error if the program reaches a branch of probability zero.
std::optional<AuditedPaths> audit(const AnyPathVerifier& verifier, const AnyTreeDrafter& drafter, Form form,
                                  std::span<const RowPair> rows, const TreeShape& shape, std::uint64_t leaves);

/// The trees on which a verifier is audited unless others are named: of its drafters the first that draws them at
/// random, else the first; null if it has none.
const AnyTreeDrafter* audited_trees(const AnyPathVerifier& verifier);

}  // namespace draftproof
