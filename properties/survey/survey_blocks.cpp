#include <draftproof/properties/survey/survey_blocks.hpp>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <draftproof/properties/simulation/backend.hpp>
#include <draftproof/properties/simulation/law_optimum.hpp>
#include <draftproof/properties/simulation/tally_blocks.hpp>
#include <draftproof/sim/random/philox.hpp>

namespace draftproof {
namespace {

constexpr std::uint64_t most_ranges = std::uint64_t{1} << 14;
/// Most trials of a row in a block: hundreds of times what the tables of a position cost.
constexpr std::uint64_t usual_part = std::uint64_t{1} << 20;

double cpu_clock(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Share i of `whole` in `parts`.
std::uint64_t share(std::uint64_t whole, std::uint64_t i, std::uint64_t parts) {
  return whole / parts + (i < whole % parts);
}
/// The sum of the shares before i.
std::uint64_t before(std::uint64_t whole, std::uint64_t i, std::uint64_t parts) {
  return whole / parts * i + std::min(i, whole % parts);
}

}  // namespace

/// The tables of a position, and schemes prepared for them: blocks of its trials share both, and so do threads.
class SurveyBlocks::Prepared {
 public:
  Prepared(std::size_t position, RowPair pair, std::size_t rows)
      : position_{position},
        pair_{std::move(pair)},
        table_(pair_.target, pair_.proposals),
        on_table_(rows),
        on_rows_(rows) {}

  std::size_t position() const { return position_; }
  const RatioTable& table() const { return table_; }
  /// Trials `first` .. of row r of the survey, from the address `what.first` on.
  Tally simulate(std::size_t r, const Simulation& what, std::uint64_t first, const TrialBudget& budget) {
    if (what.verifier.info().unsupported.simulate.empty())
      return run(made(on_table_[r], what, table_), first, budget);
    return run(made(on_rows_[r], what, rows()), first, budget);
  }

 private:
  template <class L>
  using Made = std::unique_ptr<Simulator<L>>;

