// The families of bets of an audit, and their order: block by block, tokens before drafts.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <draftproof/captures/trace.hpp>
#include <draftproof/properties/gate/trace_audit.hpp>
#include <draftproof/properties/gate/trace_groups.hpp>
#include <draftproof/statistics/audit_banks.hpp>

namespace draftproof {

class TraceFamilies {
 public:
  /// Which families there are, and their weights, follow from the form of the recording and the law of its drafts.
  TraceFamilies(const Trace& trace, std::string draft_law, bool rejection);

  /// Whether the law says how drafts are drawn, so that bets judge them.
  bool judges_drafts() const { return judges_drafts_; }
  bool greedy() const { return draft_law_ == "greedy"; }

  /// The next block; tokens and drafts of probability 0 are left out.
  void add(const TraceGroups& groups, std::size_t block);

  double log_e() const;
  /// What they say, with the smallest deviations at this threshold.
  std::vector<AuditFamily> families(double log_threshold) const;
  std::vector<AuditPlace> places() const;

 private:
  void add_token(const RowItem& item, std::size_t place);
  void add_verdict(const RowItem& item, bool accepted);
  void add_moved(const TraceGroups& groups, const RowItem& item, std::size_t block, std::int64_t place);
  void add_first(const TraceGroups& groups, std::size_t block);
  void add_draft(const TraceGroups& groups, std::size_t block, std::size_t draft);
  struct Family {
    std::string name;
    double weight;
    double log_e;
  };
  std::vector<Family> weighed() const;

  const Trace& trace_;
  std::string draft_law_;
  bool judges_drafts_, rejection_;
  GroupBets ratio_, depth_, top_, id_, verdict_, top_verdict_, draft_depth_, draft_ratio_, draft_id_;
  AcceptedBets accepted_;
  MovedMassBets moved_, moved_verdict_;
};

}  // namespace draftproof
