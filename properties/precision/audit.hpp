// The precision audit: the exact output distribution of a floating-point program and its distance from the
// distribution of its rows. A verifier runs in double on one form of the rows. The explorer gives every branch
// the probability that the program's rounded numbers imply, and every final draw the distribution of the sums
// that the program compares with.
//
//   p, q                                        rows, as stored; the audit never normalises them for the program
//   t        exact_target(p)                    p over its sum
//   r        AuditedDistribution::output        distribution of the emitted token
//   TV       AuditedDistribution::distance(t)   (sum |r - t| + 1 - sum r) / 2; mass without a token counts as one
//                                               more token
//
// Cost: leaves times V, the cost of the enumeration.
//
// Error: a bound of TV(r, t), with u = 2^-53. A program of K drafts makes K + 1 decisions. The quotient that a flip
// compares has three roundings. A subtraction p - b q is off by u times p. Division by the mass F of all differences
// multiplies this by 1 / F, but the decision is reached with probability F, so the factors cancel. The error of F
// remains:
//   tables   prefix masses are integers that sum to 2^62, rounded once when they are read. F errs by 3 u. A draw
//            bisects them: each token's interval ends at two rounded bounds, which adds at most V (1 + b) u to TV,
//            with b <= K. Draws from plans use sums of integers
//   fresh    terms are truncated to multiples of 2^-60 and summed as integers, F errs by V 2^-60 = V u / 128, and
//            the draw adds up the same integers and errs by another V u / 128
//   rows     running sums in double err by V u, and the draw errs by V u again
// Hence TV <= K (2 V + 8) u in the worst case: 5e-14 at V = 64, K = 3 and 1.2e-13 at V = 256, K = 2, below
// `small_limit`. At V = 262,144 this is 1.7e-10, but rounding errors are rarely extreme: two bounds that are
// off by up to u / 2 each change an interval by u / 3 on average, TV V u / 6 = 4.9e-12. `large_limit` is twice
// that. If q covers a V too large to enumerate, only the draw differs, and a test measures it. This average is
// not a theorem, and the audit does not need one: the reported distribution is exact up to (3 K + 5) u, from
// the product of K + 1 quotients and compensated sums.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <draftproof/captures/row.hpp>
#include <draftproof/properties/proof/finding.hpp>
#include <draftproof/properties/subjects/any_path_verifier.hpp>
#include <draftproof/properties/subjects/any_verifier.hpp>
#include <draftproof/sim/numeric/sums.hpp>

namespace draftproof {

/// The forms of the rows that a verifier reads in double.
enum class Form { rows, tables, fresh };
inline constexpr std::array<Form, 3> all_forms{Form::rows, Form::tables, Form::fresh};
/// Returns the form as printed in reports.
std::string_view to_text(Form form);

inline constexpr double small_limit = 1e-12;  ///< up to V = 1,024
inline constexpr double large_limit = 1e-11;

/// The bound for rows stored in float32 and not normalised again. Rounding changes an entry by at most a relative
/// 2^-24, so the sums of p and q differ from 1 by at most that; each of K + 1 decisions assumes that both are 1.
/// This is the bound for eight drafts, 1.07e-6.
inline constexpr double float32_limit = 9 * 2 * 0x1p-24;

/// The output distribution of a program. `complete` is false if the enumeration reached its limit.
struct AuditedDistribution {
  std::vector<double> output;
  std::uint64_t leaves = 0;
  bool complete = false;

