// `draftproof simulate`: trials of one verifier at one position: acceptance of each draft, and token counts against p.
#pragma once

#include <ctime>

#include <draftproof/captures/input_error.hpp>
#include <draftproof/cli/register_command.hpp>
#include <draftproof/cli/report/survey_report.hpp>
#include <draftproof/cli/select.hpp>
#include <draftproof/cli/work_choice.hpp>
#include <draftproof/properties/blocks/run_blocks.hpp>
#include <draftproof/properties/estimation/acceptance_estimate.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/properties/simulation/backend.hpp>
#include <draftproof/properties/simulation/sampling_optimum.hpp>
#include <draftproof/sim/random/philox.hpp>

namespace draftproof::commands {

struct Simulate {
  static constexpr std::string_view name = "simulate";
  static constexpr std::string_view about = "simulates one verifier at one position";
  static constexpr std::string_view example = "simulate k_seq zipf:vocabulary=32000 -K 4";

  std::string verifier_name, spec, sampling;
  SourceChoice choice;
  DeviceChoice asked;
  WorkChoice work;
  int drafts = 0, tokens = 8;
  std::size_t position = 0;
  TrialBudget budget{.trials = 10'000'000};
  std::uint64_t estimate = 0;
  bool lazy = false;
  double confidence = 0.95;

  void declare(CLI::App& app) {
    app.add_option("verifier", verifier_name, "name as printed by `draftproof list`")->required()->type_name(no_file);
    app.add_option("source", spec, source_help)->required();
    choice.declare(app);
    app.add_option("--draft-sampling", sampling, "draft sampling [the first that the verifier supports]")
        ->type_name(no_file);
    app.add_option("-K,--drafts", drafts, "number of drafts [4, or the verifier's maximum if that is less]")
        ->check(between(1, max_drafts));
    add_position(app, position);
    app.add_option("--tuples", budget.trials, "number of draft tuples (trials)")
        ->check(many())
        ->capture_default_str();
    app.add_option("--seconds", budget.seconds, "stop after about this many seconds, if --tuples takes longer")
        ->check(positive());
    app.add_option(
           "--estimate", estimate,
           "number of draft tuples for a second estimate of acceptance, far more precise than the count of trials "
           "[65536]")
        ->check(between(16.0, 1e9));
    app.add_flag("--lazy", lazy, "draw a draft only after the earlier ones are rejected: same results, less time");
    asked.declare(app);
    work.declare(app);
    app.add_option("--tokens", tokens, "number of tokens to print")->check(between(0, 1000))->capture_default_str();
    app.add_option("--confidence", confidence, "confidence level of the intervals")
        ->check(between(0.5, 0.999999999))
        ->capture_default_str();
  }

