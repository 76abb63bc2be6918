// The families of bets of an audit, with the event that each family bets on and the family's weight. Bets are added
// block by block, the bets on tokens before the bets on drafts.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <draftproof/captures/trace.hpp>
#include <draftproof/properties/gate/trace_audit.hpp>
#include <draftproof/properties/gate/trace_groups.hpp>
#include <draftproof/properties/statistics/audit_banks.hpp>
#include <draftproof/properties/statistics/error_budget.hpp>
#include <draftproof/properties/statistics/log_mean_exp.hpp>

namespace draftproof {

class TraceStatistics {
 public:
  /// Chooses the statistics by the form of the recording and by its draft sampling.
  TraceStatistics(const Trace& trace, std::string draft_sampling, AuditRule rule)
      : trace_{trace},
        draft_sampling_{std::move(draft_sampling)},
        judges_drafts_{draft_sampling_ == "iid" || draft_sampling_ == "without_replacement" ||
                       draft_sampling_ == "greedy"},
        rejection_{rule == AuditRule::rejection},
        greedy_tokens_{rule == AuditRule::greedy} {
    fill_table();
  }

  /// Whether the draft sampling is known, so that bets can test the drafts.
  bool judges_drafts() const { return judges_drafts_; }
  bool greedy() const { return draft_sampling_ == "greedy"; }

  /// Adds the next block; tokens and drafts of probability 0 are skipped.
  void add(const TraceGroups& groups, std::size_t block) {
    const std::size_t chunk = trace_.block_start(groups.first_block), first = trace_.block_start(block);
    const bool chain = rejection_ && is_chain(trace_, block);
    for (std::size_t r = first; r < trace_.block_start(block + 1); ++r) {
      const RowItem& item = groups.items[groups.item_of_record[r - chunk]];
      // A token with p = 0 proves a defect by itself (check_block) and enters no bet.
      if (!trace_.is_zero(RowsOf::target, r, item.emitted.symbol)) add_token(groups, item, block, r - first, chain);
    }
    if (!drafts_drawn()) return;
    add_first(groups, block);
    for (std::size_t d = trace_.draft_start(block); d < trace_.draft_start(block + 1); ++d)
      add_draft(groups, block, d);
  }

  double log_e() const {
    if (statistics_.empty()) return 0;  // without bets e is the empty product, 1
    std::vector<double> logs, weights;
    for (const Statistic& statistic : statistics_) {
      logs.push_back(log_e(statistic));
      weights.push_back(statistic.weight);
    }
    return log_weighted_mean_exp(logs, weights);
  }

  /// Returns the families, each with its e-value and the smallest deviations that it would detect at this threshold.
  std::vector<AuditFamily> families(double log_threshold) const {
    std::vector<AuditFamily> result;
    for (const Statistic& statistic : statistics_) {
      AuditFamily out{.name = statistic.name,
                      .of_tokens = statistic.of == Of::token,
                      .weight = statistic.weight,
                      .log_e = log_e(statistic)};
      const auto fill = [&](const auto& bets) {
        if constexpr (requires { bets.worst(); }) out.draws = bets.draws(), out.worst = bets.worst();
        if constexpr (requires { bets.smallest(log_threshold, out.weight); })
          if (out.draws > 0) out.smallest = bets.smallest(log_threshold, out.weight);
      };
      std::visit(fill, statistic.bets);
      if (std::holds_alternative<MeanOfPlaces>(statistic.bets)) out.draws = depth().draws();
      result.push_back(std::move(out));
    }
    return result;
  }

  std::vector<AuditPlace> places() const {
    std::vector<AuditPlace> result;
    if (greedy_tokens_) return result;
    for (int part = 0; part < place_count; ++part) {
      if (depth().draws_of(part) == 0) continue;
      const GroupExcess along_p = depth().worst(part), along_ratio = ratio().worst(part);
      result.push_back({place_names[static_cast<std::size_t>(part)], depth().draws_of(part),
                        along_ratio.deviations > along_p.deviations ? along_ratio : along_p});
    }
    return result;
  }