  /// For schemes that do not run on the table.
  const Rows<double>& rows() {
    const std::lock_guard lock(mutex_);
    return rows_ ? *rows_ : rows_.emplace(pair_.target, pair_.proposals);
  }
  template <class L>
  const Simulator<L>& made(Made<L>& simulator, const Simulation& what, const L& laws) {
    const std::lock_guard lock(mutex_);
    if (!simulator) simulator = std::make_unique<Simulator<L>>(what, laws);
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
  std::mutex mutex_{};
};

std::shared_ptr<SurveyBlocks::Prepared> SurveyBlocks::prepared(std::size_t i) {
  {
    const std::lock_guard lock(mutex_);
    if (last_ && last_->position() == i) return last_;
  }
  auto made = std::make_shared<Prepared>(i, source_.pair(i), planned_.size());
  const std::lock_guard lock(mutex_);
  if (last_ && last_->position() == i) return last_;
  if (parts_ > 1) last_ = made;
  return made;
}

SurveyBlocks::SurveyBlocks(const Source& source, const SurveyOptions& options, const std::vector<SurveyRow>& rows)
    : source_{source},
      options_{options},
      planned_{rows},
      ranges_{std::min<std::uint64_t>(source.positions(), most_ranges)},
      parts_{1},
      places_(rows.size(), {std::numeric_limits<std::size_t>::max(), Backend{}}) {
  if (options.by_position) at_.assign(rows.size(), std::vector<AcceptanceAt>(source.positions()));
  for (const SurveyRow& row : rows) {
    if (options.ledger && row.not_run.empty())
      parts_ = std::max(parts_,
                        row.tuples / std::max<std::uint64_t>(1, source.positions()) /
                            most_trials_of_block(usual_part, row.verifier->info().shared_noise, source.vocabulary()));
    const Measure measure{row.drafter, row.drafts, row.not_run.empty()};
    const auto known = std::find_if(measures_.begin(), measures_.end(), [&measure](const Measure& other) {
      return other.drafter == measure.drafter && other.drafts == measure.drafts && other.runs == measure.runs;
    });
    measure_of_.push_back(static_cast<std::size_t>(known - measures_.begin()));
    if (known == measures_.end()) measures_.push_back(measure);
  }
}

std::string SurveyBlocks::name() const {
  const nlohmann::json about = source_.describe();
  return fmt::format("survey of {} with {}", about.value("file", source_.name()),
                     fmt::join(source_.proposal_names(), ", "));
}

std::uint64_t SurveyBlocks::first_position(std::uint64_t range) const {
  return before(source_.positions(), range, ranges_);
}

bool SurveyBlocks::run(BlockLedger& ledger) {
  const int threads = options_.threads > 0 ? options_.threads : default_threads();
  const std::uint64_t blocks = ranges_ * parts_;
  std::uint64_t tuples = 0;  // the most of a scheme
  for (const SurveyRow& row : planned_)
    if (row.not_run.empty()) tuples = std::max(tuples, row.tuples);
  const double trials = static_cast<double>(tuples) / static_cast<double>(source_.positions() * parts_);
  // Threads divide the blocks, or the trials of each if there are too few.
  const bool by_block = blocks >= 2 * static_cast<std::uint64_t>(threads);
  return ledger.run(name(), blocks, trials, by_block ? threads : 1,
                    [&](std::uint64_t block, std::uint64_t most_trials) {
                      return compute(block, most_trials, by_block ? 1 : threads);
                    });
}

std::optional<BlockResult> SurveyBlocks::compute(std::uint64_t block, std::uint64_t most_trials, int threads) {
  const auto stopped = [this] { return options_.stop && options_.stop->load(std::memory_order_relaxed); };
  if (stopped()) return std::nullopt;
  const std::uint64_t range = block / parts_;
  Filled filled{planned_, measures_};
  bool whole = true;
  for (std::uint64_t i = first_position(range); i < first_position(range + 1) && whole; ++i)
    whole = at_position(i, block % parts_, most_trials, threads, filled);
  BlockResult result{.sums = sums_of(filled.rows)};
  for (const Measure& m : filled.measures)
    result.record += fmt::format("{:a} {:a} {:a} ", m.used, m.single, m.optimum);
  if (whole) return result;
  const std::lock_guard lock(mutex_);
  cut_short_.push_back(std::move(result));
  return std::nullopt;
}

bool SurveyBlocks::at_position(std::size_t i, std::uint64_t part, std::uint64_t most_trials, int threads,
                               Filled& filled) {
  const auto report = [this](std::uint64_t total) {
    const std::lock_guard lock(mutex_);
    if (options_.progress) options_.progress(total);
  };
  const std::shared_ptr<Prepared> at = prepared(i);
  const RatioTable& table = at->table();
  const auto clock = threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_PROCESS_CPUTIME_ID;
  BackendChooser places(options_.device, table);
  std::vector<char> counted(measures_.size(), 0);
  std::vector<Tally> tallies(filled.rows.size());
  bool whole = true;
  for (std::size_t r = 0; r < filled.rows.size(); ++r) {
    SurveyRow& row = filled.rows[r];
    if (!row.not_run.empty()) {
      counted[measure_of_[r]] = 1;
      continue;
    }
    const std::uint64_t all = share(row.tuples, i, source_.positions()), mine = share(all, part, parts_);
    const Simulation what{*row.verifier, *row.drafter, row.drafts, options_.seed, first_trial(source_.address(i))};
    const std::uint64_t first = before(all, part, parts_);
    const TrialBudget budget{.trials = std::min(mine, most_trials),
                             .threads = threads,
                             .stop = options_.stop,
                             .progress = [&](std::uint64_t trials) { report(tuples_ + trials); }};
    const Backend place = places.of(*row.verifier, *row.drafter, row.drafts);
    const double start = cpu_clock(clock);
    Tally& tally = tallies[r];
    if (place.on_device()) {
      Simulation from = what;
      from.first += first;
      tally = simulate(from, places.table(), budget);
    } else {
      tally = at->simulate(r, what, first, budget);
    }
    if (!place.on_device()) row.cpu_seconds += cpu_clock(clock) - start;
    if (tally.trials > 0) counted[measure_of_[r]] = 1;
    whole = whole && tally.trials == budget.trials;
    tuples_ += tally.trials;
    row.tally += tally;
    if (!place.asked()) continue;
    const std::lock_guard lock(mutex_);
    if (i < places_[r].first) places_[r] = {i, place};
  }
  std::vector<std::optional<double>> optima(measures_.size());
  for (std::size_t m = 0; m < measures_.size() && part == 0; ++m) {
    if (!counted[m]) continue;
    Measure& measure = filled.measures[m];
    optima[m] = optimum_of(*measure.drafter, table, measure.drafts);
    measure.used += 1;
    measure.single += 1 - table.residual_mass(1);
    measure.optimum += optima[m].value_or(std::nan(""));  // unknown anywhere is unknown
  }
  if (options_.by_position)
    for (std::size_t r = 0; r < at_.size(); ++r)
      at_[r][i] = {tallies[r].trials, tallies[r].members, optima[measure_of_[r]]};
  return whole;
}

std::vector<std::uint64_t> SurveyBlocks::sums_of(const std::vector<SurveyRow>& rows) {
  std::vector<std::uint64_t> sums;
  for (const SurveyRow& row : rows) {
    append(row.tally, row.drafts, sums);
    sums.push_back(static_cast<std::uint64_t>(std::llround(1e9 * row.cpu_seconds)));
  }
  return sums;
}

void SurveyBlocks::add_sums(const std::vector<std::uint64_t>& sums, std::vector<SurveyRow>& rows) {
  if (sums.empty()) return;
  auto next = sums.begin();
  for (SurveyRow& row : rows) {
    next = add(next, row.drafts, row.tally);
    row.cpu_seconds += 1e-9 * static_cast<double>(*next++);
  }
}

void SurveyBlocks::add_record(const std::string& record, std::vector<Measure>& measures) {
  const char* at = record.c_str();
  const auto next = [&at] {
    char* end = nullptr;
    const double value = std::strtod(at, &end);
    at = end;
    return value;
  };
  for (Measure& m : measures)
    for (double* to : {&m.used, &m.single, &m.optimum}) *to = next();
}

std::size_t SurveyBlocks::add_up(const BlockLedger& ledger, std::vector<SurveyRow>& rows) const {
  const BlockGroup& group = ledger.group(name());
  std::vector<const std::string*> records;
  for (const auto& [block, record] : group.records) records.push_back(&record);
  for (const BlockResult& cut : cut_short_) records.push_back(&cut.record);
  add_sums(group.sums, rows);
  for (const BlockResult& cut : cut_short_) add_sums(cut.sums, rows);

  // The number of positions first: each adds its part of the mean.
  std::vector<Measure> means = measures_, one = measures_;
  for (const std::string* record : records) {
    add_record(*record, one);
    for (std::size_t m = 0; m < means.size(); ++m) means[m].used += one[m].used;
  }
  for (const std::string* record : records) {
    add_record(*record, one);
    for (std::size_t m = 0; m < means.size(); ++m) {
      if (one[m].used == 0) continue;
      means[m].single += one[m].single / means[m].used;
      means[m].optimum += one[m].optimum / means[m].used;
    }
  }
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const Measure& mean = means[measure_of_[r]];
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

}  // namespace draftproof
