// The optimum as a linear program, solved by Clp's primal simplex. It shares no code and no method with cuts, flows,
// scans and clocks, and serves as an independent check of them.
//
//   maximise   sum f(A, x)
//   subject to sum over x of f(A, x) <= Q(A), sum over A of f(A, x) <= p(x), f >= 0, x in A
//
// Cost: seconds at a few thousand sets; intended for tens of sets.
//
// Source: Sun et al. 2023, arXiv:2310.15141.
#pragma once

#include <map>

#include <draftproof/optimum/set_law.hpp>

namespace draftproof {

/// The optimum within 1e-9: Clp's primal tolerance, by default 1e-7 a constraint, is set to 1e-11.
/// Throws: std::runtime_error if Clp does not report an optimum.
double linear_program_optimum(std::span<const double> target, const std::map<TokenSet, double>& drafts);

}  // namespace draftproof
