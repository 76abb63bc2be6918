// `draftproof check`: the gate. Each verifier gets one verdict per tier. The exit code is the exit code of the worst
// verdict, so a build needs only one call for all verifiers.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include <draftproof/adapters/gate/distribution_checks.hpp>
#include <draftproof/adapters/gate/external_gate.hpp>
#include <draftproof/captures/input_error.hpp>
#include <draftproof/cli/register_command.hpp>
#include <draftproof/cli/report/proof_report.hpp>
#include <draftproof/cli/select.hpp>
#include <draftproof/cli/work_choice.hpp>
#include <draftproof/properties/prover/registry.hpp>

namespace draftproof::commands {

struct Check {
  static constexpr std::string_view name = "check";
  static constexpr std::string_view about =
      "runs the gate: proof, edge and sampled checks of verifiers and components, with one exit code";
  static constexpr std::string_view example = "check k_seq ladder --profile quick";

  std::vector<std::string> names, tiers;
  std::string profile{profiles[0].name};
  GateOptions options;
  DeviceChoice place;
  WorkChoice work;
  std::optional<int> sampled_gates, models, predictions;
  bool mutants = false, user_defined = false, list = false;

  void declare(CLI::App& app) {
    std::vector<std::string> tier_names, profile_names;
    for (const Tier tier : all_tiers) tier_names.emplace_back(to_text(tier));
    for (const Profile& known : profiles) profile_names.emplace_back(known.name);
    app.add_option("verifier", names, "names of verifiers and components, as `draftproof list` prints them [all]")
        ->type_name(no_file);
    app.add_option("--tier", tiers, "tiers to run [all]")->delimiter(',')->check(CLI::IsMember(tier_names));
    app.add_option("--profile", profile,
                   "number of models, random numbers and trials: quick (seconds), pr (minutes), nightly")
        ->check(CLI::IsMember(profile_names))
        ->capture_default_str();
    app.add_option("--draft-sampling", options.draft_samplings,
                   "draft samplings, such as iid or without_replacement [all that each verifier supports]")
        ->type_name(no_file)
        ->delimiter(',');
    app.add_option("--source", options.source,
                   std::string("source of rows for the sampled tier: ") + source_help + " [a generated zipf source]");
    add_position(app, options.position);
    app.add_option("-K,--drafts", options.drafts,
                   "number of drafts in the sampled tier; fewer for verifiers that support fewer")
        ->check(between(1, max_drafts))
        ->capture_default_str();
    app.add_option("--distance", options.distance,
                   "smallest total variation that the sampled tier should detect, with probability about 0.99; sets "
                   "the number of trials instead of the profile")
        ->check(between(1e-6, 0.5));
    app.add_option(
           "--share", options.share,
           "fraction that this run may use of the false-alarm probability 1e-9, which all runs of a build share")
        ->check(between(1e-6, 1.0))
        ->capture_default_str();
    app.add_option("--gates", sampled_gates,
                   "number of checks by random trials (sampled tier) in all runs together, each with an equal part "
                   "of --share [the number in this run]")
        ->check(between(1, 1'000'000));
    app.add_option("--models", models, "number of small models in the proof tier of an adapter [set by --profile]")
        ->check(between(0, 1'000'000));
    app.add_option("--predictions", predictions, adapters::predictions_help)
        ->check(between(adapters::fewest_predictions, adapters::most_predictions));
    app.add_option(
           "--instance", options.adapter_instances,
           fmt::format("model to check an external verifier on before the generated ones, such as '{}' or '{}'",
                       TokenLevel::example, BlockLevel::example))
        ->allow_extra_args(false);
    place.declare(app);
    work.declare(app);
    app.add_flag("--mutants", mutants, "include the mutants (verifiers with a known bug)");
    app.add_flag("--user-defined", user_defined, "only verifiers and components from user libraries");
    app.add_flag("--list", list, "print the names of the gates, run nothing");
  }

