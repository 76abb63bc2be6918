#include <draftproof/properties/gate/trace_audit.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include <draftproof/captures/input_error.hpp>
#include <draftproof/properties/gate/trace_groups.hpp>
#include <draftproof/properties/gate/trace_statistics.hpp>
#include <draftproof/properties/statistics/gate_suite.hpp>

namespace draftproof {
namespace {

/// Number of records between two evaluations of the e-value. The audit is valid with any number.
constexpr std::uint64_t records_between_looks = 256;

/// Checks that the emitted tokens recorded as accepted follow a path of the draft tree.
void check_accepted(const Trace& trace, std::size_t b, std::vector<AuditProof>& proofs) {
  const std::size_t first = trace.block_start(b), emitted = trace.block_start(b + 1) - first;
  const std::size_t first_draft = trace.draft_start(b), drafts = trace.draft_start(b + 1) - first_draft;
  const std::int64_t accepted = trace.accepted(b);
  const auto wrong = [&](std::size_t place, std::string evidence) {
    proofs.push_back({"accepted_drafts", b, first + place, static_cast<int>(place), std::move(evidence)});
  };
  if (accepted < 0 || static_cast<std::uint64_t>(accepted) > std::min(emitted, drafts))
    return wrong(0, fmt::format("{} accepted of {} drafts and {} emitted tokens", accepted, drafts, emitted));
  std::vector<std::int32_t> reached{-1}, next;  // all nodes at the emitted prefix; several if siblings are equal
  for (std::size_t i = 0; i < static_cast<std::size_t>(accepted); ++i) {
    next.clear();
    for (std::size_t d = 0; d < drafts; ++d)
      if (trace.draft(first_draft + d) == trace.emitted(first + i) &&
          std::find(reached.begin(), reached.end(), trace.draft_parent(first_draft + d)) != reached.end())
        next.push_back(static_cast<std::int32_t>(d));
    if (next.empty())
      return wrong(i, fmt::format("token {} is recorded as an accepted draft but was not drafted there",
                                  trace.emitted(first + i)));
    reached = next;
  }
}

/// Appends the violations of the following rules, each of which a single block proves. `draft_sampling` is "iid",
/// "without_replacement", "greedy" or another text.
///
///   emitted_possible   every emitted token has p > 0
///   drafted_possible   every draft has q > 0 in its row
///   accepted_drafts    accepted <= drafts and emitted tokens; each accepted token is a draft after the previous one
///   distinct_drafts    drafts of one node without replacement differ
///
/// Cost: number of drafts of the block times number of accepted drafts.
void check_block(const Trace& trace, std::size_t b, const std::string& draft_sampling,
                 std::vector<AuditProof>& proofs) {
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
    if (draft_sampling != "without_replacement") continue;
    for (std::size_t e = first; e < d; ++e)
      if (trace.draft(e) == trace.draft(d) && trace.draft_parent(e) == trace.draft_parent(d) &&
          trace.draft_q(e) == row)
        at_draft("distinct_drafts", d, fmt::format("token {} is drafted twice", trace.draft(d)));
  }
  check_accepted(trace, b, proofs);
}

/// Checks that the K greedy drafts of a node are its K likeliest tokens: for each, at most K - 1 tokens are likelier.
void check_greedy(const Trace& trace, const TraceGroups& groups, std::size_t b, std::vector<AuditProof>& proofs) {
  const std::size_t first = trace.draft_start(b), end = trace.draft_start(b + 1);
  const std::size_t chunk = trace.draft_start(groups.first_block);
  for (std::size_t d = first; d < end; ++d) {
    std::size_t siblings = 0;
    for (std::size_t e = first; e < end; ++e)
      siblings += trace.draft_parent(e) == trace.draft_parent(d) && trace.draft_q(e) == trace.draft_q(d);
    const DraftItem& item = groups.drafts[d - chunk];
    // Skips a token of the truncated rest, whose probability is unknown.
    if (trace.truncated() && item.drawn.symbol + 1 == trace.symbols()) continue;
    if (item.likelier >= siblings)
      proofs.push_back({"greedy_drafts", b, trace.block_start(b), static_cast<int>(d - first),
                        fmt::format("{} tokens are likelier than draft {}, although its row has only {} drafts",
                                    item.likelier, trace.draft(d), siblings)});
  }
}

/// Checks that every emitted token has the largest probability of its row; ties are allowed.
void check_greedy_tokens(const Trace& trace, const TraceGroups& groups, std::size_t b,
                         std::vector<AuditProof>& proofs) {
  const std::size_t first = trace.block_start(b), chunk = trace.block_start(groups.first_block);
  for (std::size_t r = first; r < trace.block_start(b + 1); ++r) {
    const RowItem& item = groups.items[groups.item_of_record[r - chunk]];
    if (item.emitted.p < item.groups.largest_p)
      proofs.push_back({"greedy_tokens", b, r, static_cast<int>(r - first),
                        fmt::format("emitted token {} has p = {:.3g}, and another has {:.3g}", trace.emitted(r),
                                    item.emitted.p, item.groups.largest_p)});
  }
}

/// Appends the first proof of each check to the result, and counts all proofs by check.
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

/// Adds the accepted drafts and sum min(p, q) of the block to the result, if the drafts are a chain.
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

/// Returns the smallest deviation that any family of bets on emitted tokens would have detected.
std::optional<std::pair<std::string, SmallestFound>> smallest_shown(const std::vector<AuditFamily>& families) {
  std::optional<std::pair<std::string, SmallestFound>> smallest;
  for (const AuditFamily& family : families)
    for (const SmallestFound& found : family.smallest)
      if (family.of_tokens && (!smallest || found.total_variation < smallest->second.total_variation))
        smallest.emplace(family.name, found);
  return smallest;
}

Status status_of_audit(const AuditResult& result, const AuditOptions& options) {
  if (!result.proofs.empty() || result.alarm_record) return Status::failed;
  if (result.stopped || result.log_e >= GateSchedule::log_watch) return Status::undecided;
  return result.shows || options.rule == AuditRule::greedy ? Status::passed : Status::undecided;
}

}  // namespace

