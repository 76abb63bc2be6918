// The upper bound of an optimum at any V as an independently checkable certificate: the tokens of a cut and a number.
// Masses of token sets are integers (sim/sampling/quantised_row.hpp), so the cut's value is a fraction computed
// without rounding.
//
//   S       tokens      the cut, each token once
//   bound   bound       p(S) + 1 - q_1(S) .. q_K(S) <= bound, for the laws as quantised
//
// Cost: O(V).
//
// Correctness: no lossless verifier accepts more than the bound. It does not show that a verifier reaches the bound;
// a scheme's measured acceptance does, or a full certificate at small V.
//
// Source: the cut formula, docs/optimum.md.
#pragma once

#include <string>

#include <draftproof/exact/rational.hpp>
#include <draftproof/sim/distributions/ratio_table.hpp>

namespace draftproof {

struct CutCertificate {
  std::vector<Token> tokens;
  double bound;
};

/// p(S) + 1 - Pr(all drafts in S), exactly, for K independent drafts. With one proposal all drafts follow it; with
/// several, draft k follows proposal k.
Rational exact_cut_value(std::span<const double> target, std::span<const std::vector<double>> proposals, int drafts,
                         std::span<const Token> tokens);

/// The certificate of the ratio scan for K draws of the first proposal. `table` must be made from these rows.
CutCertificate iid_cut_certificate(const RatioTable& table, std::span<const double> target,
                                   std::span<const std::vector<double>> proposals, int drafts);

/// Why the certificate does not prove its bound; empty if it does.
std::string reject(std::span<const double> target, std::span<const std::vector<double>> proposals, int drafts,
                   const CutCertificate& certificate);

}  // namespace draftproof
