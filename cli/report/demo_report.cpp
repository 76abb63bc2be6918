#include <draftproof/cli/report/survey_report.hpp>

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include <draftproof/cli/report/proof_report.hpp>
#include <draftproof/cli/report/text.hpp>
#include <draftproof/properties/statistics/sample_size.hpp>

namespace draftproof {

namespace {

/// Numbers of schemes by verdict. A scheme whose draft samplings have different verdicts is counted under each.
struct Count {
  std::set<std::string_view> proved, refuted, not_explored, lossy;

  template <class Level>
  void add(const ProofOf<Level>& proof) {
    const std::string_view name = proof.verifier->info().name;
    if (proof.verifier->kind() == Kind::lossy)
      lossy.insert(name);
    else if (proof.violation())
      refuted.insert(name);
    else if (proof.provable() && proof.kept())
      proved.insert(name);
    else
      not_explored.insert(name);
  }
  std::string text() const {
    return fmt::format("{} proved, {} refuted, {} lossy by design, {} that cannot be enumerated (tested by trials)",
                       proved.size(), refuted.size(), lossy.size(), not_explored.size());
  }
  nlohmann::ordered_json data() const {
    return {{"proved", proved.size()},
            {"refuted", refuted.size()},
            {"lossy", lossy.size()},
            {"not_proved", not_explored.size()}};
  }
};

/// Returns "boundary_uniforms (5), distribution_in_budget (2) and 3 further checks": the checks by the number of bugs
/// that they caught.
std::string by_check(const std::map<std::string, int>& counts) {
  std::vector<std::pair<int, std::string>> order;
  for (const auto& [check, count] : counts) order.emplace_back(-count, check);
  std::sort(order.begin(), order.end());
  std::string text;
  for (std::size_t i = 0; i < order.size() && i < 3; ++i)
    text += fmt::format("{}{} ({})", i == 0 ? "" : ", ", order[i].second, -order[i].first);
  if (order.size() > 3) text += fmt::format(" and {} further checks", order.size() - 3);
  return text;
}

/// Numbers of bugs in verifiers and drafters, and in the components around verifiers.
struct BugCount {
  int schemes = 0, components = 0, refuted = 0, missed = 0;
  std::map<std::string, int> others{};  ///< bugs with a correct output distribution, by the check that caught them

