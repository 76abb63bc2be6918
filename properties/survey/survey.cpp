#include <draftproof/properties/survey/survey.hpp>

#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <ctime>
#include <limits>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <draftproof/captures/input_error.hpp>
#include <draftproof/properties/blocks/run_blocks.hpp>
#include <draftproof/properties/simulation/backend.hpp>
#include <draftproof/properties/simulation/sampling_optimum.hpp>
#include <draftproof/sim/random/philox.hpp>

namespace draftproof {

namespace {

bool stopped(const SurveyOptions& options) { return options.stop && options.stop->load(std::memory_order_relaxed); }

template <class Known>
void check_names(const std::vector<std::string>& names, std::string_view what, Known known) {
  for (const auto& name : names)
    if (!known(name))
      throw InputError({.file = fmt::format("--{}", what),
                        .got = in_quotes(name),
                        .expected = fmt::format("a name from `draftproof list`")});
}

bool distribution_wanted(const SurveyOptions& options, const Info& info, const DrafterInfo& sampling) {
  if (!options.draft_samplings.empty())
    return info.drafts.includes(sampling.name) && wanted(options.draft_samplings, sampling.name);
  return info.drafts.any() ? sampling.shared_proposal_iid || sampling.fixed : info.drafts.names[0] == sampling.name;
}

/// Returns the number of tuples of a row. With shared noise, drafter and verifier read V K random numbers per tuple, so
/// affordable_trials() limits the number of tuples, to 65,536 at V = 512, K = 4 and 1,048 at V = 32,000.
std::uint64_t planned_tuples(const SurveyOptions& options, const AnyVerifier& verifier, const AnyDrafter& drafter,
                             int drafts, const Source& source) {
  return whole_rounds(affordable_trials(options.tuples, verifier, drafter, source.positions(),
                                        source.vocabulary() * static_cast<std::uint64_t>(drafts)),
                      source.positions());
}

/// Returns the rows without results, grouped by draft sampling.
std::vector<SurveyRow> plan(const Source& source, const SurveyOptions& options) {
  check_names(options.verifiers, "verifier", [](const auto& name) { return registry().verifier(name) != nullptr; });
  check_names(options.draft_samplings, "draft-sampling",
              [](const auto& name) { return registry().drafter(name) != nullptr; });
  const auto vocabulary = static_cast<int>(source.vocabulary());
  const auto proposals = static_cast<int>(source.proposal_names().size());
  std::vector<SurveyRow> rows;
  for (const auto& drafter : registry().drafters())
    for (const auto& verifier : registry().verifiers()) {
      const Info& info = verifier->info();
      if (!asked_for(options, *verifier) || !distribution_wanted(options, info, drafter->info())) continue;
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

/// Marks the rows whose scheme would enumerate too many tuples at some position. Examines only rows that would have too
/// many tuples on the whole vocabulary. A marked row is not examined at later positions, because `supports` only grows
/// from position to position. Calls `report(positions_done)`.
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

/// Throws: InputError if the values of every position exceed the machine's memory.
void check_memory(const Source& source, const SurveyOptions& options, const std::vector<SurveyRow>& rows) {
  if (!options.by_position) return;
  const double needed =
      static_cast<double>(rows.size()) * static_cast<double>(source.positions()) * sizeof(AcceptanceAt);
  const double there = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
  if (needed > there)
    throw InputError(
        {.file = "--by-position",
         .got = fmt::format("{} rows at {} positions, {:.3g} GB", rows.size(), source.positions(), needed / 1e9),
         .expected =
             fmt::format("less than the {:.3g} GB of this machine; --sample uses fewer positions", there / 1e9)});
}

// A survey runs in blocks: each is a range of positions, or a range of the trials at one position if there are
// many. A block has trials of all rows, so blocks have about equal costs.
//
//   sums     for each row: its counts, processor time in nanoseconds
//   record   for each draft sampling and number of drafts: positions counted, and sums of their `single` and optimum; a
//            block of 1/n of the trials at a position counts 1/n of it
//
// The optimum is a mean over the same positions as the rows' rates only if all rows have the same trials. So an
// interrupted block leaves out a position where a row lacks trials, unless the source has no other.
//
// Cost: memory for the rows that are computed at the moment, and for the counts and records of at most 2^14 ranges, for
// any number of positions.
//
// Correctness: values are summed in the order of blocks, inside a block in the order of positions.

constexpr std::uint64_t most_ranges = std::uint64_t{1} << 14;
/// Largest number of trials of a row in a block. This number of trials costs hundreds of times as much as the tables of
/// a position.
constexpr std::uint64_t usual_part = std::uint64_t{1} << 20;

double cpu_clock(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Returns the size of part i if `whole` is divided evenly into `parts`; the first parts get the remainder.
std::uint64_t share(std::uint64_t whole, std::uint64_t i, std::uint64_t parts) {
  return whole / parts + (i < whole % parts);
}
/// Returns the sum of the sizes of the parts before i.
std::uint64_t before(std::uint64_t whole, std::uint64_t i, std::uint64_t parts) {
  return whole / parts * i + std::min(i, whole % parts);
}

/// The tables of a position and the schemes prepared for them, shared by the blocks of its trials and by threads.
class PreparedPosition {
 public:
  PreparedPosition(std::size_t position, RowPair pair, std::size_t rows)
      : position_{position},
        pair_{std::move(pair)},
        table_(pair_.target, pair_.proposals),
        on_table_(rows),
        on_rows_(rows),
        optima_(rows) {}

  std::size_t position() const { return position_; }
  const RatioTable& table() const { return table_; }
  /// Returns the optimum of measure m of the survey, which is `sampling` with this number of drafts.
  std::optional<double> optimum(std::size_t m, const AnyDrafter& sampling, int drafts) {
    const std::lock_guard lock(mutex_);
    if (!optima_[m]) optima_[m] = optimum_of(sampling, table_, drafts);
    return *optima_[m];
  }
  /// Runs trials of row r of the survey, with numbers from `first` on. Trial t reads the random bits of trial
  /// what.first + t.
  Tally simulate(std::size_t r, const Simulation& what, std::uint64_t first, const TrialBudget& budget) {
    if (what.verifier.info().unsupported.simulate.empty())
      return run(made(on_table_[r], what, table_), first, budget);
    return run(made(on_rows_[r], what, rows()), first, budget);
  }

 private:
  template <class L>
  using Made = std::unique_ptr<Simulator<L>>;

  /// Returns the position's rows without a table, for schemes that cannot use the table.
  const Rows<double>& rows() {
    const std::lock_guard lock(mutex_);
    return rows_ ? *rows_ : rows_.emplace(pair_.target, pair_.proposals);
  }
  template <class L>
  const Simulator<L>& made(Made<L>& simulator, const Simulation& what, const L& samplings) {
    const std::lock_guard lock(mutex_);
    if (!simulator) simulator = std::make_unique<Simulator<L>>(what, samplings);
    return *simulator;
  }
  template <class L>
  static Tally run(const Simulator<L>& simulator, std::uint64_t first, const TrialBudget& budget) {
    return run_trials(budget, simulator.empty(), [&](std::uint64_t done, std::uint64_t count, Tally& tally) {
      simulator.run(first + done, count, tally);
    });
  }

  std::size_t position_;
  RowPair pair_;
  RatioTable table_;
  std::optional<Rows<double>> rows_{};
  std::vector<Made<RatioTable>> on_table_;
  std::vector<Made<Rows<double>>> on_rows_;
  std::vector<std::optional<std::optional<double>>> optima_;  ///< by measure
  std::mutex mutex_{};
};

class SurveyBlocks {
 public:
  /// Keeps references to all three arguments. Requires rows from plan(), without results.
  SurveyBlocks(const Source& source, const SurveyOptions& options, const std::vector<SurveyRow>& rows)
      : source_{source},
        options_{options},
        planned_{rows},
        ranges_{std::min<std::uint64_t>(source.positions(), most_ranges)},
        parts_{1},
        places_(rows.size(), {std::numeric_limits<std::size_t>::max(), Backend{}}) {
    if (options.by_position) at_.assign(rows.size(), std::vector<AcceptanceAt>(source.positions()));
    for (const SurveyRow& row : rows) {
      const std::uint64_t each = row.tuples / std::max<std::uint64_t>(1, source.positions());
      const std::uint64_t most =
          most_trials_of_block(usual_part, row.verifier->info().shared_noise, source.vocabulary());
      if (row.not_run.empty()) parts_ = std::max(parts_, each / block_size(options.checkpoint, each, most));
      const Measure measure{row.drafter, row.drafts, row.not_run.empty()};
      const auto known = std::find_if(measures_.begin(), measures_.end(), [&measure](const Measure& other) {
        return other.drafter == measure.drafter && other.drafts == measure.drafts && other.runs == measure.runs;
      });
      measure_of_.push_back(static_cast<std::size_t>(known - measures_.begin()));
      if (known == measures_.end()) measures_.push_back(measure);
    }
  }

  /// Computes this process's blocks. Returns all computed blocks.
  BlockGroup run() {
    const nlohmann::json about = source_.describe();
    std::uint64_t tuples = 0;  // the largest number of tuples of any scheme
    for (const SurveyRow& row : planned_)
      if (row.not_run.empty()) tuples = std::max(tuples, row.tuples);
    const BlockPlan plan{.name = fmt::format("survey of {} with {}", about.value("file", source_.name()),
                                             fmt::join(source_.proposal_names(), ", ")),
                         .blocks = ranges_ * parts_,
                         .trials = static_cast<double>(tuples) / static_cast<double>(source_.positions() * parts_),
                         .threads = threads_of(options_.threads)};
    return run_blocks(options_.checkpoint, plan, [this](const BlockTask& task) { return compute(task); });
  }

  /// Fills the rows from the computed blocks. Returns the number of positions whose blocks are all computed.
  std::size_t add_up(const BlockGroup& group, std::vector<SurveyRow>& rows) const {
    std::vector<std::vector<Measure>> records;
    for (const auto& [block, record] : group.records) records.push_back(from_bytes<std::vector<Measure>>(record));
    std::vector<RowCounts> counts(rows.size());
    if (auto next = group.sums.begin(); !group.sums.empty()) add_counters(next, counts);
    // Adds up the numbers of positions first, because the means divide by them.
    std::vector<Measure> means = measures_;
    for (const std::vector<Measure>& one : records)
      for (std::size_t m = 0; m < means.size(); ++m) means[m].used += one[m].used;
    for (const std::vector<Measure>& one : records)
      for (std::size_t m = 0; m < means.size(); ++m) {
        if (one[m].used == 0) continue;
        means[m].single += one[m].single / means[m].used;
        means[m].optimum += one[m].optimum / means[m].used;
      }
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const Measure& mean = means[measure_of_[r]];
      rows[r].tally += counts[r].tally;
      rows[r].cpu_seconds += 1e-9 * static_cast<double>(counts[r].nanoseconds);
      rows[r].single = mean.single;
      rows[r].place = places_[r].second;
      if (options_.by_position) rows[r].at = at_[r];
      if (mean.used > 0 && !std::isnan(mean.optimum)) rows[r].optimum = mean.optimum;
    }
    std::size_t positions = 0;
    for (std::uint64_t range = 0; range < ranges_; ++range) {
      bool whole = true;
      for (std::uint64_t part = 0; part < parts_; ++part) whole = whole && group.done[range * parts_ + part];
      if (whole) positions += first_position(range + 1) - first_position(range);
    }
    return positions;
  }

 private:
  /// The values that rows with the same draft sampling and number of drafts share; `single` and `optimum` are sums over
  /// positions.
  struct Measure {
    const AnyDrafter* drafter = nullptr;
    int drafts = 0;
    bool runs = false;  ///< whether the rows have trials: if so, only positions with trials are counted, else all
    double used = 0, single = 0, optimum = 0;

    static auto fields(auto& m) { return std::tie(m.used, m.single, m.optimum); }
  };
  struct RowCounts {
    Tally tally{};
    std::uint64_t nanoseconds = 0;

    static auto fields(auto& c) { return std::tie(c.tally, c.nanoseconds); }
  };
  struct Filled {
    std::vector<RowCounts> rows;
    std::vector<Measure> measures;
  };

  std::uint64_t first_position(std::uint64_t range) const { return before(source_.positions(), range, ranges_); }
  bool stopped() const { return options_.stop && options_.stop->load(std::memory_order_relaxed); }

  /// Returns the tables for position i, reusing the tables of the previous block if that block was at the same
  /// position.
  std::shared_ptr<PreparedPosition> prepared(std::size_t i) {
    {
      const std::lock_guard lock(mutex_);
      if (last_ && last_->position() == i) return last_;
    }
    auto made = std::make_shared<PreparedPosition>(i, source_.pair(i), planned_.size());
    const std::lock_guard lock(mutex_);
    if (last_ && last_->position() == i) return last_;
    if (parts_ > 1) last_ = made;
    return made;
  }

  std::optional<BlockResult> compute(const BlockTask& task) {
    if (stopped()) return std::nullopt;
    const std::uint64_t range = task.block / parts_;
    Filled filled{std::vector<RowCounts>(planned_.size()), measures_};
    BlockResult result;
    for (std::uint64_t i = first_position(range); i < first_position(range + 1) && result.whole; ++i)
      result.whole = at_position(i, task.block % parts_, task, filled);
    append_counters(filled.rows, result.sums);
    result.record = to_bytes(filled.measures);
    return result;
  }

  /// Adds part `part` of the trials at position i; of several positions, nothing if not all of them ran. Returns
  /// whether they ran.
  bool at_position(std::size_t i, std::uint64_t part, const BlockTask& task, Filled& filled) {
    const auto report = [this](std::uint64_t total) {
      const std::lock_guard lock(mutex_);
      if (options_.progress) options_.progress(total);
    };
    const std::shared_ptr<PreparedPosition> at = prepared(i);
    const RatioTable& table = at->table();
    const auto clock = task.threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_PROCESS_CPUTIME_ID;
    BackendChooser places(options_.device, table);
    std::vector<char> counted(measures_.size(), 0);
    std::vector<RowCounts> counts(planned_.size());
    bool whole = true;
    for (std::size_t r = 0; r < planned_.size(); ++r) {
      const SurveyRow& row = planned_[r];
      if (!row.not_run.empty()) {
        counted[measure_of_[r]] = 1;
        continue;
      }
      const std::uint64_t all = share(row.tuples, i, source_.positions()), mine = share(all, part, parts_);
      const Simulation what{*row.verifier, *row.drafter, row.drafts, options_.seed, first_trial(source_.address(i))};
      const std::uint64_t first = before(all, part, parts_);
      const TrialBudget budget{.trials = std::min(mine, task.most_trials),
                               .threads = task.threads,
                               .stop = options_.stop,
                               .progress = [&](std::uint64_t trials) { report(tuples_ + trials); }};
      const Backend place = places.of(*row.verifier, *row.drafter, row.drafts);
      const double start = cpu_clock(clock);
      Tally& tally = counts[r].tally;
      if (place.on_device()) {
        Simulation from = what;
        from.first += first;
        tally = simulate(from, places.table(), budget);
      } else {
        tally = at->simulate(r, what, first, budget);
      }
      if (!place.on_device())
        counts[r].nanoseconds = static_cast<std::uint64_t>(std::llround(1e9 * (cpu_clock(clock) - start)));
      if (tally.trials > 0) counted[measure_of_[r]] = 1;
      whole = whole && tally.trials == budget.trials;
      if (!whole && source_.positions() > 1) return false;
      tuples_ += tally.trials;
      if (!place.asked()) continue;
      const std::lock_guard lock(mutex_);
      if (i < places_[r].first) places_[r] = {i, place};
    }
    for (std::size_t r = 0; r < counts.size(); ++r) {
      filled.rows[r].tally += counts[r].tally;
      filled.rows[r].nanoseconds += counts[r].nanoseconds;
    }
    std::vector<std::optional<double>> optima(measures_.size());
    const double weight = 1 / static_cast<double>(parts_);
    for (std::size_t m = 0; m < measures_.size(); ++m) {
      if (!counted[m]) continue;
      Measure& measure = filled.measures[m];
      optima[m] = at->optimum(m, *measure.drafter, measure.drafts);
      measure.used += weight;
      measure.single += weight * (1 - table.residual_mass(1));
      measure.optimum += weight * optima[m].value_or(std::nan(""));  // NaN if any position has no optimum
    }
    if (options_.by_position)
      for (std::size_t r = 0; r < at_.size(); ++r)
        at_[r][i] = {counts[r].tally.trials, counts[r].tally.draft_emitted, optima[measure_of_[r]]};
    return whole;
  }

  const Source& source_;
  const SurveyOptions& options_;
  const std::vector<SurveyRow>& planned_;
  std::uint64_t ranges_, parts_;
  std::vector<Measure> measures_{};
  std::vector<std::size_t> measure_of_{};  ///< by row
  std::vector<std::pair<std::size_t, Backend>>
      places_;  ///< by row: the first position for which a device was requested, and its backend
  std::vector<std::vector<AcceptanceAt>> at_{};  ///< by row and position; if set, blocks are not divided
  std::shared_ptr<PreparedPosition> last_{};
  std::atomic<std::uint64_t> tuples_{0};
  std::mutex mutex_{};
};

}  // namespace

std::optional<double> SurveyRow::gap_closed() const {
  // Below a gap of 1e-9 the confidence interval of any affordable number of tuples is wider than the gap.
  if (!optimum || *optimum - single < 1e-9 || tally.trials == 0) return std::nullopt;
  return (draft_emitted() - single) / (*optimum - single);
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
  SurveyBlocks blocks(source, options, result.rows);
  const BlockGroup known = blocks.run();
  result.positions = blocks.add_up(known, result.rows);
  result.complete = known.complete();
  return result;
}

}  // namespace draftproof
