#include <draftproof/properties/gate/trace_checks.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace draftproof {
namespace {

/// The emitted tokens that are said to be accepted drafts, against the tree of drafts.
void check_accepted(const Trace& trace, std::size_t b, std::vector<AuditProof>& proofs) {
  const std::size_t first = trace.block_start(b), emitted = trace.block_start(b + 1) - first;
  const std::size_t first_draft = trace.draft_start(b), drafts = trace.draft_start(b + 1) - first_draft;
  const std::int64_t accepted = trace.accepted(b);
  const auto wrong = [&](std::size_t place, std::string evidence) {
    proofs.push_back({"accepted_drafts", b, first + place, static_cast<int>(place), std::move(evidence)});
  };
  if (accepted < 0 || static_cast<std::uint64_t>(accepted) > std::min(emitted, drafts))
    return wrong(0, fmt::format("{} accepted of {} drafts and {} emitted tokens", accepted, drafts, emitted));
  std::vector<std::int32_t> reached{-1}, next;  // equal siblings are one prefix
  for (std::size_t i = 0; i < static_cast<std::size_t>(accepted); ++i) {
    next.clear();
    for (std::size_t d = 0; d < drafts; ++d)
      if (trace.draft(first_draft + d) == trace.emitted(first + i) &&
          std::find(reached.begin(), reached.end(), trace.draft_parent(first_draft + d)) != reached.end())
        next.push_back(static_cast<std::int32_t>(d));
    if (next.empty())
      return wrong(
          i, fmt::format("token {} counts as an accepted draft, and is no draft there", trace.emitted(first + i)));
    reached = next;
  }
}

}  // namespace

bool is_chain(const Trace& trace, std::size_t b) {
  const std::size_t first = trace.draft_start(b), end = trace.draft_start(b + 1);
  for (std::size_t d = first; d < end; ++d)
    if (trace.draft_parent(d) != static_cast<std::int64_t>(d - first) - 1) return false;
  return true;
}

void check_block(const Trace& trace, std::size_t b, const std::string& draft_law, std::vector<AuditProof>& proofs) {
  for (std::size_t r = trace.block_start(b); r < trace.block_start(b + 1); ++r) {
    const std::size_t symbol = trace.symbol(RowsOf::target, r, trace.emitted(r));
    if (trace.is_zero(RowsOf::target, r, symbol))
      proofs.push_back({"emitted_possible", b, r, static_cast<int>(r - trace.block_start(b)),
                        fmt::format("emitted token {} has p = 0", trace.emitted(r))});
  }
  const std::size_t first = trace.draft_start(b), end = trace.draft_start(b + 1);
  const auto at_draft = [&](const char* check, std::size_t d, std::string evidence) {
    proofs.push_back({check, b, trace.block_start(b), static_cast<int>(d - first), std::move(evidence)});
  };
  for (std::size_t d = first; d < end; ++d) {
    const std::size_t row = trace.draft_q(d);
    if (trace.is_zero(RowsOf::proposal, row, trace.symbol(RowsOf::proposal, row, trace.draft(d))))
      at_draft("drafted_possible", d, fmt::format("drafted token {} has q = 0", trace.draft(d)));
    if (draft_law != "without_replacement") continue;
    for (std::size_t e = first; e < d; ++e)
      if (trace.draft(e) == trace.draft(d) && trace.draft_parent(e) == trace.draft_parent(d) &&
          trace.draft_q(e) == row)
        at_draft("distinct_drafts", d, fmt::format("token {} is drafted twice", trace.draft(d)));
  }
  check_accepted(trace, b, proofs);
}

}  // namespace draftproof
