#include <draftproof/properties/survey/survey.hpp>

#include <algorithm>
#include <ctime>
#include <exception>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include <draftproof/captures/input_error.hpp>
#include <draftproof/properties/simulation/backend.hpp>
#include <draftproof/properties/simulation/law_optimum.hpp>
#include <draftproof/sim/random/philox.hpp>

namespace draftproof {

namespace {

double cpu_clock(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

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

/// Marks the rows whose scheme would enumerate too many tuples at some position.
void mark_unaffordable(const Source& source, std::vector<SurveyRow>& rows) {
  if (std::all_of(rows.begin(), rows.end(),
                  [](const SurveyRow& row) { return row.verifier->info().unsupported.simulate.empty(); }))
    return;
  Supports supports;
  for (std::size_t i = 0; i < source.positions(); ++i) supports.add(source.pair(i).proposals);
  for (SurveyRow& row : rows)
    if (backend_for(*row.verifier, *row.drafter, supports, row.drafts) == SimulationBackend::none)
      row.not_run = row.verifier->info().unsupported.simulate;
}

/// Number of trials of one row at position `i` of `positions`.
std::uint64_t share(std::uint64_t tuples, std::size_t i, std::size_t positions) {
  return tuples / positions + (i < tuples % positions);
}

/// The exception of the earliest position, so that the reported one does not depend on threads.
class Failure {
 public:
  void keep(std::size_t position, std::exception_ptr exception) {
#pragma omp critical(survey_failure)
    if (!exception_ || position < position_) {
      position_ = position;
      exception_ = std::move(exception);
    }
  }
  void rethrow() const {
    if (exception_) std::rethrow_exception(exception_);
  }

 private:
  std::size_t position_ = 0;
  std::exception_ptr exception_;
};

/// Sums row r over the positions that have trials; after a stop some have fewer than planned, or none.
void add_up(const std::vector<std::vector<SurveyRow>>& at, std::size_t r, SurveyRow& sum) {
  const auto counts = [r](const auto& rows) { return rows[r].tally.trials > 0 || !rows[r].not_run.empty(); };
  const auto used = static_cast<double>(std::count_if(at.begin(), at.end(), counts));
  double optimum = 0;
  bool known = used > 0;
  for (const auto& rows : at) {
    const SurveyRow& row = rows[r];
    if (!counts(rows)) continue;
    sum.tally += row.tally;
    sum.single += row.single / used;
    if (!sum.place.asked()) sum.place = row.place;
    sum.cpu_seconds += row.cpu_seconds;
    known = known && row.optimum.has_value();
    optimum += row.optimum.value_or(0) / used;
  }
  if (known) sum.optimum = optimum;
}

}  // namespace

std::optional<double> SurveyRow::gap_closed() const {
  // Below a gap of 1e-9 the confidence interval of any affordable number of tuples is wider than the gap.
  if (!optimum || *optimum - single < 1e-9 || tally.trials == 0) return std::nullopt;
  return (membership() - single) / (*optimum - single);
}

std::uint64_t survey_size(const Source& source, const SurveyOptions& options) {
  std::vector<SurveyRow> rows = plan(source, options);
  mark_unaffordable(source, rows);
  std::uint64_t tuples = 0;
  for (const SurveyRow& row : rows)
    if (row.not_run.empty()) tuples += row.tuples;
  return tuples;
}

SurveyResult survey(const Source& source, const SurveyOptions& options) {
  SurveyResult result{.positions = source.positions(), .complete = true, .rows = plan(source, options)};
  mark_unaffordable(source, result.rows);
  const int threads = options.threads > 0 ? options.threads : default_threads();
  const std::size_t positions = source.positions();
  // Threads divide the positions, or the trials of each position if there are too few positions.
  const bool by_position = positions >= 2 * static_cast<std::size_t>(threads);
  std::vector<std::vector<SurveyRow>> at(positions, result.rows);
  std::vector<char> done(positions, 0);
  std::atomic<std::uint64_t> tuples{0};
  Failure failure;
  const auto stopped = [&] { return options.stop && options.stop->load(std::memory_order_relaxed); };
  const auto report = [&](std::uint64_t total) {
#pragma omp critical(survey_progress)
    if (options.progress) options.progress(total);
  };

#pragma omp parallel for schedule(dynamic) num_threads(by_position ? threads : 1)
  for (std::size_t i = 0; i < positions; ++i) {
    if (stopped()) continue;
    try {
      const RowPair pair = source.pair(i);
      const RatioTable table(pair.target, pair.proposals);
      const auto clock = by_position ? CLOCK_THREAD_CPUTIME_ID : CLOCK_PROCESS_CPUTIME_ID;
      std::map<std::pair<const AnyDrafter*, int>, std::optional<double>> optima;  // one for all verifiers of a law
      std::optional<Rows<double>> rows;  // for schemes that do not run on the table
      BackendChooser places(options.device, table);
      for (SurveyRow& row : at[i]) {
        row.single = 1 - table.residual_mass(1);
        const auto [known, fresh] = optima.try_emplace({row.drafter, row.drafts});
        if (fresh) known->second = optimum_of(*row.drafter, table, row.drafts);
        row.optimum = known->second;
        if (!row.not_run.empty()) continue;
        const Simulation what{*row.verifier, *row.drafter, row.drafts, options.seed, first_trial(i)};
        const TrialBudget budget{.trials = share(row.tuples, i, positions),
                                 .threads = by_position ? 1 : threads,
                                 .stop = options.stop,
                                 .progress = [&](std::uint64_t trials) { report(tuples + trials); }};
        row.place = places.of(*row.verifier, *row.drafter, row.drafts);
        const double start = cpu_clock(clock);
        if (row.place.on_device()) {
          row.tally = simulate(what, places.table(), budget);
        } else if (row.verifier->info().unsupported.simulate.empty()) {
          row.tally = simulate(what, table, budget);
        } else {
          if (!rows) rows.emplace(pair.target, pair.proposals);
          row.tally = simulate(what, *rows, budget);
        }
        if (!row.place.on_device()) row.cpu_seconds = cpu_clock(clock) - start;
        tuples += row.tally.trials;
      }
      done[i] = !stopped();
    } catch (...) {
      failure.keep(i, std::current_exception());
    }
  }
  failure.rethrow();

  result.positions = static_cast<std::size_t>(std::count(done.begin(), done.end(), 1));
  result.complete = result.positions == positions;
  for (std::size_t r = 0; r < result.rows.size(); ++r) {
    add_up(at, r, result.rows[r]);
    if (!options.by_position) continue;
    for (const auto& rows : at)
      result.rows[r].at.push_back({rows[r].tally.trials, rows[r].tally.members, rows[r].optimum});
  }
  return result;
}

}  // namespace draftproof
