#include <draftproof/properties/gate/trace_audit.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include <draftproof/captures/input_error.hpp>
#include <draftproof/properties/gate/trace_checks.hpp>
#include <draftproof/properties/gate/trace_families.hpp>
#include <draftproof/properties/gate/trace_groups.hpp>
#include <draftproof/statistics/gate_schedule.hpp>

namespace draftproof {
namespace {

/// Records between two looks at the e-value. Any number is valid.
constexpr std::uint64_t records_between_looks = 256;

/// Greedy drafts of one node are its likeliest tokens: of K siblings, each has at most K - 1 likelier ones.
void check_greedy(const Trace& trace, const TraceGroups& groups, std::size_t b, std::vector<AuditProof>& proofs) {
  const std::size_t first = trace.draft_start(b), end = trace.draft_start(b + 1);
  const std::size_t chunk = trace.draft_start(groups.first_block);
  for (std::size_t d = first; d < end; ++d) {
    std::size_t siblings = 0;
    for (std::size_t e = first; e < end; ++e)
      siblings += trace.draft_parent(e) == trace.draft_parent(d) && trace.draft_q(e) == trace.draft_q(d);
    const DraftItem& item = groups.drafts[d - chunk];
    if (trace.truncated() && item.drawn.symbol + 1 == trace.symbols()) continue;  // its own probability is unknown
    if (item.likelier >= siblings)
      proofs.push_back(
          {"greedy_drafts", b, trace.block_start(b), static_cast<int>(d - first),
           fmt::format("{} tokens are likelier than draft {}, one of {}", item.likelier, trace.draft(d), siblings)});
  }
}

/// Keeps the first proof of each kind, and counts all.
void keep_first(std::vector<AuditProof>& proofs, AuditResult& result) {
  for (AuditProof& proof : proofs) {
    const auto known = std::find_if(result.proof_counts.begin(), result.proof_counts.end(),
                                    [&](const auto& count) { return count.first == proof.check; });
    if (known != result.proof_counts.end()) {
      ++known->second;
      continue;
    }
    result.proof_counts.emplace_back(proof.check, 1);
    result.proofs.push_back(std::move(proof));
  }
  proofs.clear();
}

/// Acceptance beside sum min(p, q), where drafts are a chain.
void count_acceptance(const Trace& trace, const TraceGroups& groups, std::size_t b, AuditResult& result) {
  if (!is_chain(trace, b)) return;
  const std::size_t first = trace.block_start(b), chunk = trace.block_start(groups.first_block);
  for (std::size_t r = first; r < trace.block_start(b + 1); ++r) {
    const RowItem& item = groups.items[groups.item_of_record[r - chunk]];
    if (item.q_row < 0) continue;
    ++result.chain_records;
    result.chain_accepted += static_cast<std::int64_t>(r - first) < trace.accepted(b);
    result.chain_overlap += item.groups.overlap;
  }
}

Status status_of_audit(const AuditResult& result) {
  if (!result.proofs.empty() || result.alarm_record) return Status::violated;
  return result.stopped || result.log_e >= GateSchedule::log_watch ? Status::undecided : Status::held;
}

}  // namespace

AuditResult audit_trace(const Trace& trace, const AuditOptions& options) {
  if (trace.records() == 0)
    throw InputError({.file = trace.file(), .array = "emitted", .found = "no record", .wanted = "at least one"});
  if (options.rejection && trace.truncated())
    throw InputError({.file = trace.file(),
                      .found = "truncated rows",
                      .wanted = "whole rows: of a rest the sum of min(p, q) is not known, so verdicts have no law"});
  const auto start = std::chrono::steady_clock::now();
  AuditResult result;
  result.draft_law = options.draft_law.empty() ? trace.draft_law() : options.draft_law;
  result.log_threshold = ErrorBudget::numerics - std::log(options.false_alarm * options.share / 2);
  result.largest_log_e = 0;
  TraceFamilies families(trace, result.draft_law, options.rejection);
  std::vector<AuditProof> proofs;
  std::uint64_t next_look = records_between_looks;
  const auto look = [&] {
    result.log_e = families.log_e();
    result.largest_log_e = std::max(result.largest_log_e, result.log_e);
    if (result.log_e >= result.log_threshold && !result.alarm_record) result.alarm_record = result.records;
  };
  for (std::size_t block = 0; block < trace.blocks();) {
    if (options.stop && options.stop->load(std::memory_order_relaxed)) {
      result.stopped = true;
      break;
    }
    const TraceGroups groups =
        read_groups(trace, block, families.judges_drafts(), families.greedy(), options.threads);
    for (; block < groups.end_block; ++block) {
      check_block(trace, block, result.draft_law, proofs);
      if (families.greedy()) check_greedy(trace, groups, block, proofs);
      keep_first(proofs, result);
      families.add(groups, block);
      count_acceptance(trace, groups, block, result);
      ++result.blocks;
      result.records = trace.block_start(block + 1);
      result.drafts = trace.draft_start(block + 1);
      if (result.records < next_look) continue;
      look();
      next_look = result.records + records_between_looks;
    }
    result.row_bytes = trace.row_bytes() / std::max<std::size_t>(trace.blocks(), 1) * result.blocks;
    if (options.progress) options.progress(result.blocks);
  }
  look();
  result.families = families.families(result.log_threshold);
  result.places = families.places();
  if (!result.stopped) result.row_bytes = trace.row_bytes();
  result.status = status_of_audit(result);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace draftproof
