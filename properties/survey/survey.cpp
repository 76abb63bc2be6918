#include <draftproof/properties/survey/survey.hpp>

#include <unistd.h>
#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include <fmt/format.h>

#include <draftproof/captures/input_error.hpp>
#include <draftproof/properties/simulation/backend.hpp>
#include <draftproof/properties/survey/survey_blocks.hpp>

namespace draftproof {

namespace {

bool stopped(const SurveyOptions& options) { return options.stop && options.stop->load(std::memory_order_relaxed); }

template <class Known>
void check_names(const std::vector<std::string>& names, std::string_view what, Known known) {
  for (const auto& name : names)
    if (!known(name))
      throw InputError({.file = fmt::format("--{}", what),
                        .found = in_quotes(name),
                        .wanted = fmt::format("a name that `draftproof list` shows")});
}

bool law_wanted(const SurveyOptions& options, const Info& info, const DrafterInfo& law) {
  if (!options.laws.empty()) return info.drafts.includes(law.name) && wanted(options.laws, law.name);
  return info.drafts.any() ? law.shared_proposal_iid || law.fixed : info.drafts.names[0] == law.name;
}

/// Number of tuples of a row. Schemes with shared noise read V K words a tuple on either side: 65,536 tuples at V = 512,
/// K = 4 and 1,048 at V = 32,000.
std::uint64_t planned_tuples(const SurveyOptions& options, const AnyVerifier& verifier, const AnyDrafter& drafter,
                             int drafts, const Source& source) {
  return affordable_trials(options.tuples, verifier, drafter, source.positions(),
                           source.vocabulary() * static_cast<std::uint64_t>(drafts));
}

/// The rows of the result, not filled yet, grouped by draft law.
std::vector<SurveyRow> plan(const Source& source, const SurveyOptions& options) {
  check_names(options.verifiers, "verifier", [](const auto& name) { return registry().verifier(name) != nullptr; });
  check_names(options.laws, "law", [](const auto& name) { return registry().drafter(name) != nullptr; });
  const auto vocabulary = static_cast<int>(source.vocabulary());
  const auto proposals = static_cast<int>(source.proposal_names().size());
  std::vector<SurveyRow> rows;
  for (const auto& drafter : registry().drafters())
    for (const auto& verifier : registry().verifiers()) {
      const Info& info = verifier->info();
      if (!asked_for(options, *verifier) || !law_wanted(options, info, drafter->info())) continue;
      std::set<int> numbers;
      for (int drafts : options.drafts) {
        for (const int most : {info.most_drafts, drafter->info().most_drafts})
          if (most > 0) drafts = std::min(drafts, most);
        numbers.insert(drafts);
      }
      for (const int drafts : numbers)
        if (verifier->takes(drafts) && drafter->defined(vocabulary, drafts, proposals))
          rows.push_back({.verifier = verifier.get(),
                          .drafter = drafter.get(),
                          .drafts = drafts,
                          .tuples = planned_tuples(options, *verifier, *drafter, drafts, source)});
    }
  return rows;
}

/// Marks the rows whose scheme would enumerate too many tuples at some position. Supports only grow from position to
/// position, so the pass ends where no row is left to be marked; and tuples of the whole vocabulary bound all others. `report` gets
/// the number of positions seen.
void mark_unaffordable(const Source& source, const SurveyOptions& options, std::vector<SurveyRow>& rows,
                       const std::function<void(std::uint64_t)>& report = {}) {
  std::vector<SurveyRow*> open;
  for (SurveyRow& row : rows)
    if (!row.verifier->info().unsupported.simulate.empty() &&
        std::pow(static_cast<double>(source.vocabulary()), row.drafts) > affordable_tuples)
      open.push_back(&row);
  Supports supports;
  for (std::size_t i = 0; i < source.positions() && !open.empty() && !stopped(options); ++i) {
    if (report) report(i);
    supports.add(source.pair(i).proposals);
    std::erase_if(open, [&supports](SurveyRow* row) {
      if (backend_for(*row->verifier, *row->drafter, supports, row->drafts) != SimulationBackend::none) return false;
      row->not_run = row->verifier->info().unsupported.simulate;
      return true;
    });
  }
}

/// Refuses values of every position that no memory of this machine holds.
void check_memory(const Source& source, const SurveyOptions& options, const std::vector<SurveyRow>& rows) {
  if (!options.by_position) return;
  const double needed =
      static_cast<double>(rows.size()) * static_cast<double>(source.positions()) * sizeof(AcceptanceAt);
  const double there = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
  if (needed > there)
    throw InputError(
        {.file = "--by-position",
         .found = fmt::format("{} rows at {} positions, {:.3g} GB", rows.size(), source.positions(), needed / 1e9),
         .wanted = fmt::format("less than the {:.3g} GB of this machine; --sample takes fewer", there / 1e9)});
}

}  // namespace

std::optional<double> SurveyRow::gap_closed() const {
  // Below a gap of 1e-9 the confidence interval of any affordable number of tuples is wider than the gap.
  if (!optimum || *optimum - single < 1e-9 || tally.trials == 0) return std::nullopt;
  return (membership() - single) / (*optimum - single);
}

std::uint64_t survey_size(const Source& source, const SurveyOptions& options) {
  std::vector<SurveyRow> rows = plan(source, options);
  mark_unaffordable(source, options, rows, options.progress);
  std::uint64_t tuples = 0;
  for (const SurveyRow& row : rows)
    if (row.not_run.empty()) tuples += row.tuples;
  return tuples;
}

SurveyResult survey(const Source& source, const SurveyOptions& options) {
  SurveyResult result{.positions = source.positions(), .complete = true, .rows = plan(source, options)};
  check_memory(source, options, result.rows);
  mark_unaffordable(source, options, result.rows);
  BlockLedger own{nullptr};
  SurveyBlocks blocks(source, options, result.rows);
  const bool complete = blocks.run(options.ledger ? *options.ledger : own);
  result.positions = blocks.add_up(options.ledger ? *options.ledger : own, result.rows);
  result.complete = complete;
  return result;
}

}  // namespace draftproof
