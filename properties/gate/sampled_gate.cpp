#include <draftproof/properties/gate/sampled_gate.hpp>
#include <draftproof/properties/statistics/log_mean_exp.hpp>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include <draftproof/properties/blocks/run_blocks.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/properties/simulation/backend.hpp>
#include <draftproof/properties/simulation/sampled_trials.hpp>
#include <draftproof/properties/statistics/count_models.hpp>
#include <draftproof/properties/statistics/error_budget.hpp>
#include <draftproof/properties/statistics/sample_size.hpp>
#include <draftproof/sim/trials/run_trials.hpp>

namespace draftproof {

namespace {

/// Largest number of trials of a block. At V = 262,144 the counters take a tenth of the time of a block.
constexpr std::uint64_t usual_block = std::uint64_t{1} << 21;
constexpr double power = 0.99;                   ///< probability of detecting a reported or requested distance
constexpr std::uint64_t smallest_paired = 4096;  ///< fewest trials of a batch that counts pairs of trials

/// Returns the mean number of pairs that a batch of n planned trials counts, 3 n / 8. The number of counted pairs is
/// drawn from a Poisson distribution, because half of the Poisson number of trials is not Poisson. The trials form
/// n / 2 pairs on average. At n = 4096 the two means are ten standard deviations apart, and more for larger n, so a
/// batch has too few pairs with probability below 1e-20.
std::uint64_t pairs_planned(std::uint64_t planned) { return planned < smallest_paired ? 0 : planned * 3 / 8; }

/// Counts batch.count trials on a device, from trial batch.first + `from` on; fewer after an interrupt.
SampledCounts tallied(const TrialTable& on, const DeviceTrials& batch, std::uint64_t from, const SampledNull& null,
                      std::uint64_t pairs, const std::atomic<bool>* stop) {
  SampledCounts counts = null.nothing();
  in_rounds({.trials = batch.count, .stop = stop}, [&](std::uint64_t done, std::uint64_t count) {
    DeviceTrials round = batch;
    round.first += from + done;
    round.count = count;
    on.count(round, null, pairs - std::min(pairs, (from + done) / 2), counts);
  });
  return counts;
}

/// Requires that every trial was counted in one cell or as impossible. Throws: std::logic_error if counts were lost,
/// because the remaining counts are then no evidence.
void require_conserved(const SampledCounts& counts) {
  std::uint64_t cells = 0;
  for (const auto count : counts.cells.cells()) cells += count;
  if (cells + counts.impossible != counts.trials || counts.draft_emitted > counts.trials)
    throw std::logic_error(fmt::format(
        "counts of a gate do not add up: cells of {} and {} impossible, of {} trials, {} with a drafted token", cells,
        counts.impossible, counts.trials, counts.draft_emitted));
}

/// Returns the scheme whose distribution of (accepted draft, token) the counts must have: of a mutant the one that it
/// is derived from, of a registered verifier its own. Of other verifiers it is unknown, whatever their names, and a
/// program that is called does not report which of several equal drafts it accepted.
std::string_view scheme_of(const AnyVerifier& verifier) {
  const Info& info = verifier.info();
  if (!info.derived_from.empty()) return info.derived_from;
  return registry().verifier(info.name) == &verifier ? info.name : std::string_view();
}

/// Returns the number of trials in the options, or, if they have a distance, the number of trials that detects the
/// distance. The latter is a multiple of 2^16, so that rounding errors in the computed power do not change it.
std::uint64_t planned_trials(const SampledGateOptions& options, const RatioTable& table) {
  if (!(options.distance > 0)) return static_cast<std::uint64_t>(options.trials);
  std::vector<double> target;
  for (Token x = 0; x < table.vocabulary(); ++x) target.push_back(table.target(x));
  const double trials =
      trials_for_any_shape(two_thirds_norm(target), options.distance, {.alpha = options.alpha, .power = power});
  return static_cast<std::uint64_t>(std::ceil(trials * 0x1p-16)) << 16;
}

double combined(const std::vector<GateComponent>& components) {
  std::vector<double> logs, weights;
  for (const GateComponent& component : components) {
    logs.push_back(component.log_e);
    weights.push_back(component.weight);
  }
  return log_weighted_mean_exp(logs, weights);
}

}  // namespace

const GateComponent& SampledVerdict::strongest() const {
  return *std::max_element(components.begin(), components.end(),
                           [](const GateComponent& a, const GateComponent& b) { return a.log_e < b.log_e; });
}

template <class L>
SampledVerdict sampled_gate(const AnyVerifier& verifier, const AnyDrafter& drafter, const L& distributions,
                            const RatioTable& table, int drafts, const SampledGateOptions& options) {
  const Info& info = verifier.info();
  const std::string_view scheme = options.imitates.empty() ? scheme_of(verifier) : options.imitates;
  // Built on first use, because most processes of a sharded run never run a batch of this gate.
  std::optional<SampledNull> null_made;
  std::optional<SampledTrials<L>> run_made;
  const auto null = [&]() -> const SampledNull& {
    return null_made ? *null_made : null_made.emplace(scheme, drafter, table, drafts);
  };
  const auto run = [&]() -> const SampledTrials<L>& {
    return run_made ? *run_made
                    : run_made.emplace(verifier, drafter, distributions, drafts, options.seed, options.first);
  };
  const std::uint64_t budget = planned_trials(options, table);
  const std::uint64_t block_trials =
      most_trials_of_block(usual_block, info.shared_noise, static_cast<std::size_t>(table.vocabulary()));
  GateSchedule schedule(std::min(options.first_batch, budget), budget, ErrorBudget::log_threshold_at(options.alpha));
  const bool partial = computes_part(options.checkpoint);
  std::optional<SampledCounts> counts;
  SampledVerdict verdict;
  double pairs = 0;
  bool stopped = false;
  for (std::uint64_t batch = 0; const std::uint64_t planned = schedule.next(); ++batch) {
    // Random numbers 2 b and 2 b + 1 give the numbers of trials and of pairs of batch b.
    const std::uint64_t trials = poisson_count(planned, options.seed, 2 * batch);
    const std::uint64_t wanted = pairs_planned(planned);
    const std::uint64_t quota = wanted == 0 ? 0 : poisson_count(wanted, options.seed, 2 * batch + 1);
    const auto count_range = [&](std::uint64_t first, std::uint64_t number) {
      const SampledNull& distribution = null();
      if (options.on)
        return tallied(*options.on, {verifier, drafter, drafts, options.seed, options.first + verdict.trials, number},
                       first, distribution, quota, options.stop);
      const TrialBudget part{.trials = number, .threads = options.threads, .stop = options.stop};
      return run_trials(part, distribution.nothing(),
                        [&, &trials_of = run()](std::uint64_t from, std::uint64_t count, SampledCounts& into) {
                          trials_of.count(distribution, verdict.trials, quota, first + from, count, into);
                        });
    };
    const SampledCounts added =
        count_trials(options.checkpoint, fmt::format("{}, batch {:02}", options.group, batch), trials, block_trials,
                     partial ? SampledCounts{{0, 1}} : null().nothing(), count_range);
    if (partial) {
      stopped = options.stop && options.stop->load(std::memory_order_relaxed);
      if (stopped) break;
      verdict.trials += trials;
      schedule.observe(0);
      continue;
    }
    if (added.trials < trials) {
      stopped = true;
      break;
    }
    if (!counts) counts = null().nothing();
    *counts += added;
    require_conserved(*counts);
    verdict.trials += trials;
    pairs += static_cast<double>(wanted);
    verdict.components = null().evidence(*counts, static_cast<double>(schedule.exposure() + planned), pairs);
    verdict.log_e = combined(verdict.components);
    schedule.observe(verdict.log_e);
    if (options.progress) options.progress(verdict.trials);
    if (counts->impossible > 0) break;
  }
  verdict.state = schedule.state();
  verdict.undecided = stopped || schedule.undecided();
  verdict.exposure = schedule.exposure();
  if (partial) return verdict;
  verdict.optimum = null().optimum();
  if (verdict.trials == 0) return verdict;
  verdict.impossible = counts->impossible;
  const auto exposure = static_cast<double>(verdict.exposure);
  verdict.acceptance = static_cast<double>(counts->draft_emitted) / static_cast<double>(verdict.trials);
  verdict.smallest_distance =
      distance_of_e_value(two_thirds_norm(null().target()), exposure, -std::log(options.alpha), power);
  if (verdict.state != GateState::ok && verdict.strongest().of_cells) {
    verdict.worst = null().suite().worst_cell(counts->cells, exposure);
    if (verdict.worst->observed > 0)
      verdict.example = run().find(*verdict.worst, counts->cells.paths(), verdict.trials, options.stop);
  }
  return verdict;
}

template SampledVerdict sampled_gate(const AnyVerifier&, const AnyDrafter&, const RatioTable&, const RatioTable&, int,
                                     const SampledGateOptions&);
template SampledVerdict sampled_gate(const AnyVerifier&, const AnyDrafter&, const Rows<double>&, const RatioTable&,
                                     int, const SampledGateOptions&);

}  // namespace draftproof
