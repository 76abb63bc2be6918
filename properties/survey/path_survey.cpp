#include <draftproof/properties/survey/path_survey.hpp>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include <draftproof/captures/input_error.hpp>
#include <draftproof/properties/blocks/run_blocks.hpp>
#include <draftproof/properties/paths/path_analysis.hpp>
#include <draftproof/properties/paths/tree_optimum.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/properties/survey/survey.hpp>

namespace draftproof {

namespace {

bool distribution_wanted(const PathSurveyOptions& options, const Info& info, const TreeDrafterInfo& sampling) {
  if (!options.draft_samplings.empty())
    return takes_trees(info, sampling) && wanted(options.draft_samplings, sampling.name);
  // The default is independent paths if the scheme supports them, so that schemes are comparable; else the scheme's
  // first sampling.
  const std::vector<const AnyTreeDrafter*> samplings = path_registry().drafters_of(info);
  const auto common =
      std::find_if(samplings.begin(), samplings.end(), [](const auto* d) { return d->info().independent_paths; });
  return sampling.name == (common != samplings.end() ? *common : samplings.front())->info().name;
}

void check(const PathSource& source, const PathSurveyOptions& options) {
  for (const auto& name : options.verifiers)
    if (!path_registry().verifier(name) && name != StartOracle::info.name)
      throw InputError(
          {.file = "--verifier", .got = in_quotes(name), .expected = "a verifier of paths from `draftproof list`"});
  for (const auto& name : options.draft_samplings) {
    const AnyTreeDrafter* drafter = path_registry().drafter(name);
    if (!drafter)
      throw InputError(
          {.file = "--draft-sampling", .got = in_quotes(name), .expected = "a drafter from `draftproof list`"});
    if (source.stored_trees() && !drafter->info().independent_paths)
      throw InputError({.file = "--draft-sampling",
                        .got = in_quotes(name),
                        .expected = "independent paths, as in the stored trees"});
  }
  if (options.length > source.longest())
    throw InputError({.file = "--length",
                      .got = std::to_string(options.length),
                      .expected = fmt::format("at most {} for {}", source.longest(), source.name())});
  if (source.stored_trees() && options.iterations > 1)
    throw InputError({.file = "--iterations",
                      .got = std::to_string(options.iterations),
                      .expected = fmt::format("1 for {}, whose trees are stored", source.name())});
  for (const int drafts : options.drafts)
    if (drafts > source.most_paths())
      throw InputError({.file = "--drafts",
                        .got = std::to_string(drafts),
                        .expected = fmt::format("at most {} for {}", source.most_paths(), source.name())});
}

/// Returns the number of iterations of a trial.
int iterations_of(const PathSource& source, const PathSurveyOptions& options, const AnyPathVerifier& verifier) {
  if (source.stored_trees()) return 1;
  if (options.iterations > 0) return options.iterations;
  return source.starts() > 0 && !verifier.stateful() ? 1 : 8;
}

/// Returns the number of steps of a row. With shared noise, drafter and verifier read V K random numbers per drafted
/// level, so affordable_trials() limits the number of steps, to 16,384 at V = 512, K = L = 4.
std::uint64_t planned_steps(const PathSource& source, const PathSurveyOptions& options, const StepRow& row) {
  const auto words = static_cast<std::uint64_t>(source.vocabulary()) * static_cast<std::uint64_t>(row.drafts) *
                     static_cast<std::uint64_t>(options.length);
  return affordable_trials(options.steps, *row.verifier, *row.drafter, static_cast<std::uint64_t>(source.starts()),
                           words);
}

/// Largest number of possible trees from one start for which the optimum is computed. Each start needs linear programs,
/// which take milliseconds.
constexpr double affordable_trees = 1024;
constexpr int affordable_starts = 64;

/// Whether the optimum is defined (starts are fixed, and a trial has one iteration) and affordable.
bool has_optimum(const PathSource& source, const PathSurveyOptions& options, const AnyPathVerifier& verifier,
                 int drafts) {
  return source.starts() > 0 && source.starts() <= affordable_starts &&
         iterations_of(source, options, verifier) == 1 &&
         std::pow(source.vocabulary(), drafts * options.length) <= affordable_trees;
}

/// The optimum of a tree sampling: the means of the bounds over the starts, and an optimal plan for each start.
struct PathOptimum {
  PathBounds mean{};
  StartOracle oracle{};
};

std::optional<PathOptimum> optimum_of(const PathSource& source, const ConditionalModel<Rows<double>>& conditionals,
                                      const AnyTreeDrafter& drafter, const TreeShape& shape) {
  PathOptimum optimum;
  for (int start = 0; start < source.starts(); ++start) {
    const auto sampling = enumerate_tree_sampling(drafter, conditionals, shape, start);
    if (!sampling) return std::nullopt;
    const TreeCertificate certificate = tree_optimum(*sampling, Sight::one_shot);
    if (const std::string why = reject(*sampling, Sight::one_shot, certificate); !why.empty())
      throw std::logic_error("lp_oracle: the plan's certificate is invalid: " + why);
    const PathBounds bounds = path_bounds(certificate, tree_optimum(*sampling, Sight::whole_block));
    optimum.mean.upper += bounds.upper / source.starts();
    optimum.mean.whole_block_upper += bounds.whole_block_upper / source.starts();
    optimum.oracle.plans.push_back(std::make_shared<const OraclePlan>(*sampling, certificate));
  }
  return optimum;
}

/// Adds the optima to the rows and the plans to the rows of the oracle. Computes them once for each tree sampling and
/// number of drafts.
void find_optima(const PathSource& source, const PathSurveyOptions& options, std::vector<StepRow>& rows) {
  std::unique_ptr<ConditionalModel<Rows<double>>> plain;
  std::map<std::pair<const AnyTreeDrafter*, int>, std::optional<PathOptimum>> known;
  for (StepRow& row : rows) {
    if (!has_optimum(source, options, *row.verifier, row.drafts)) continue;
    if (!plain && !(plain = source.plain())) break;
    const auto [found, fresh] = known.try_emplace({row.drafter, row.drafts});
    if (fresh)
      found->second = optimum_of(source, *plain, *row.drafter, shape_of(*row.drafter, row.drafts, options.length));
    const auto& optimum = found->second;
    if (!optimum) continue;
    row.optimum = optimum->mean.upper;
    row.full_information = optimum->mean.whole_block_upper;
    if (!row.oracle) continue;
    row.oracle = std::make_shared<const PathVerifierOf<StartOracle>>(Kind::verifier, optimum->oracle);
    row.verifier = row.oracle.get();
  }
  std::erase_if(rows, [](const StepRow& row) { return row.oracle && !row.optimum; });
}

/// Runs the trials of a row in blocks, and returns the counts of the blocks that are computed.
StepTally tally_of(const StepRun& run, const PathSource& source, const TrialBudget& budget, Checkpoint* known) {
  constexpr std::uint64_t usual = 1 << 14;
  const int branches = run.shape.branching.empty() ? 1 : run.shape.branching.front();
  const std::string group = fmt::format("steps of {} on {} with {} x {} of length {} on {}", run.verifier.info().name,
                                        run.drafter.info().name, run.shape.drafts, branches, run.shape.length,
                                        source.describe().value("file", source.name()));
  return count_trials(known, group, budget.trials, trials_of_block(budget.trials, usual), StepTally::none(source),
                      [&](std::uint64_t first, std::uint64_t number) {
                        TrialBudget part = budget;
                        part.trials = number;
                        part.progress = [&](std::uint64_t trials) { budget.progress(first + trials); };
                        return simulate_paths(run, source, part, first);
                      });
}

/// Adds a row of the oracle for each number of drafts of the options, and for those of other rows with `drafter`.
void add_oracle(const PathSource& source, const PathSurveyOptions& options, const AnyTreeDrafter& drafter,
                std::vector<StepRow>& rows) {
  const auto oracle = std::make_shared<const PathVerifierOf<StartOracle>>(Kind::verifier, StartOracle{});
  if (!wanted(options.verifiers, oracle->info().name)) return;
  std::set<int> numbers;
  for (const StepRow& row : rows)
    if (row.drafter == &drafter) numbers.insert(row.drafts);
  if (distribution_wanted(options, oracle->info(), drafter.info()))
    numbers.insert(options.drafts.begin(), options.drafts.end());
  for (const int drafts : numbers)
    if (has_optimum(source, options, *oracle, drafts))
      rows.push_back({.verifier = oracle.get(), .drafter = &drafter, .drafts = drafts, .oracle = oracle});
}

}  // namespace

TreeShape shape_of(const AnyTreeDrafter& drafter, int drafts, int length) {
  TreeShape shape{.drafts = drafts, .length = length, .branching = {}, .stem = 0};
  if (drafter.info().fixed) shape.drafts = drafts * length;
  if (drafter.info().branches) {
    shape.branching.assign(static_cast<std::size_t>(length), 1);
    shape.branching.front() = drafts;
  }
  if (drafter.info().has_stem) shape.stem = length / 2;
  if (drafter.info().has_fixed_children) {
    // A node has drafts - 1 fixed children and one child that is drawn.
    shape.fixed = drafts - 1;
    shape.branching.assign(static_cast<std::size_t>(length), drafts);
    if (drafter.info().prunes) shape.nodes = drafts * length;
  }
  return shape;
}

std::vector<StepRow> plan_steps(const PathSource& source, const PathSurveyOptions& options) {
  check(source, options);
  std::vector<StepRow> rows;
  for (const auto& drafter : path_registry().drafters()) {
    for (const auto& verifier : path_registry().verifiers()) {
      const Info& info = verifier->info();
      if (!asked_for(options, *verifier) || !distribution_wanted(options, info, drafter->info()) ||
          !info.unsupported.simulate.empty())
        continue;
      if (source.stored_trees() && !drafter->info().independent_paths) continue;
      std::set<int> numbers;
      for (const int drafts : options.drafts)
        numbers.insert(info.most_drafts > 0 ? std::min(drafts, info.most_drafts) : drafts);
      for (const int drafts : numbers)
        if (verifier->takes(drafts))
          rows.push_back({.verifier = verifier.get(), .drafter = drafter.get(), .drafts = drafts});
    }
    add_oracle(source, options, *drafter, rows);
  }
  return rows;
}

std::vector<StepRow> survey_paths(const PathSource& source, const PathSurveyOptions& options) {
  std::vector<StepRow> rows = plan_steps(source, options);
  find_optima(source, options, rows);
  std::uint64_t done = 0;
  for (StepRow& row : rows) {
    if (options.stop && options.stop->load(std::memory_order_relaxed)) break;
    const auto per_trial = static_cast<std::uint64_t>(iterations_of(source, options, *row.verifier));
    const StepRun run{.verifier = *row.verifier,
                      .drafter = *row.drafter,
                      .shape = shape_of(*row.drafter, row.drafts, options.length),
                      .seed = options.seed,
                      .iterations = static_cast<int>(per_trial)};
    const std::uint64_t steps = planned_steps(source, options, row);
    const TrialBudget budget{
        .trials = whole_rounds((steps + per_trial - 1) / per_trial, static_cast<std::uint64_t>(source.starts())),
        .threads = options.threads,
        .stop = options.stop,
        .progress =
            [&](std::uint64_t trials) {
              if (options.progress) options.progress(done + trials * per_trial);
            },
        .shard = 64};
    const std::clock_t start = std::clock();  // processor time of all threads
    row.tally = tally_of(run, source, budget, options.checkpoint);
    row.cpu_seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    done += options.steps;
  }
  return rows;
}

}  // namespace draftproof
