// `draftproof check`: the gate. Each verifier is examined at each tier and gets one verdict. The exit code is that of
// the worst verdict, so a build needs one call.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include <draftproof/adapters/gate/foreign_gate.hpp>
#include <draftproof/adapters/gate/law_checks.hpp>
#include <draftproof/captures/input_error.hpp>
#include <draftproof/cli/register_command.hpp>
#include <draftproof/cli/report/proof_report.hpp>
#include <draftproof/cli/select.hpp>
#include <draftproof/cli/work_choice.hpp>
#include <draftproof/properties/prover/registry.hpp>

namespace draftproof::commands {

struct Check {
  static constexpr std::string_view name = "check";
  static constexpr std::string_view about = "the gate: verifiers and components held to every tier, one verdict";

  std::vector<std::string> names, tiers;
  std::string profile{profiles[0].name};
  GateOptions options;
  DeviceChoice place;
  WorkChoice work;
  std::optional<int> sampled_gates, models, predictions;
  bool mutants = false, own = false, list = false;

  void declare(CLI::App& app) {
    std::vector<std::string> tier_names, profile_names;
    for (const Tier tier : all_tiers) tier_names.emplace_back(to_text(tier));
    for (const Profile& known : profiles) profile_names.emplace_back(known.name);
    app.add_option("verifier", names,
                   "verifiers, of one position or of paths, and components to check; all if none is named")
        ->type_name(no_file);
    app.add_option("--tier", tiers, "tiers; all if none is named")->delimiter(',')->check(CLI::IsMember(tier_names));
    app.add_option("--profile", profile, "how much is asked")
        ->check(CLI::IsMember(profile_names))
        ->capture_default_str();
    app.add_option("--law", options.laws, "draft laws; those each verifier is written for if none is named")
        ->type_name(no_file)
        ->delimiter(',');
    app.add_option("--source", options.source,
                   std::string("where the sampled tier draws, ") + source_help + "; the standard pair if not given");
    add_position(app, options.position);
    app.add_option("-K,--drafts", options.drafts, "drafts of the sampled tier, or the most a verifier takes")
        ->check(between(1, max_drafts))
        ->capture_default_str();
    app.add_option(
           "--distance", options.distance,
           "total variation that the sampled tier finds in any shape with probability about 0.99: it sets the "
           "trials, in place of the profile")
        ->check(between(1e-6, 0.5));
    app.add_option("--share", options.share, "of the false-alarm probability of 1e-9 of a whole build")
        ->check(between(1e-6, 1.0))
        ->capture_default_str();
    app.add_option("--gates", sampled_gates, "sampled gates that spend the share; those of this run if not given")
        ->check(between(1, 1'000'000));
    app.add_option("--models", models, "toy models of the proof tier of a door; those of the profile if not given")
        ->check(between(0, 1'000'000));
    app.add_option("--predictions", predictions, adapters::predictions_help)
        ->check(between(adapters::fewest_predictions, adapters::most_predictions));
    app.add_option("--instance", options.door_instances,
                   fmt::format("asked of a door before the generated models, as in '{}' or '{}'", TokenLevel::example,
                               BlockLevel::example))
        ->allow_extra_args(false);
    place.declare(app);
    work.declare(app);
    app.add_flag("--mutants", mutants, "the mutants too");
    app.add_flag("--own", own, "only what does not come with draftproof");
    app.add_flag("--list", list, "name the gates, run none");
  }

