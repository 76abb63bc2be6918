#include <draftproof/properties/gate/trace_families.hpp>

#include <algorithm>
#include <array>

#include <draftproof/properties/gate/trace_checks.hpp>
#include <draftproof/statistics/log_mean_exp.hpp>

namespace draftproof {
namespace {

constexpr std::array<const char*, 7> place_names{
    "token 1", "token 2", "token 3", "token 4", "tokens 5 to 8", "token 9 and later", "token after all drafts"};
constexpr int place_count = static_cast<int>(place_names.size());

/// The class of a place in a block, from 0; tokens without a proposal row have their own.
int place_class(std::size_t place, bool proposed) {
  constexpr std::size_t alone = 4, together = 8;
  if (!proposed) return place_count - 1;
  return place < alone ? static_cast<int>(place) : place < together ? 4 : 5;
}

template <int groups>
void bet(GroupBets& bank, const GroupMasses<groups>& masses, int group, std::uint64_t record, int part = 0) {
  bank.add(masses.mass, masses.slack, group, record, part);
}

}  // namespace

TraceFamilies::TraceFamilies(const Trace& trace, std::string draft_law, bool rejection)
    : trace_{trace},
      draft_law_{std::move(draft_law)},
      judges_drafts_{draft_law_ == "iid" || draft_law_ == "without_replacement" || draft_law_ == "greedy"},
      rejection_{rejection},
      ratio_{ratio_design("tokens along p/q"), place_count},
      depth_{depth_design("tokens along p", "p"), place_count},
      top_{top_design("most likely token"), 1},
      id_{id_design("token numbers", trace.symbols()), 1},
      verdict_{verdict_design("verdicts along p/q"), 1},
      top_verdict_{top_verdict_design("verdicts on the most likely token"), 1},
      draft_depth_{depth_design("drafts along q", "q"), 1},
      draft_ratio_{ratio_design("first drafts along p/q"), 1},
      draft_id_{id_design("draft numbers", trace.symbols()), 1},
      moved_{moved_tokens("mass of the most likely token")},
      moved_verdict_{moved_verdicts("verdicts, mass of the most likely token")} {}

void TraceFamilies::add(const TraceGroups& groups, std::size_t block) {
  const std::size_t first = trace_.block_start(groups.first_block);
  for (std::size_t r = trace_.block_start(block); r < trace_.block_start(block + 1); ++r)
    add_token(groups.items[groups.item_of_record[r - first]], r - trace_.block_start(block));
  if (rejection_ && is_chain(trace_, block))
    for (std::size_t r = trace_.block_start(block); r < trace_.block_start(block + 1); ++r) {
      const auto place = static_cast<std::int64_t>(r - trace_.block_start(block));
      const RowItem& item = groups.items[groups.item_of_record[r - first]];
      add_verdict(item, place < trace_.accepted(block));
      add_moved(groups, item, block, place);
    }
  if (!judges_drafts_ || greedy()) return;
  add_first(groups, block);
  for (std::size_t d = trace_.draft_start(block); d < trace_.draft_start(block + 1); ++d) add_draft(groups, block, d);
}

void TraceFamilies::add_token(const RowItem& item, std::size_t place) {
  const DrawnSymbol& drawn = item.emitted;
  const auto record = static_cast<std::uint64_t>(item.record);
  if (trace_.is_zero(RowsOf::target, record, drawn.symbol)) return;  // a proof, and outside every bet
  const int part = place_class(place, item.q_row >= 0);
  bet(depth_, item.groups.depth_p, depth_group(drawn.p), record, part);
  bet(top_, item.groups.top, drawn.p == item.groups.largest_p ? 0 : 1, record);
  add_moved_token(moved_, item.groups, drawn.p == item.groups.largest_p, record);
  if (!trace_.truncated()) bet(id_, item.groups.id_p, id_group(drawn.symbol, trace_.symbols()), record);
  if (item.q_row >= 0) bet(ratio_, item.groups.ratio_p, ratio_group(drawn.p, drawn.q), record, part);
}

void TraceFamilies::add_verdict(const RowItem& item, bool accepted) {
  const DrawnSymbol& drawn = item.emitted;
  const auto record = static_cast<std::uint64_t>(item.record);
  if (item.q_row < 0 || trace_.is_zero(RowsOf::target, record, drawn.symbol)) return;
  bet(verdict_, verdict_masses(item.groups), ratio_group(drawn.p, drawn.q) + (accepted ? ratio_groups : 0), record);
  bet(top_verdict_, top_verdict_masses(item.groups), (drawn.p == item.groups.largest_p ? 0 : 1) + (accepted ? 2 : 0),
      record);
}

void TraceFamilies::add_moved(const TraceGroups& groups, const RowItem& item, std::size_t block, std::int64_t place) {
  const auto record = static_cast<std::uint64_t>(item.record);
  if (trace_.is_zero(RowsOf::target, record, item.emitted.symbol)) return;
  const bool top = item.emitted.p == item.groups.largest_p, drawn = judges_drafts_ && !greedy();
  MovedVerdict verdict = top ? MovedVerdict::alone_top : MovedVerdict::alone;
  if (item.q_row >= 0 && place < trace_.accepted(block)) {
    verdict = top ? MovedVerdict::accepted_top : MovedVerdict::accepted;
  } else if (item.q_row >= 0) {
    verdict = top ? MovedVerdict::rejected_for_top : MovedVerdict::rejected;
    const std::size_t draft = trace_.draft_start(block) + static_cast<std::size_t>(place);
    if (draft >= trace_.draft_start(block + 1) || trace_.draft_q(draft) != static_cast<std::size_t>(item.q_row))
      return;
    const DraftItem& refused = groups.drafts[draft - trace_.draft_start(groups.first_block)];
    if (!top && refused.drawn.p == item.groups.largest_p) verdict = MovedVerdict::rejected_top;
  }
  add_moved_verdict(moved_verdict_, item.groups, verdict, drawn, record);
}

void TraceFamilies::add_first(const TraceGroups& groups, std::size_t block) {
  const std::size_t r = trace_.block_start(block);
  if (r == trace_.block_start(block + 1) || trace_.emitted_q(r) < 0) return;
  int roots = 0;
  for (std::size_t d = trace_.draft_start(block); d < trace_.draft_start(block + 1); ++d) {
    if (trace_.draft_parent(d) >= 0) continue;
    if (trace_.draft_q(d) != static_cast<std::size_t>(trace_.emitted_q(r))) return;
    ++roots;
  }
  // Of several drafts without replacement a token is one of them with more than K q.
  if (roots == 0 || (roots > 1 && draft_law_ != "iid")) return;
  const RowItem& item = groups.items[groups.item_of_record[r - trace_.block_start(groups.first_block)]];
  const int group = trace_.accepted(block) > 0 ? ratio_group(item.emitted.p, item.emitted.q) : -1;
  accepted_.add(item.groups, roots, group, r);
}

void TraceFamilies::add_draft(const TraceGroups& groups, std::size_t block, std::size_t draft) {
  const std::size_t first = trace_.draft_start(groups.first_block), row = trace_.draft_q(draft);
  const DraftItem& drawn = groups.drafts[draft - first];
  const RowItem& item = groups.items[drawn.item];
  const bool at_root = trace_.draft_parent(draft) < 0 && item.record >= 0 &&
                       static_cast<std::size_t>(item.record) == trace_.block_start(block);
  if (trace_.is_zero(RowsOf::proposal, row, drawn.drawn.symbol)) return;
  GroupMasses<depth_groups> depth = item.groups.depth_q;
  GroupMasses<ratio_groups> ratio = item.groups.ratio_q;
  GroupMasses<id_groups> id = item.groups.id_q;
  if (draft_law_ == "without_replacement") {
    // The law of what earlier siblings left. Removing mass r scales what is left, and its slack, by 1 / (1 - r).
    double left = 1;
    for (std::size_t e = trace_.draft_start(block); e < draft; ++e) {
      if (trace_.draft_parent(e) != trace_.draft_parent(draft) || trace_.draft_q(e) != row) continue;
      const DrawnSymbol& sibling = groups.drafts[e - first].drawn;
      if (trace_.truncated() && sibling.symbol + 1 == trace_.symbols())
        return;  // a token of the rest: which is unknown
      const double q = sibling.q;
      left -= q;
      depth.mass[static_cast<std::size_t>(depth_group(sibling.q))] -= q;
      ratio.mass[static_cast<std::size_t>(ratio_group(sibling.p, sibling.q))] -= q;
      id.mass[static_cast<std::size_t>(id_group(sibling.symbol, trace_.symbols()))] -= q;
    }
    // Sums of single-precision numbers are good to 2^-22 of 1: beyond that nothing is known of what is left.
    constexpr double least_left = 0x1p-10;
    if (left < least_left) return;
    const auto scale = [left](auto& masses) {
      for (double& mass : masses.mass) mass = std::max(mass, 0.0) / left;
      for (double& slack : masses.slack)
        slack = slack / left + 0x1p-20 / left / static_cast<double>(masses.slack.size());
    };
    scale(depth), scale(ratio), scale(id);
  }
  const std::uint64_t record = trace_.block_start(block);
  bet(draft_depth_, depth, depth_group(drawn.drawn.q), record);
  if (!trace_.truncated()) bet(draft_id_, id, id_group(drawn.drawn.symbol, trace_.symbols()), record);
  if (at_root) bet(draft_ratio_, ratio, ratio_group(drawn.drawn.p, drawn.drawn.q), record);
}

std::vector<TraceFamilies::Family> TraceFamilies::weighed() const {
  const bool draws = judges_drafts_ && !greedy(), whole = !trace_.truncated();
  const std::array<double, 2> places{ratio_.log_e_of_parts(), depth_.log_e_of_parts()};
  std::vector<Family> all{{ratio_.name(), 0.25, ratio_.log_e()},
                          {depth_.name(), 0.25, depth_.log_e()},
                          {top_.name(), 0.05, top_.log_e()},
                          {moved_.name(), 0.1, moved_.log_e()},
                          {"places in the block", 0.1, log_mean_exp(places)}};
  if (whole) all.push_back({id_.name(), 0.05, id_.log_e()});
  if (rejection_) {
    all.push_back({verdict_.name(), 0.25, verdict_.log_e()});
    all.push_back({top_verdict_.name(), 0.05, top_verdict_.log_e()});
    all.push_back({moved_verdict_.name(), 0.15, moved_verdict_.log_e()});
  }
  if (draws) {
    all.push_back({"accepted drafts", 0.1, accepted_.log_e()});
    all.push_back({draft_depth_.name(), 0.1, draft_depth_.log_e()});
    all.push_back({draft_ratio_.name(), 0.05, draft_ratio_.log_e()});
    if (whole) all.push_back({draft_id_.name(), 0.05, draft_id_.log_e()});
  }
  double total = 0;
  for (const Family& family : all) total += family.weight;
  for (Family& family : all) family.weight /= total;
  return all;
}

double TraceFamilies::log_e() const {
  std::vector<double> logs, weights;
  for (const Family& family : weighed()) {
    logs.push_back(family.log_e);
    weights.push_back(family.weight);
  }
  return log_weighted_mean_exp(logs, weights);
}

std::vector<AuditFamily> TraceFamilies::families(double log_threshold) const {
  std::vector<AuditFamily> result;
  for (const Family& family : weighed()) {
    AuditFamily out{.name = family.name, .weight = family.weight, .log_e = family.log_e};
    for (const GroupBets* bank :
         {&ratio_, &depth_, &top_, &id_, &verdict_, &top_verdict_, &draft_depth_, &draft_ratio_, &draft_id_}) {
      if (bank->name() != family.name) continue;
      out.draws = bank->draws();
      out.worst = bank->worst();
      if (out.draws > 0) out.smallest = bank->smallest(log_threshold, family.weight);
    }
    for (const MovedMassBets* bank : {&moved_, &moved_verdict_}) {
      if (bank->name() != family.name) continue;
      out.draws = bank->draws();
      out.worst = bank->worst();
      if (out.draws > 0) out.smallest = bank->smallest(log_threshold, family.weight);
    }
    if (family.name == "accepted drafts") {
      out.draws = accepted_.draws();
      out.worst = accepted_.worst();
    } else if (out.draws == 0) {
      out.draws = family.name == "places in the block" ? depth_.draws() : 0;
    }
    result.push_back(std::move(out));
  }
  return result;
}

std::vector<AuditPlace> TraceFamilies::places() const {
  std::vector<AuditPlace> result;
  for (int part = 0; part < place_count; ++part) {
    if (depth_.draws_of(part) == 0) continue;
    const GroupExcess along_p = depth_.worst(part), along_ratio = ratio_.worst(part);
    result.push_back({place_names[static_cast<std::size_t>(part)], depth_.draws_of(part),
                      along_ratio.deviations > along_p.deviations ? along_ratio : along_p});
  }
  return result;
}

}  // namespace draftproof