 private:
  static constexpr std::array<const char*, 7> place_names{
      "token 1", "token 2", "token 3", "token 4", "tokens 5 to 8", "token 9 and later", "token after all drafts"};
  static constexpr int place_count = static_cast<int>(place_names.size());

  enum class Of { token, first_token, draft };
  /// One drawn token. `ratio`, the groups along p / q, is null if p or q is not recorded.
  struct Draw {
    Of of;
    const RowGroups& rows;
    DrawnSymbol drawn;
    std::uint64_t record;
    float probability = 0;  ///< probability in the row that the token is drawn from
    const GroupMasses<depth_groups>* depth = nullptr;
    const GroupMasses<ratio_groups>* ratio = nullptr;
    const GroupMasses<id_groups>* id = nullptr;
    int place = 0;  ///< class of the position in the block, an index of place_names
    bool accepted = false;
    bool chain = false;                     ///< for Of::token: whether its verdict is tested
    std::optional<MovedVerdict> verdict{};  ///< if `chain` is true and a rejected draft is known
    int roots = 0;                          ///< for Of::first_token: number of root drafts

    int beside_top() const { return drawn.p == rows.largest_p ? 0 : 1; }
    int along_ratio() const { return ratio_group(drawn.p, drawn.q); }
  };
  /// Makes no bets. Its e-value is the mean of two numbers: the mean over positions of the e-values of ratio(), and the
  /// mean over positions of the e-values of depth().
  struct MeanOfPlaces {};
  struct Statistic {
    std::string name;
    double weight;
    Of of;
    std::variant<GroupBets, MovedMassBets, AcceptedBets, MeanOfPlaces> bets;
    std::function<void(Statistic&, const Draw&)> add;
  };

  bool drafts_drawn() const { return judges_drafts_ && !greedy(); }
  const GroupBets& ratio() const { return std::get<GroupBets>(statistics_[0].bets); }
  const GroupBets& depth() const { return std::get<GroupBets>(statistics_[1].bets); }

  template <int groups>
  static void bet(Statistic& on, const Draw& draw, const GroupMasses<groups>& masses, int group, int place = 0) {
    std::get<GroupBets>(on.bets).add(masses.mass, masses.slack, group, draw.record, place);
  }

  void fill_table() {
    const auto along_depth = [](Statistic& on, const Draw& draw) {
      bet(on, draw, *draw.depth, depth_group(draw.probability), draw.place);
    };
    const auto along_ratio = [](Statistic& on, const Draw& draw) {
      if (draw.ratio) bet(on, draw, *draw.ratio, draw.along_ratio(), draw.place);
    };
    const auto along_id = [symbols = trace_.symbols()](Statistic& on, const Draw& draw) {
      bet(on, draw, *draw.id, id_group(draw.drawn.symbol, symbols));
    };
    const auto on_top = [](Statistic& on, const Draw& draw) { bet(on, draw, draw.rows.top, draw.beside_top()); };
    const auto on_moved = [](Statistic& on, const Draw& draw) {
      add_moved_token(std::get<MovedMassBets>(on.bets), draw.rows, draw.beside_top() == 0, draw.record);
    };
    const auto verdict = [](Statistic& on, const Draw& draw) {
      const int accepted = draw.accepted ? ratio_groups : 0;
      if (draw.chain && draw.ratio) bet(on, draw, verdict_masses(draw.rows), draw.along_ratio() + accepted);
    };
    const auto top_verdict = [](Statistic& on, const Draw& draw) {
      const int accepted = draw.accepted ? 2 : 0;
      if (draw.chain && draw.ratio) bet(on, draw, top_verdict_masses(draw.rows), draw.beside_top() + accepted);
    };
    const auto moved_verdict = [drawn = drafts_drawn()](Statistic& on, const Draw& draw) {
      if (!draw.verdict) return;
      add_moved_verdict(std::get<MovedMassBets>(on.bets), draw.rows, *draw.verdict, drawn, draw.record);
    };
    const auto accepted = [](Statistic& on, const Draw& draw) {
      std::get<AcceptedBets>(on.bets).add(draw.rows, draw.roots, draw.accepted ? draw.along_ratio() : -1,
                                          draw.record);
    };
    const auto nothing = [](Statistic&, const Draw&) {};
    const auto groups = [](GroupDesign design, int places = 1) { return GroupBets{std::move(design), places}; };
    const auto row = [this](const char* name, double weight, Of of, auto bets, auto add) {
      statistics_.push_back({name, weight, of, std::move(bets), add});
    };
    using enum Of;
    if (!greedy_tokens_) {  // ratio() and depth() return the first two statistics
      row("tokens along p/q", 0.25, token, groups(ratio_design(""), place_count), along_ratio);
      row("tokens along p", 0.25, token, groups(depth_design("", "p"), place_count), along_depth);
      row("most likely token", 0.05, token, groups(top_design("")), on_top);
      row("mass of the most likely token", 0.1, token, moved_tokens(""), on_moved);
      row("places in the block", 0.1, token, MeanOfPlaces{}, nothing);
      if (!trace_.truncated()) row("token numbers", 0.05, token, groups(id_design("", trace_.symbols())), along_id);
    }
    if (rejection_) {
      row("verdicts along p/q", 0.25, token, groups(verdict_design("")), verdict);
      row("verdicts on the most likely token", 0.05, token, groups(top_verdict_design("")), top_verdict);
      row("verdicts, mass of the most likely token", 0.15, token, moved_verdicts(""), moved_verdict);
    }
    if (drafts_drawn()) {
      if (!greedy_tokens_) row("accepted drafts", 0.1, first_token, AcceptedBets{}, accepted);
      row("drafts along q", 0.1, draft, groups(depth_design("", "q")), along_depth);
      row("first drafts along p/q", 0.05, draft, groups(ratio_design("")), along_ratio);
      if (!trace_.truncated()) row("draft numbers", 0.05, draft, groups(id_design("", trace_.symbols())), along_id);
    }
    double total = 0;
    for (const Statistic& statistic : statistics_) total += statistic.weight;
    for (Statistic& statistic : statistics_) statistic.weight /= total;
  }

