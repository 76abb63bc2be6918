// Reports on programs outside this tree: the audit of a recording, and the exact output distribution of a program.
#pragma once

#include <cstdint>
#include <span>

#include <draftproof/adapters/declaration.hpp>
#include <draftproof/adapters/explorer/explore.hpp>
#include <draftproof/adapters/program.hpp>
#include <draftproof/captures/trace.hpp>
#include <draftproof/cli/report/document.hpp>
#include <draftproof/properties/gate/trace_audit.hpp>

namespace draftproof {

/// Reports an audit: the verdict with its e-value, the families of bets, positions in the blocks, and the smallest
/// deviations that the recording would have shown. `timings` adds times to the data. Schema draftproof.audit/2.
Document report_audit(const AuditResult& result, const Trace& trace, const AuditOptions& options, bool timings);

namespace adapters {

/// Reports `distributions`, one for each of the `inputs`, in order. Schema draftproof.distribution/1. Each probability
/// is a number and a text of probability_text(). For each input "limit" is ProgramDistribution::limit, and
/// "rounding_limit" is the further difference that the rounding of rows to the declared type explains.
Document report_distributions(std::span<const ProgramDistribution> distributions, std::span<const Input> inputs,
                              const Declaration& declaration, std::uint64_t seed);

}  // namespace adapters

}  // namespace draftproof
