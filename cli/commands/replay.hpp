// `draftproof replay`: reproduces a failure step by step: the property on its instance, every branch of the decision,
// the resulting distribution, and single trials of a simulation with the random numbers that they drew.
#pragma once

#include <algorithm>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>

#include <draftproof/adapters/gate/distribution_checks.hpp>
#include <draftproof/adapters/gate/selection_checks.hpp>
#include <draftproof/captures/input_error.hpp>
#include <draftproof/cli/register_command.hpp>
#include <draftproof/cli/report/proof_report.hpp>
#include <draftproof/cli/select.hpp>
#include <draftproof/properties/instances/instance.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/sim/random/philox.hpp>

namespace draftproof::commands {

struct Replay {
  static constexpr std::string_view name = "replay";
  static constexpr std::string_view about =
      "replays one instance or trial of a verifier step by step, such as a reported counterexample";
  static constexpr std::string_view example = "replay single_draft --instance 'p=(1 1)/2 q=(0 1)/1 K=1'";

  std::string verifier_name, sampling, property, instance_text, spec;
  SourceChoice choice;
  int drafts = 4;
  std::size_t position = 0;
  std::uint64_t ways = 64;
  ExplorerLimits limits;
  std::optional<std::uint64_t> trial;
  std::optional<int> predictions;

  void declare(CLI::App& app) {
    app.add_option("verifier", verifier_name, "a verifier or component; omit it with --adapter")->type_name(no_file);
    app.add_option("--draft-sampling", sampling, "draft sampling [the first that the verifier supports]")
        ->type_name(no_file);
    auto* instance = app.add_option(
        "--instance", instance_text,
        fmt::format("instance to replay, such as '{}' or '{}'", TokenLevel::example, BlockLevel::example));
    auto* source = app.add_option("--source", spec, source_help)->excludes(instance);
    choice.declare(app);
    app.add_option("--property", property, "check only this property");
    add_position(app, position)->needs(source);
    app.add_option("-K,--drafts", drafts, "number of drafts, with --source")
        ->check(between(1, max_drafts))
        ->needs(source)
        ->capture_default_str();
    app.add_option("--trial", trial,
                   "number of a simulated trial on --source or --instance; shows the random numbers that it drew")
        ->check(between(0.0, 1e18));
    app.add_option("--branches", limits.leaves, "largest number of branches to enumerate")
        ->check(many())
        ->capture_default_str();
    app.add_option("--ways", ways, "number of enumerated sequences of random decisions to print")
        ->check(many())
        ->capture_default_str();
    app.add_option("--predictions", predictions, adapters::predictions_help)
        ->check(between(adapters::fewest_predictions, adapters::most_predictions));
  }

  int run(const Session& session) {
    if (!session.external.empty()) return on_adapter(session);
    if (predictions)
      throw InputError({.file = "--predictions", .got = "no --adapter", .expected = "--adapter with this option"});
    if (verifier_name.empty())
      throw InputError(
          {.file = "replay", .got = "no verifier", .expected = "a name from `draftproof list`, or --adapter"});
    const SelectedSubjects selected = select_of_all({verifier_name}, true);
    if (!selected.components.empty()) return of_component(*selected.components.front(), session);
    if (!spec.empty()) {
      if (selected.position.empty())
        throw InputError({.file = "--source", .got = verifier_name, .expected = "a verifier of one position"});
      return on_source(*selected.position.front(), session);
    }
    if (instance_text.empty())
      throw InputError({.file = "replay", .got = "no instance", .expected = "--instance, or --source and --trial"});
    return selected.position.empty() ? on_instance<BlockLevel>(*selected.paths.front(), path_registry(), session)
                                     : on_instance<TokenLevel>(*selected.position.front(), registry(), session);
  }

 private:
  int on_adapter(const Session& session) const {
    if (instance_text.empty() || !verifier_name.empty())
      throw InputError({.file = "replay",
                        .got = verifier_name.empty() ? "no instance" : in_quotes(verifier_name),
                        .expected = "--instance, and no verifier name, with --adapter"});
    int worst = exit_passed;
    for (const adapters::OpenAdapter& adapter : session.external) {
      const adapters::Declaration& declaration = adapter.served->declaration();
      adapters::DistributionChecks checks;
      if (adapters::is_selection_case(declaration, instance_text)) {
        checks.findings = adapters::check_selection_on(*adapter.served, property, instance_text,
                                                       {.seed = session.seed, .adapter = adapter.text});
      } else {
        adapters::check_instance(declaration, instance_text);
        adapters::DistributionCheckOptions options{.seed = session.seed, .adapter = adapter.text};
        if (predictions) options.explore.predictions = *predictions;
        checks = adapters::check_distributions_on(*adapter.program, declaration, instance_text, options);
      }
      Document document = start_replay(fmt::format("{} on {}", declaration.name, instance_text), session.seed);
      for (const Finding& finding : checks.findings) {
        add_finding(document, finding);
        if (finding.status != Status::passed) worst = std::max(worst, static_cast<int>(exit_code_of(finding.status)));
        if (finding.status == Status::failed) worst = exit_failed;
      }
      for (const std::string& line : checks.distributions) add_remark(document, line);
      session.write(document);
    }
    return worst;
  }