  double log_e(const Statistic& statistic) const {
    const auto value = [this](const auto& bets) {
      if constexpr (requires { bets.log_e(); }) return bets.log_e();
      return log_mean_exp(std::array{ratio().log_e_of_parts(), depth().log_e_of_parts()});
    };
    return std::visit(value, statistic.bets);
  }

  void add(const Draw& draw) {
    for (Statistic& statistic : statistics_)
      if (statistic.of == draw.of) statistic.add(statistic, draw);
  }

  /// Adds the bets on an emitted token. `chain`: whether the drafts are a chain whose verdicts are tested.
  void add_token(const TraceGroups& groups, const RowItem& item, std::size_t block, std::size_t place, bool chain) {
    constexpr std::size_t alone = 4, together = 8;
    const bool drafted = item.q_row >= 0;
    Draw draw{.of = Of::token,
              .rows = item.groups,
              .drawn = item.emitted,
              .record = static_cast<std::uint64_t>(item.record),
              .probability = item.emitted.p,
              .depth = &item.groups.depth_p,
              .ratio = drafted ? &item.groups.ratio_p : nullptr,
              .id = &item.groups.id_p,
              .place = !drafted        ? place_count - 1
                       : place < alone ? static_cast<int>(place)
                                       : (place < together ? 4 : 5),
              .accepted = static_cast<std::int64_t>(place) < trace_.accepted(block),
              .chain = chain};
    if (chain) draw.verdict = verdict_of(groups, item, block, place, draw);
    add(draw);
  }

  std::optional<MovedVerdict> verdict_of(const TraceGroups& groups, const RowItem& item, std::size_t block,
                                         std::size_t place, const Draw& draw) const {
    const bool top = draw.beside_top() == 0;
    if (item.q_row < 0) return top ? MovedVerdict::alone_top : MovedVerdict::alone;
    if (draw.accepted) return top ? MovedVerdict::accepted_top : MovedVerdict::accepted;
    const std::size_t refused = trace_.draft_start(block) + place;
    if (refused >= trace_.draft_start(block + 1) || trace_.draft_q(refused) != static_cast<std::size_t>(item.q_row))
      return std::nullopt;
    if (top) return MovedVerdict::rejected_for_top;
    const DraftItem& draft = groups.drafts[refused - trace_.draft_start(groups.first_block)];
    return draft.drawn.p == item.groups.largest_p ? MovedVerdict::rejected_top : MovedVerdict::rejected;
  }