  int run(const Session& session) {
    for (const auto& sampling : options.draft_samplings) need_draft_sampling(sampling);
    options.profile = *std::find_if(profiles.begin(), profiles.end(),
                                    [this](const Profile& known) { return known.name == profile; });
    if (models) options.profile.adapter_models = *models;
    if (predictions) options.profile.adapter_predictions = *predictions;
    check_adapter_options(session);
    session.set(options);
    options.device = place.device();
    std::vector<std::unique_ptr<ExternalSubject>> subjects;
    for (const adapters::OpenAdapter& adapter : session.external)
      subjects.push_back(
          std::make_unique<adapters::ExternalGate>(adapter.text, adapter.program, adapter.served, adapter.fresh));
    const std::vector<Gate> gates = selected_gates(subjects);
    const auto sampled =
        std::count_if(gates.begin(), gates.end(), [](const Gate& gate) { return gate.tier == Tier::sampled; });
    options.gates = sampled_gates.value_or(std::max(1, static_cast<int>(sampled)));
    if (sampled_gates && *sampled_gates < sampled)
      throw InputError({.file = "--gates",
                        .got = std::to_string(*sampled_gates),
                        .expected = fmt::format("at least {}, the number of sampled gates in this run", sampled)});
    check_source();
    if (list) {
      session.write(report_gate_list(gates));
      return exit_passed;
    }
    if (const auto absent = place.absent(session)) return *absent;
    if (gates.empty())
      throw InputError(
          {.file = "check", .got = "no gate", .expected = "verifiers and tiers from `draftproof check --list`"});
    if (work.in_blocks(session) && (options.device || !session.external.empty()))
      throw InputError(
          {.file = "work in blocks",
           .got = options.device ? "--device " + place.name : "--adapter",
           .expected = "neither --device nor --adapter with --shard, --checkpoint or several MPI ranks"});
    options.checkpoint = work.open(session, {options.source});
    std::vector<GateResult> results;
    {
      constexpr std::uint64_t parts = 1000;  // units of progress per gate
      // A gate of trials on long rows takes thousands of times as long as one on small models.
      Progress progress("checking", parts * gates.size(), session.quiet, false);
      const double planned = std::exp2(options.profile.log2_trials);
      options.progress = [&](std::uint64_t trials) {
        const double share = std::min(1.0, static_cast<double>(trials) / planned);
        progress.update(parts * results.size() + static_cast<std::uint64_t>(share * double{parts - 1}));
      };
      for (const Gate& gate : gates) {
        if (stop_requested()) break;
        results.push_back(needless(gate, results) ? refuted_before(gate) : run_gate(gate, options));
        progress.update(parts * results.size());
      }
      options.progress = nullptr;
    }
    if (const auto code = work.finish(session)) return *code;
    session.write(report_gates(results, options, session.timings));
    return exit_code(results, gates.size());
  }

 private:
  /// Checks the options for external verifiers before the first gate runs.
  void check_adapter_options(const Session& session) const {
    if (session.external.empty() && (models || predictions || !options.adapter_instances.empty()))
      throw InputError({.file = models        ? "--models"
                                : predictions ? "--predictions"
                                              : "--instance",
                        .got = "no --adapter",
                        .expected = "--adapter with this option"});
    if (options.profile.adapter_models == 0 && options.adapter_instances.empty())
      throw InputError({.file = "--models", .got = "0", .expected = "at least 1, or --instance"});
    for (const adapters::OpenAdapter& adapter : session.external) {
      const adapters::Declaration& declaration = adapter.served->declaration();
      for (const std::string& text : options.adapter_instances) adapters::check_instance(declaration, text);
      for (const std::string& sampling : options.draft_samplings)
        if (sampling != declaration.draft_sampling)
          throw InputError({.file = "--draft-sampling",
                            .got = sampling,
                            .expected = fmt::format("{}, which {} declares for its drafts, or no such option",
                                                    declaration.draft_sampling, declaration.name)});
    }
  }

  /// Throws: InputError if the source cannot be read or lacks the position.
  void check_source() const {
    if (options.source.empty()) return;
    const Source source = Source::open(options.source, {.seed = options.seed});
    need_position(source, options.position);
  }

  std::vector<Gate> selected_gates(const std::vector<std::unique_ptr<ExternalSubject>>& subjects) const {
    // With an adapter and no name, only the external verifiers are checked.
    const SelectedSubjects selected =
        names.empty() && !subjects.empty() ? SelectedSubjects{} : select_of_all(names, mutants);
    std::vector<Gate> gates;
    const auto add = [&](Gate gate, bool builtin) {
      if (user_defined && builtin) return;
      for (const Tier tier : all_tiers) {
        if (!tiers.empty() && std::find(tiers.begin(), tiers.end(), to_text(tier)) == tiers.end()) continue;
        gate.tier = tier;
        if (applies(gate)) gates.push_back(gate);
      }
    };
    for (const AnyVerifier* verifier : selected.position) add({.verifier = verifier}, verifier->builtin());
    for (const AnyPathVerifier* verifier : selected.paths) add({.paths = verifier}, verifier->builtin());
    for (const AnyComponent* component : selected.components) add({.component = component}, component->builtin());
    for (const auto& subject : subjects) add({.external = subject.get()}, false);
    return gates;
  }

  /// Whether to skip the sampled tier of an external verifier that the proof tier has refuted on an instance; never if
  /// --tier is given.
  bool needless(const Gate& gate, const std::vector<GateResult>& results) const {
    return tiers.empty() && gate.external && gate.tier == Tier::sampled &&
           std::any_of(results.begin(), results.end(), [&gate](const GateResult& result) {
             return result.gate.external == gate.external && result.gate.tier == Tier::proof &&
                    result.status == Status::failed;
           });
  }

  static GateResult refuted_before(const Gate& gate) {
    GateResult result{.gate = gate};
    result.status = Status::skipped;
    result.note = "refuted by the proof tier; --tier sampled runs it anyway";
    return result;
  }

  /// Returns the exit code of the worst verdict; gates that did not run count as undecided.
  static int exit_code(const std::vector<GateResult>& results, std::size_t gates) {
    const auto any = [&results](Status status) {
      return std::any_of(results.begin(), results.end(),
                         [status](const GateResult& result) { return result.status == status; });
    };
    for (const Status status : {Status::failed, Status::undecided})
      if (any(status)) return exit_code_of(status);
    if (results.size() < gates) return exit_undecided;
    return exit_code_of(any(Status::passed) ? Status::passed : Status::skipped);
  }
};

}  // namespace draftproof::commands