  template <class Level>
  int on_instance(const typename Level::Verifier& verifier, const auto& known, const Session& session) {
    const auto& drafter = distribution_of<typename Level::Drafter>(verifier.info(), known);
    const auto instance = parse_instance<Level>(instance_text);
    if (!Level::InstanceAnalysis::possible(verifier, drafter, instance))
      throw InputError({.file = "--instance",
                        .got = instance_text,
                        .expected = "an instance that the verifier and its draft sampling are defined for"});
    const ProofOptions options{
        .seed = session.seed, .threads = session.threads, .limits = limits, .tier = {}, .property = property};
    const auto proof = prove_on(verifier, drafter, instance, options);
    if (!property.empty() && proof.findings.empty())
      throw InputError({.file = "--property",
                        .got = in_quotes(property),
                        .expected = "a property from `draftproof list` that applies to " + verifier_name});
    Document document = start_replay(
        fmt::format("{} with {} drafts on {}", verifier_name, drafter.info().name, instance.text()), session.seed);
    add_answers(document, proof, instance.text());
    if (verifier.info().unsupported.explore.empty()) {
      try {
        add_story(document, trace_instance(verifier, drafter, instance, ways));
        typename Level::InstanceAnalysis at(verifier, drafter, instance, limits);
        if constexpr (std::is_same_v<Level, TokenLevel>)
          add_distribution(document, at.distribution(), instance, verifier.info().promise == Promise::lossy);
        else
          add_distribution(document, at.distribution());
      } catch (const std::logic_error& error) {  // the check of the properties above has reported the fault
        add_remark(document, fmt::format("the enumeration stopped: {}", error.what()));
      }
    }
    if (trial) {
      if constexpr (std::is_same_v<Level, TokenLevel>)
        add_trial(document, *trial,
                  trace_trial(verifier, drafter, as_doubles(instance.rows()), instance.drafts, session.seed, *trial));
      else
        add_trial(document, *trial, trace_trial(verifier, drafter, instance, session.seed, *trial));
    }
    session.write(document);
    if (proof.violation()) return exit_failed;
    const bool open = std::any_of(proof.findings.begin(), proof.findings.end(),
                                  [](const auto& finding) { return finding.status == Status::undecided; });
    return open ? exit_undecided : exit_passed;
  }

  /// Runs one check of a component on one case.
  int of_component(const AnyComponent& component, const Session& session) const {
    std::optional<Finding> finding;
    try {
      finding = component.examine_one(property, instance_text);
    } catch (const std::invalid_argument& error) {
      throw InputError(
          {.file = "--instance", .got = error.what(), .expected = "a case as printed by the failed check"});
    }
    if (!finding)
      throw InputError({.file = "--property",
                        .got = in_quotes(property),
                        .expected = "a check of the group " + std::string(component.group())});
    Document document =
        start_replay(fmt::format("{}, {}, on {}", component.qualified_name(), property, instance_text), session.seed);
    add_finding(document, *finding);
    session.write(document);
    return exit_code_of(finding->status);
  }

  int on_source(const AnyVerifier& verifier, const Session& session) {
    if (!trial) throw InputError({.file = "replay", .got = "no trial", .expected = "--trial with --source"});
    const auto& drafter = distribution_of<AnyDrafter>(verifier.info(), registry());
    const Source source = choice.open(spec, session.seed);
    need_position(source, position);
    const int proposals = static_cast<int>(source.proposal_names().size());
    if (!verifier.takes(drafts) || !drafter.defined(static_cast<int>(source.vocabulary()), drafts, proposals))
      throw InputError(
          {.file = "--drafts",
           .got = std::to_string(drafts),
           .expected = "a number of drafts that the verifier and the draft sampling support on this source"});
    const RowPair pair = source.pair(position);
    const RatioTable table(pair.target, pair.proposals);
    // As in a simulation, trials of different positions have different numbers.
    const std::uint64_t address = first_trial(position) + *trial;
    Document document = start_replay(
        fmt::format("{} with {} drafts at position {} of {}", verifier_name, drafter.info().name, position, spec),
        session.seed);
    add_trial(document, *trial,
              verifier.info().unsupported.simulate.empty()
                  ? trace_trial(verifier, drafter, table, drafts, session.seed, address)
                  : trace_trial(verifier, drafter, Rows<double>(pair.target, pair.proposals), drafts, session.seed,
                                address));
    session.write(document);
    return exit_passed;
  }

  template <class Drafter>
  const Drafter& distribution_of(const Info& info, const auto& known) const {
    const std::vector<const Drafter*> taken = known.drafters_of(info);
    for (const Drafter* drafter : taken)
      if (drafter->info().name == (sampling.empty() ? usual_draft_sampling(info) : sampling)) return *drafter;
    if (sampling.empty() && !taken.empty())
      return *taken.front();  // an adapter may declare a sampling that is not the name of a drafter
    if constexpr (requires { known.wrong_drafters_of(info); })
      for (const Drafter* drafter : known.wrong_drafters_of(info))
        if (drafter->info().name == sampling) return *drafter;
    throw InputError({.file = "--draft-sampling",
                      .got = in_quotes(sampling),
                      .expected = "a draft sampling that `draftproof describe " + verifier_name + "` names"});
  }
};

}  // namespace draftproof::commands
