// The largest acceptance of any lossless verifier of K i.i.d. drafts, at any V: the cut formula
//
//   alpha* = 1 + min over token sets S of p(S) - q(S)^K
//
// whose minimiser is a set of the lowest ratios p / q, so a scan of the ratio table finds it.
//
// Cost: O(V) on a table. Source: the transport problem of Sun et al. 2023, arXiv:2310.15141; cut and prefix rule
// derived in docs/optimum.md and checked against every set at small V. Error below (K + 2) 2^-53: every term is a
// difference of two numbers at most 1 made by at most K + 1 roundings.
#pragma once

#include <draftproof/sim/distributions/ratio_table.hpp>
#include <draftproof/sim/numeric/cut_bound.hpp>

namespace draftproof {

/// K = `drafts` >= 1 independent draws of the table's first proposal.
Optimum iid_optimum(const RatioTable& table, int drafts);

}  // namespace draftproof