  explicit BugCount(const KillMatrix& matrix) {
    for (const KillRow& row : matrix.rows) {
      if (row.lossy) continue;
      const bool component =  // the bug is in neither a verifier nor a drafter
          row.level != TokenLevel::name && row.level != BlockLevel::name && !row.level.ends_with("drafters");
      ++(component ? components : schemes);
      if (!component && row.decided >= 0)
        ++refuted;
      else if (const Finding* first = row.catcher())
        ++others[first->property];
      else
        ++missed;
    }
  }
};

/// Returns the refuted bug with the shortest counterexample, preferably of one position on two drafts; null if there is
/// no refuted bug.
const KillRow* shown_bug(const KillMatrix& matrix) {
  const auto length = [](const KillRow& row) {
    const std::string& instance = row.shown()->instance;
    return std::tuple(row.level != TokenLevel::name || !instance.ends_with(" K=2"), instance.size());
  };
  const KillRow* shortest = nullptr;
  for (const KillRow& row : matrix.rows)
    if (row.decided >= 0 && !row.lossy && (!shortest || length(row) < length(*shortest))) shortest = &row;
  return shortest;
}

/// Whether the table shows `row`: the scheme is lossless, and ran with `drafts` drafts or does not support so many.
bool in_table(const SurveyRow& row, int drafts) {
  return row.verifier->kind() == Kind::verifier && row.tally.trials > 0 &&
         (row.drafts == drafts || !row.verifier->takes(drafts));
}

/// Returns the draft samplings of the table, i.i.d. samplings first, otherwise in the order of the survey's rows.
std::vector<const AnyDrafter*> distributions_of(const DemoResult& result) {
  std::vector<const AnyDrafter*> samplings;
  for (const SurveyedSource& item : result.surveyed)
    for (const SurveyRow& row : item.result.rows)
      if (in_table(row, result.drafts) &&
          std::find(samplings.begin(), samplings.end(), row.drafter) == samplings.end())
        samplings.push_back(row.drafter);
  std::stable_partition(samplings.begin(), samplings.end(),
                        [](const auto* sampling) { return sampling->info().shared_proposal_iid; });
  return samplings;
}

const SurveyRow* row_of(const SurveyedSource& item, const AnyVerifier* verifier, const AnyDrafter* sampling,
                        int drafts) {
  for (const SurveyRow& row : item.result.rows)
    if (row.verifier == verifier && row.drafter == sampling && in_table(row, drafts)) return &row;
  return nullptr;
}

Section table_of(const DemoResult& result) {
  Section section{
      .title = fmt::format(
          "Lossless schemes at K = {}: acceptance, and gap closed from one draft (0 %) to the optimum (100 %)",
          result.drafts)};
  const auto name_of = [](const SurveyedSource& item) {
    const std::string name = item.source->name();
    return name.substr(0, name.find_first_of("_:"));
  };
  std::size_t left_out = 0;
  // By the magnitude of the number of tuples, which sources round up to a multiple of their positions: the smallest
  // number, and the largest distance of an interval's end from the rate.
  std::map<int, std::pair<std::uint64_t, double>> widest;
  for (const AnyDrafter* sampling : distributions_of(result)) {
    ResultRow best;
    best.cell("scheme", {fmt::format("optimum of {} drafts", sampling->info().name), Tone::faint});
    bool known = false;
    std::vector<const AnyVerifier*> verifiers;
    std::map<const AnyVerifier*, std::pair<int, double>> seen;  // number of sources, acceptance on the first source
    for (const SurveyedSource& item : result.surveyed) {
      std::optional<double> optimum;
      for (const SurveyRow& row : item.result.rows) {
        if (row.drafter != sampling || !in_table(row, result.drafts)) continue;
        if (row.drafts == result.drafts && row.optimum) optimum = row.optimum;
        if (const auto [at, fresh] = seen.try_emplace(row.verifier, 0, row.draft_emitted());
            ++at->second.first, fresh)
          verifiers.push_back(row.verifier);
      }
      known = known || optimum;
      best.number(name_of(item), {optimum ? fmt::format("{:.4f}", *optimum) : "-", Tone::faint}).number("gap", {""});
    }
    best.number("ns", {""});
    // Schemes whose plans enumerate tuples ran only on small vocabularies, so the short table leaves them out.
    left_out += std::erase_if(
        verifiers, [&](const auto* verifier) { return seen[verifier].first == 1 && result.surveyed.size() > 1; });
    if (verifiers.empty()) continue;
    if (known) section.table.add(std::move(best));
    std::stable_sort(verifiers.begin(), verifiers.end(),
                     [&](const auto* a, const auto* b) { return seen[a].second < seen[b].second; });
    for (const AnyVerifier* verifier : verifiers) {
      std::string name = "  " + std::string(verifier->info().name);
      if (!known) name += fmt::format(", {} drafts", sampling->info().name);
      std::string time = "-";
      ResultRow line;
      line.cell("scheme", {});
      int few = 0;
      for (const SurveyedSource& item : result.surveyed) {
        const SurveyRow* row = row_of(item, verifier, sampling, result.drafts);
        const auto closed = row ? row->gap_closed() : std::nullopt;
        line.number(name_of(item), {row ? fmt::format("{:.4f}", row->draft_emitted()) : "-"});
        line.number("gap", {!closed ? "-" : *closed < 0 ? "< 0" : gap_closed_text(*row, 0.95)});
        if (row && time == "-") time = fmt::format("{:.0f}", row->nanoseconds_per_tuple());
        if (row && row->drafts != result.drafts) few = row->drafts;
        if (row && row->tally.trials > 0) {
          const Interval interval = clopper_pearson(row->tally.draft_emitted, row->tally.trials, 1 - 0.95);
          auto& [tuples, width] = widest[static_cast<int>(std::bit_width(row->tally.trials))];
          tuples = width == 0 ? row->tally.trials : std::min(tuples, row->tally.trials);
          width = std::max({width, interval.high - row->draft_emitted(), row->draft_emitted() - interval.low});
        }
      }
      line.cells.front().text = few > 0 ? fmt::format("{} (K = {})", name, few) : name;
      section.table.add(std::move(line.number("ns", {time, Tone::faint})));
    }
  }
  std::string intervals;
  for (auto at = widest.rbegin(); at != widest.rend(); ++at)
    if (at == widest.rbegin() || std::next(at) == widest.rend())
      intervals += fmt::format("{}±{:.4f} at {}", intervals.empty() ? "" : ", or ", at->second.second,
                               counted(at->second.first, "tuple"));
  if (!intervals.empty())
    section.after.push_back(
        fmt::format("  Acceptances are simulated: the widest 95 % interval is {}. Optima are computed.", intervals));
  section.after.push_back(
      "  ns: processor time to draw, decide and count one tuple on the first source. -: no gap, or no known "
      "optimum.");
  for (const SurveyedSource& item : result.surveyed)
    if (item.source->describe().value("truncated", false))
      section.after.push_back(
          fmt::format("  {} has the likeliest tokens of each row; the others count as one token (docs/captures.md).",
                      name_of(item)));
  if (left_out > 0)
    section.after.push_back(fmt::format("  {} that run only on small vocabularies {} in the complete tables.",
                                        counted(left_out, "scheme"), left_out == 1 ? "is" : "are"));
  return section;
}

}  // namespace

Document report_demo(const DemoResult& result) {
  Count positions, paths;
  for (const Proof& proof : result.proofs) positions.add(proof);
  for (const PathProof& proof : result.path_proofs) paths.add(proof);
  const BugCount bugs(*result.bugs);
  Document document;
  document.data = {{"schema", "draftproof.demo/2"},
                   {"schemes", positions.data()},
                   {"path_schemes", paths.data()},
                   {"bugs",
                    {{"schemes", bugs.schemes},
                     {"components", bugs.components},
                     {"refuted", bugs.refuted},
                     {"missed", bugs.missed}}}};
  document.data["bugs"]["caught_by"] = bugs.others;
  Section counts{.title = "Is the output exactly the target's? (exact fractions, generated instances)"};
  counts.before = {
      "  schemes of one position:  " + positions.text(), "  schemes of paths, trees:  " + paths.text(),
      fmt::format("  bugs planted on purpose:  {} of {} in verifiers and drafters refuted by a counterexample{}",
                  bugs.refuted, bugs.schemes, bugs.missed > 0 ? fmt::format(", {} MISSED", bugs.missed) : "")};
  counts.before.push_back(fmt::format("    the other {}, and {} in components around verifiers, are caught by {}",
                                      bugs.schemes - bugs.refuted - bugs.missed, bugs.components,
                                      by_check(bugs.others)));
  document.sections.push_back(std::move(counts));
  document.sections.push_back(table_of(result));
  if (const KillRow* bug = shown_bug(*result.bugs)) {
    const Finding& shown = *bug->shown();
    document.data["example"] = {{"bug", bug->name}, {"counterexample", shown.instance}, {"evidence", shown.evidence}};
    document.sections.push_back({.title = "One of the bugs: " + bug->name,
                                 .before = {fmt::format("  refuted on {}: {}", shown.instance, shown.evidence)}});
  }
  Section next{.title = "Next"};
  if (!result.page.empty()) next.before.push_back("  with plots, open in a browser: " + result.page);
  if (!result.tables.empty()) next.before.push_back("  complete tables: " + result.tables);
  next.before.push_back("  draftproof prove k_seq                             one scheme's proof, in fractions");
  next.before.push_back(
      "  draftproof survey-paths data/stories512_trees.npz  accepted tokens per step of paths and trees");
  next.before.push_back("  draftproof check                                   the gate: proofs, edge cases, trials");
  document.sections.push_back(std::move(next));
  return document;
}

}  // namespace draftproof
