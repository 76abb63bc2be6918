// The upper bound of an optimum at any V, in a form that a stranger can check: the tokens of a cut and a number.
// Masses of token sets are integers (sim/sampling/quantised_row.hpp), so the cut's value is a fraction computed without
// rounding.
//
//   S       tokens      the cut, each token once
//   bound   bound       p(S) + 1 - q_1(S) .. q_K(S) <= bound, for the laws as quantised
//
// Cost: O(V). Source: the cut formula, docs/optimum.md. It shows that no lossless verifier accepts more; that some
// verifier reaches it is shown by a scheme's measured acceptance, or by a full certificate at small V.
#pragma once

#include <string>

#include <draftproof/exact/rational.hpp>
#include <draftproof/sim/distributions/ratio_table.hpp>

namespace draftproof {

struct CutCertificate {
  std::vector<Token> tokens;
  double bound;
};

/// p(S) + 1 - Pr(all drafts in S), exactly, for K independent drafts: all of the one proposal, or draft k of proposal
/// k.
Rational exact_cut_value(std::span<const double> target, std::span<const std::vector<double>> proposals, int drafts,
                         std::span<const Token> tokens);

/// The certificate of the ratio scan: K draws of the first proposal. `table` was made from these rows.
CutCertificate iid_cut_certificate(const RatioTable& table, std::span<const double> target,
                                   std::span<const std::vector<double>> proposals, int drafts);

/// Why the certificate does not prove its bound; empty if it does.
std::string reject(std::span<const double> target, std::span<const std::vector<double>> proposals, int drafts,
                   const CutCertificate& certificate);

}  // namespace draftproof