  int run(const Session& session) {
    const TrialDevice* const device = asked.device();
    if (lazy && device)
      throw InputError({.file = "--lazy",
                        .got = "--device " + asked.name,
                        .expected = "either --lazy or --device: a device draws all drafts"});
    if (const auto absent = asked.absent(session)) return *absent;
    const AnyVerifier& verifier = need_verifier(verifier_name);
    const AnyDrafter& drafter = choose_distribution(verifier);
    const Source source = choice.open(spec, session.seed);
    if (drafts == 0) drafts = verifier.info().most_drafts == 0 ? 4 : std::min(4, verifier.info().most_drafts);
    check(verifier, drafter, source);
    const RowPair pair = source.pair(position);
    const SimulationBackend backend = backend_for(verifier, drafter, Supports(pair.proposals), drafts);
    if (backend == SimulationBackend::none)
      throw InputError({.file = verifier_name,
                        .got = std::string(verifier.info().unsupported.simulate),
                        .expected = "fewer tokens (--proposal-top-k) or fewer drafts"});

    if (estimate > 0 && !can_be_estimated(verifier)) {
      const Unsupported& unsupported = verifier.info().unsupported;
      throw InputError({.file = "--estimate",
                        .got = verifier_name + ": " +
                               std::string(!verifier.info().precision_audited()
                                               ? "a mutant, which is not compiled for this enumeration"
                                           : unsupported.explore.empty() ? unsupported.simulate
                                                                         : unsupported.explore),
                        .expected = "a scheme that can be enumerated on tables"});
    }

    const RatioTable table(pair.target, pair.proposals);
    if (lazy && !(backend == SimulationBackend::table && can_be_lazy(verifier, drafter, table, drafts)))
      throw InputError({.file = "--lazy",
                        .got = verifier_name + " on " + std::string(drafter.info().name),
                        .expected = "a scheme that tests its drafts in turn and never emits a rejected one, on "
                                    "drafts drawn one by one from a proposal with at least K tokens"});
    BackendChooser places(device, table);
    const Backend place = places.of(verifier, drafter, drafts);
    const Simulation what{verifier, drafter, drafts, session.seed, first_trial(source.address(position)), true, lazy};
    budget.threads = session.threads;
    budget.stop = &stop_requested();
    if (work.in_blocks(session) && (device || budget.seconds > 0))
      throw InputError(
          {.file = "work in blocks",
           .got = device ? "--device " + asked.name : "--seconds",
           .expected = "neither --device nor --seconds with --shard, --checkpoint or several MPI ranks"});
    Checkpoint* const known = work.open(session, {spec});
    Tally tally;
    const std::clock_t start = std::clock();  // processor time of all threads
    {
      Progress progress("simulating", budget.trials, session.quiet);
      const std::uint64_t usual =
          most_trials_of_block(1 << 20, verifier.info().shared_noise, static_cast<std::size_t>(table.vocabulary()));
      tally.histogram.resize(static_cast<std::size_t>(table.vocabulary()));
      const auto count = [&](std::uint64_t first, std::uint64_t number) {
        TrialBudget part = budget;
        part.trials = number;
        part.progress = [&progress, first](std::uint64_t done) { progress.update(first + done); };
        Simulation range = what;
        range.first += first;
        return place.on_device() ? draftproof::simulate(range, places.table(), part)
               : backend == SimulationBackend::table
                   ? draftproof::simulate(range, table, part)
                   : draftproof::simulate(range, Rows<double>(pair.target, pair.proposals), part);
      };
      tally = count_trials(known, "tuples of " + verifier_name, budget.trials, trials_of_block(budget.trials, usual),
                           std::move(tally), count);
    }
    if (const auto code = work.finish(session)) return *code;
    const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    std::optional<AcceptanceEstimate> estimated;
    if (estimate > 0)
      estimated = estimate_acceptance(
          verifier, drafter, table, drafts,
          {.tuples = estimate, .seed = session.seed, .threads = session.threads, .stop = &stop_requested()});
    session.write(report_simulation(
        {source, position, what, table, tally, optimum_of(drafter, table, drafts), seconds, estimated, place},
        confidence, tokens, session.timings));
    if (tally.impossible > 0) return exit_failed;
    const bool cut_short = stop_requested() || (tally.trials < budget.trials && budget.seconds == 0);
    return cut_short ? exit_undecided : exit_passed;
  }

 private:
  const AnyDrafter& choose_distribution(const AnyVerifier& verifier) const {
    if (!sampling.empty()) {
      const AnyDrafter& drafter = need_drafter(sampling);
      if (!verifier.info().drafts.includes(sampling))
        throw InputError({.file = "--draft-sampling",
                          .got = in_quotes(sampling),
                          .expected = "a draft sampling that `draftproof describe " + verifier_name + "` names"});
      return drafter;
    }
    return usual_drafter(verifier.info());
  }

  void check(const AnyVerifier& verifier, const AnyDrafter& drafter, const Source& source) const {
    need_position(source, position);
    if (!verifier.takes(drafts))
      throw InputError(
          {.file = "--drafts",
           .got = std::to_string(drafts),
           .expected = "at most " + std::to_string(verifier.info().most_drafts) + " for " + verifier_name});
    if (!drafter.defined(static_cast<int>(source.vocabulary()), drafts,
                         static_cast<int>(source.proposal_names().size())))
      throw InputError(
          {.file = "--draft-sampling",
           .got = std::string(drafter.info().name),
           .expected = "a sampling defined for this vocabulary, number of drafts and number of proposals"});
  }
};

}  // namespace draftproof::commands