AuditResult audit_trace(const Trace& trace, const AuditOptions& options) {
  if (trace.records() == 0)
    throw InputError({.file = trace.file(), .array = "emitted", .got = "no record", .expected = "at least one"});
  if (options.rule == AuditRule::rejection && trace.truncated())
    throw InputError(
        {.file = trace.file(),
         .got = "truncated rows",
         .expected = "whole rows: sum of min(p, q) is unknown for the rest, so verdicts have no known distribution"});
  if (options.rule == AuditRule::greedy && trace.truncated())
    throw InputError({.file = trace.file(),
                      .got = "truncated rows",
                      .expected = "whole rows: the likeliest token may be in the rest"});
  const auto start = std::chrono::steady_clock::now();
  AuditResult result;
  result.draft_sampling = options.draft_sampling.empty() ? trace.draft_sampling() : options.draft_sampling;
  result.log_threshold = ErrorBudget::log_threshold_at(options.false_alarm * options.share / 2);
  result.largest_log_e = 0;
  TraceStatistics statistics(trace, result.draft_sampling, options.rule);
  std::vector<AuditProof> proofs;
  std::uint64_t next_look = records_between_looks;
  const auto look = [&] {
    result.log_e = statistics.log_e();
    result.largest_log_e = std::max(result.largest_log_e, result.log_e);
    if (result.log_e >= result.log_threshold && !result.alarm_record) result.alarm_record = result.records;
  };
  for (std::size_t block = 0; block < trace.blocks();) {
    if (options.stop && options.stop->load(std::memory_order_relaxed)) {
      result.stopped = true;
      break;
    }
    const TraceGroups groups =
        read_groups(trace, block, statistics.judges_drafts(), statistics.greedy(), options.threads);
    for (; block < groups.end_block; ++block) {
      check_block(trace, block, result.draft_sampling, proofs);
      if (statistics.greedy()) check_greedy(trace, groups, block, proofs);
      if (options.rule == AuditRule::greedy) check_greedy_tokens(trace, groups, block, proofs);
      keep_first(proofs, result);
      statistics.add(groups, block);
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
  result.families = statistics.families(result.log_threshold);
  result.shows = smallest_shown(result.families);
  result.places = statistics.places();
  if (!result.stopped) result.row_bytes = trace.row_bytes();
  result.status = status_of_audit(result, options);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace draftproof