  int run(const Session& session) {
    for (const auto& law : options.laws) need_law(law);
    options.profile = *std::find_if(profiles.begin(), profiles.end(),
                                    [this](const Profile& known) { return known.name == profile; });
    if (models) options.profile.door_models = *models;
    if (predictions) options.profile.door_predictions = *predictions;
    check_door_options(session);
    session.set(options);
    options.device = place.device();
    std::vector<std::unique_ptr<ForeignSubject>> subjects;
    for (const adapters::OpenDoor& door : session.doors)
      subjects.push_back(std::make_unique<adapters::ForeignGate>(door.text, door.program, door.served, door.fresh));
    const std::vector<Gate> gates = selected_gates(subjects);
    const auto sampled =
        std::count_if(gates.begin(), gates.end(), [](const Gate& gate) { return gate.tier == Tier::sampled; });
    options.gates = sampled_gates.value_or(std::max(1, static_cast<int>(sampled)));
    if (sampled_gates && *sampled_gates < sampled)
      throw InputError({.file = "--gates",
                        .found = std::to_string(*sampled_gates),
                        .wanted = fmt::format("at least the {} sampled gates of this run", sampled)});
    check_source();
    if (list) {
      session.write(report_gate_list(gates));
      return exit_held;
    }
    if (const auto absent = place.absent(session)) return *absent;
    if (gates.empty())
      throw InputError(
          {.file = "check", .found = "no gate", .wanted = "verifiers and tiers of `draftproof check --list`"});
    options.checkpoint = work.open(session, {options.source});
    if (options.checkpoint && (options.device || !session.doors.empty()))
      throw InputError({.file = "blocks",
                        .found = options.device ? "--device " + place.name : "--door",
                        .wanted = "neither: blocks run in this program on the processor"});
    std::vector<GateResult> results;
    {
      constexpr std::uint64_t parts = 1000;  // of a gate: trials take the most time and report their progress
      Progress progress("checking", parts * gates.size(), session.quiet);
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
  /// Checks what is asked of doors before the first gate runs.
  void check_door_options(const Session& session) const {
    if (session.doors.empty() && (models || predictions || !options.door_instances.empty()))
      throw InputError({.file = models        ? "--models"
                                : predictions ? "--predictions"
                                              : "--instance",
                        .found = "no door",
                        .wanted = "--door beside it"});
    if (options.profile.door_models == 0 && options.door_instances.empty())
      throw InputError({.file = "--models", .found = "0", .wanted = "at least 1, or --instance"});
    for (const adapters::OpenDoor& door : session.doors)
      for (const std::string& text : options.door_instances)
        adapters::check_instance(door.served->declaration(), text);
  }

  /// Checks the source before the first gate runs.
  void check_source() const {
    if (options.source.empty()) return;
    const Source source = Source::open(options.source, {.seed = options.seed});
    need_position(source, options.position);
  }

  std::vector<Gate> selected_gates(const std::vector<std::unique_ptr<ForeignSubject>>& subjects) const {
    // With a door and no name, the door alone.
    const SelectedSubjects selected =
        names.empty() && !subjects.empty() ? SelectedSubjects{} : select_of_all(names, mutants);
    std::vector<Gate> gates;
    const auto add = [&](Gate gate, bool builtin) {
      if (own && builtin) return;
      for (const Tier tier : all_tiers) {
        if (!tiers.empty() && std::find(tiers.begin(), tiers.end(), to_text(tier)) == tiers.end()) continue;
        gate.tier = tier;
        if (applies(gate)) gates.push_back(gate);
      }
    };
    for (const AnyVerifier* verifier : selected.position) add({.verifier = verifier}, verifier->builtin());
    for (const AnyPathVerifier* verifier : selected.paths) add({.paths = verifier}, verifier->builtin());
    for (const AnyComponent* component : selected.components) add({.component = component}, component->builtin());
    for (const auto& subject : subjects) add({.foreign = subject.get()}, false);
    return gates;
  }

  /// Whether trials would show no more than the proof tier, which has refuted the program on an instance, unless
  /// --tier names them.
  bool needless(const Gate& gate, const std::vector<GateResult>& results) const {
    return tiers.empty() && gate.foreign && gate.tier == Tier::sampled &&
           std::any_of(results.begin(), results.end(), [&gate](const GateResult& result) {
             return result.gate.foreign == gate.foreign && result.gate.tier == Tier::proof &&
                    result.status == Status::violated;
           });
  }

  static GateResult refuted_before(const Gate& gate) {
    GateResult result{.gate = gate};
    result.status = Status::skipped;
    result.note = "refuted by the proof tier; runs if the tier is named";
    return result;
  }

  /// The exit code of the worst verdict; gates that did not run make it undecided.
  static int exit_code(const std::vector<GateResult>& results, std::size_t gates) {
    const auto any = [&results](Status status) {
      return std::any_of(results.begin(), results.end(),
                         [status](const GateResult& result) { return result.status == status; });
    };
    for (const Status status : {Status::violated, Status::undecided})
      if (any(status)) return exit_code_of(status);
    if (results.size() < gates) return exit_undecided;
    return exit_code_of(any(Status::held) ? Status::held : Status::skipped);
  }
};

}  // namespace draftproof::commands
