// The precision audit: the exact law of a floating-point program, and how far it is from the law its rows ask for. A
// verifier runs in double on one form of the laws; the explorer gives every branch the probability that the numbers
// the program computed have, and every final draw the law of the sums it compares with.
//
//   p, q     rows, as stored: the audit never normalises them for the program
//   t        exact_target(p)     p over its sum
//   r        AuditedLaw::output  what the program emits
//   TV       AuditedLaw::distance(t)   (sum |r - t| + 1 - sum r) / 2: mass that no token gets counts as one token
//   more
//
// Cost: that of the walk; leaves times V.
//
// What bounds TV(r, t), u = 2^-53. A program of K drafts takes K + 1 decisions. A quotient of a flip is off by three
// roundings. A subtraction p - b q is off by u of what it subtracts from; dividing by the mass F of all of them makes
// that 1 / F larger, and the decision is reached with probability F: the two cancel. What is left is the error of F:
//   tables   prefix masses are integers that sum to 2^62, rounded once when they are read. F errs by 3 u. A draw
//            bisects them: each token's stretch ends at two rounded bounds, TV V (1 + b) u at most, b <= K. Draws
//            from plans are sums of integers
//   fresh    terms are truncated to multiples of 2^-60 and summed as integers, F errs by V 2^-60 = V u / 128, and
//            the draw adds up the same integers: another V u / 128
//   rows     running sums in double: V u, and in the draw V u again
// so TV <= K (2 V + 8) u in the worst case: 5e-14 at V = 64, K = 3 and 1.2e-13 at V = 256, K = 2, below
// `small_limit`. At V = 262,144 that is 1.7e-10, but bounds are not all rounded as far as can be: two that are off by
// up to half a step u each make a stretch wrong by u / 3 on average, TV V u / 6 = 4.9e-12. `large_limit` is twice
// that. Where q can not be walked because it covers V, the draw is all that differs, and a test measures it. No
// theorem, and the audit needs none: the law it reports is exact but for (3 K + 5) u, the product of K + 1 quotients
// and compensated sums.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <draftproof/captures/row.hpp>
#include <draftproof/properties/subjects/any_verifier.hpp>

namespace draftproof {

/// The forms of the laws a verifier runs on in double.
enum class Form { rows, tables, fresh };
inline constexpr std::array<Form, 3> all_forms{Form::rows, Form::tables, Form::fresh};
std::string_view to_text(Form form);

inline constexpr double small_limit = 1e-12;  ///< up to V = 1,024
inline constexpr double large_limit = 1e-11;

/// For rows stored in float32 and not normalised again. Rounding moves an entry by at most 2^-24 of itself, so the
/// sums of p and q are off 1 by as much; each of K + 1 decisions takes both for 1. Eight drafts: 9 * 2 * 2^-24
/// = 1.07e-6.
inline constexpr double float32_limit = 1e-6;

struct AuditedLaw {
  std::vector<double> output;
  std::uint64_t leaves = 0;
  bool complete = false;

  /// To a law over the same tokens that sums to 1.
  double distance(std::span<const double> law) const;
};

/// `row` over its sum, both compensated.
std::vector<double> exact_target(std::span<const double> row);

/// Total variation of two laws that sum to 1.
double total_variation(std::span<const double> a, std::span<const double> b);

/// The law of `verifier` on drafts of `drafter`, or nothing where the scheme does not run on that form. A program
/// that reaches a branch of probability zero throws std::logic_error. At most `leaves` of them are walked.
std::optional<AuditedLaw> audit(const AnyVerifier& verifier, const AnyDrafter& drafter, Form form,
                                const RowPair& rows, int drafts, std::uint64_t leaves);

}  // namespace draftproof