  void add_first(const TraceGroups& groups, std::size_t block) {
    const std::size_t r = trace_.block_start(block);
    if (r == trace_.block_start(block + 1) || trace_.emitted_q(r) < 0) return;
    int roots = 0;
    for (std::size_t d = trace_.draft_start(block); d < trace_.draft_start(block + 1); ++d) {
      if (trace_.draft_parent(d) >= 0) continue;
      if (trace_.draft_q(d) != static_cast<std::size_t>(trace_.emitted_q(r))) return;
      ++roots;
    }
    // AcceptedBets assumes that the drafts contain a token x with probability at most K q(x), which can be false for
    // drafts without replacement.
    if (roots == 0 || (roots > 1 && draft_sampling_ != "iid")) return;
    const RowItem& item = groups.items[groups.item_of_record[r - trace_.block_start(groups.first_block)]];
    add({.of = Of::first_token,
         .rows = item.groups,
         .drawn = item.emitted,
         .record = r,
         .accepted = trace_.accepted(block) > 0,
         .roots = roots});
  }

  void add_draft(const TraceGroups& groups, std::size_t block, std::size_t draft) {
    const std::size_t first = trace_.draft_start(groups.first_block), row = trace_.draft_q(draft);
    const DraftItem& drawn = groups.drafts[draft - first];
    const RowItem& item = groups.items[drawn.item];
    const bool at_root = trace_.draft_parent(draft) < 0 && item.record >= 0 &&
                         static_cast<std::size_t>(item.record) == trace_.block_start(block);
    if (trace_.is_zero(RowsOf::proposal, row, drawn.drawn.symbol)) return;
    GroupMasses<depth_groups> depth = item.groups.depth_q;
    GroupMasses<ratio_groups> ratio = item.groups.ratio_q;
    GroupMasses<id_groups> id = item.groups.id_q;
    if (draft_sampling_ == "without_replacement") {
      // Removes earlier siblings from the distribution. Removing mass r scales the other masses and their error
      // margins by 1 / (1 - r).
      double left = 1;
      for (std::size_t e = trace_.draft_start(block); e < draft; ++e) {
        if (trace_.draft_parent(e) != trace_.draft_parent(draft) || trace_.draft_q(e) != row) continue;
        const DrawnSymbol& sibling = groups.drafts[e - first].drawn;
        if (trace_.truncated() && sibling.symbol + 1 == trace_.symbols())
          return;  // the sibling is in the truncated rest, so its token is unknown
        const double q = sibling.q;
        left -= q;
        depth.mass[static_cast<std::size_t>(depth_group(sibling.q))] -= q;
        ratio.mass[static_cast<std::size_t>(ratio_group(sibling.p, sibling.q))] -= q;
        id.mass[static_cast<std::size_t>(id_group(sibling.symbol, trace_.symbols()))] -= q;
      }
      // Sums of single-precision numbers have errors of up to 2^-22, which division by `left` amplifies, so a
      // draft is skipped if less than 2^-10 is left.
      constexpr double least_left = 0x1p-10;
      if (left < least_left) return;
      const auto scale = [left](auto& masses) {
        for (double& mass : masses.mass) mass = std::max(mass, 0.0) / left;
        for (double& slack : masses.slack)
          slack = slack / left + 0x1p-20 / left / static_cast<double>(masses.slack.size());
      };
      scale(depth), scale(ratio), scale(id);
    }
    add({.of = Of::draft,
         .rows = item.groups,
         .drawn = drawn.drawn,
         .record = trace_.block_start(block),
         .probability = drawn.drawn.q,
         .depth = &depth,
         .ratio = at_root ? &ratio : nullptr,
         .id = &id});
  }

  const Trace& trace_;
  std::string draft_sampling_;
  bool judges_drafts_, rejection_, greedy_tokens_;
  std::vector<Statistic> statistics_{};
};

}  // namespace draftproof
