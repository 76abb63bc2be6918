// Proofs that one block of a recording holds, without a bet: tokens of probability 0, accepted tokens that are no drafts,
// drafts that their law excludes.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <draftproof/captures/trace.hpp>
#include <draftproof/properties/gate/trace_audit.hpp>

namespace draftproof {

/// Appends what block `b` shows. `draft_law` is "iid", "without_replacement", "greedy" or another word.
///   emitted_possible   every emitted token has p > 0
///   drafted_possible   every draft has q > 0 in its row
///   accepted_drafts    accepted <= drafts and emitted tokens; each accepted token is a draft that follows the ones
///                      before it
///   distinct_drafts    drafts of one node without replacement differ
/// Cost: the drafts of the block, times the accepted ones.
void check_block(const Trace& trace, std::size_t b, const std::string& draft_law, std::vector<AuditProof>& proofs);

/// Whether every draft of block b follows the one before it: no node has two.
bool is_chain(const Trace& trace, std::size_t b);

}  // namespace draftproof