  /// Returns the total variation to a distribution over the same tokens that sums to 1.
  double distance(std::span<const double> distribution) const;
};

/// Adds the probability of a leaf to its token, or to each of the tokens of its final draw.
void add_leaf(const Leaf<double>& leaf, std::span<NeumaierSum> tokens);

/// Returns `row` divided by its sum, with compensated sums.
std::vector<double> exact_target(std::span<const double> row);

/// Returns the total variation of two distributions that sum to 1.
double total_variation(std::span<const double> a, std::span<const double> b);

/// Returns the output distribution of `verifier` on drafts of `drafter`; nullopt if the scheme does not support
/// the form. Enumerates at most `leaves` branches. Throws: std::logic_error if the program reaches a branch of
/// probability zero.
std::optional<AuditedDistribution> audit(const AnyVerifier& verifier, const AnyDrafter& drafter, Form form,
                                         const RowPair& rows, int drafts, std::uint64_t leaves);

// Paths and trees. The distance of a program adds up, over prefixes, the error of the token emitted after the prefix.
//
//   e, beyond(w)   the emitted tokens, and Pr[e goes beyond prefix w]
//   r(x|w)         Pr[e begins with wx]
//   t(.|w)         exact_target of the row after w
//   TV             sum over w of the total variation of r(.|w) and beyond(w) t(.|w); mass without a token
//                  counts as one more token after the empty prefix
//
// Correctness: the program is lossless if r(.|w) = beyond(w) t(.|w) for every w, without rounding
// (properties/paths/checks/output_distribution.hpp), and the completed distribution is at most TV from the target.

/// The measured distance of a program on paths. `complete` is false if the enumeration reached its limit.
struct AuditedPaths {
  double distance = 0;
  std::uint64_t leaves = 0;
  bool complete = false;
};

/// Returns the distance of `verifier` on trees of `drafter` from the target; nullopt if the scheme does not
/// support the form, or carries state, so that a single step is not exact. The rows after a prefix of n tokens
/// are rows[n], or the last. Enumerates at most `leaves` branches. Throws: std::logic_error if the program
/// reaches a branch of probability zero.
std::optional<AuditedPaths> audit(const AnyPathVerifier& verifier, const AnyTreeDrafter& drafter, Form form,
                                  std::span<const RowPair> rows, const TreeShape& shape, std::uint64_t leaves);

/// Returns the first drafter of the verifier that draws its trees at random, else its first drafter; null if it
/// has none. The verifier is audited on it by default.
const AnyTreeDrafter* audited_trees(const AnyPathVerifier& verifier);

// Rows for the precision audit: Zipf rows in shuffled order with a support of q that can be enumerated, and
// special cases of floating point.
//
//   dense       p and q over V tokens
//   scattered   p and q over a few tokens far apart in arrays of V
//   whole       p over V tokens, q over a few of them, including the most probable one
//   edge        denormals, equal rows, rows an ulp apart, a residual below V ulp, sums an ulp off 1
//
// `proposals` is 1, or the number of drafts if every draft has a separate proposal.

/// Returns p and q over all tokens.
RowPair dense_rows(int vocabulary, int proposals, std::uint64_t seed);
/// Returns p and q over `support` tokens.
RowPair scattered_rows(int vocabulary, int support, int proposals, std::uint64_t seed);
/// Returns p over all tokens, q over `support` tokens.
RowPair whole_rows(int vocabulary, int support, int proposals, std::uint64_t seed);

struct EdgeRows {
  std::string_view name;
  RowPair rows;
};
/// Returns all special cases.
std::vector<EdgeRows> edge_rows(int proposals);

// The precision audit of a gate: each form of the rows that a verifier supports, at every size of the profile.
//
//   check                              rows                                          limit
//   double at V = 64                   dense                                         1e-12
//   tables at 4 of V = 262144          scattered                                     1e-11
//   fresh rows over all V = 262144     whole: the emitted token is a draw from V     1e-11
//   float32 rows over all V = 32000    whole, entries rounded, read as fresh rows    1e-6
//   double on edge rows                edge                                          1e-12
//
// Paths and trees have the same checks with two drafts per node and two levels, with different rows at each level
// (properties/precision/path_audit.cpp), and the same limits. An iteration ends with one draw, so the errors of
// that draw at all levels are weighted by probabilities that sum to 1. Every level adds at most K (2 V + 8) u
// for its decisions: 1.4e-13 for three levels at V = 16, K = 3.
//
// The limits of a scheme that is lossless up to tau are larger by tau.
//
// Cost: every check has a limit on leaves times V, not on time, so the set of completed checks is the same on every
// machine.

struct PrecisionOptions {
  bool thorough = false;  ///< whether to check all sizes, or one size of each kind
  std::uint64_t seed = 1;
  const std::atomic<bool>* stop = nullptr;
};

/// Whether the precision audit applies: the scheme promises its distribution in double and can be enumerated.
bool has_precision(const RegisteredVerifier& verifier);

struct PrecisionAudit {
  std::vector<Finding> findings{};
  double largest = 0;  ///< largest distance of any form from p, on rows in double
};

/// Runs the audit. Checks that are too large for the scheme's plan are omitted; an enumeration with too many
/// leaves is `skipped`. Schemes that carry state have no checks.
PrecisionAudit audit_precision(const AnyVerifier& verifier, const AnyDrafter& drafter,
                               const PrecisionOptions& options);
PrecisionAudit audit_precision(const AnyPathVerifier& verifier, const AnyTreeDrafter& drafter,
                               const PrecisionOptions& options);

}  // namespace draftproof
