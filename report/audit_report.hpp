// The report of an audit of a recording: the verdict with its e-value, the families of bets, places in the blocks, and
// the smallest deviations that the recording would have shown.
#pragma once

#include <draftproof/captures/trace.hpp>
#include <draftproof/properties/gate/trace_audit.hpp>
#include <draftproof/report/document.hpp>

namespace draftproof {

/// The result of an audit. `timings` adds times to the data. Schema draftproof.audit/1.
Document report_audit(const AuditResult& result, const Trace& trace, const AuditOptions& options, bool timings);

}  // namespace draftproof
