// `draftproof prove`: checks every property of verifiers of one position and of paths in exact fractions, on generated
// instances or on a given one. `draftproof mutants`: the kill matrix. Every mutant must fail a check, and no control
// may fail one.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <draftproof/adapters/gate/external_gate.hpp>
#include <draftproof/captures/input_error.hpp>
#include <draftproof/cli/ranks.hpp>
#include <draftproof/cli/register_command.hpp>
#include <draftproof/cli/report/proof_report.hpp>
#include <draftproof/cli/select.hpp>
#include <draftproof/cli/work_choice.hpp>
#include <draftproof/properties/mutation/kill_matrix.hpp>

namespace draftproof::commands {

struct Prove {
  static constexpr std::string_view name = "prove";
  static constexpr std::string_view about = "proves verifiers exact in fractions, or prints a small counterexample";
  static constexpr std::string_view example = "prove k_seq ladder";

  std::vector<std::string> names, samplings;
  std::string instance_text;
  ProofOptions options;
  WorkChoice work;
  std::optional<int> instances;
  bool mutants = false;

  void declare(CLI::App& app) {
    app.add_option("verifier", names, "names of verifiers, as `draftproof list` prints them [all]")
        ->type_name(no_file);
    app.add_option("--draft-sampling", samplings,
                   "draft samplings, such as iid or without_replacement [all that each verifier supports]")
        ->type_name(no_file)
        ->delimiter(',');
    app.add_option("--instances", instances,
                   fmt::format("instances per verifier and draft sampling [{}, of paths {}]", TokenLevel::instances,
                               BlockLevel::instances))
        ->check(between(1, 1'000'000));
    app.add_option(
           "--branches", options.limits.leaves,
           "largest number of random outcomes (branches) enumerated on an instance; with more it is undecided")
        ->check(many())
        ->capture_default_str();
    app.add_option("--instance", instance_text,
                   fmt::format("only this instance, as in '{}' or '{}'", TokenLevel::example, BlockLevel::example));
    app.add_flag("--mutants", mutants, "include the mutants (verifiers with a known bug)");
    work.declare(app);
  }

  int run(const Session& session) {
    options.instances = instances.value_or(0);
    session.set(options);
    for (const auto& sampling : samplings) need_draft_sampling(sampling);
    if (!session.external.empty() || !instance_text.empty()) {
      if (work.asked(session))
        throw InputError({.file = "work in blocks",
                          .got = session.external.empty() ? "--instance" : "--adapter",
                          .expected = "neither --instance nor --adapter with --shard or --checkpoint"});
      if (rank_of_job().first > 0) return exit_passed;  // only rank 0 runs it
    } else {
      options.checkpoint = work.open(session, {});
    }
    if (!session.external.empty()) return prove_adapters(session);
    const SelectedVerifiers selected = select_of_both(names, mutants);
    auto pairs = pairs_of<TokenLevel>(selected.position, registry());
    auto path_pairs = pairs_of<BlockLevel>(selected.paths, path_registry());
    if (pairs.empty() && path_pairs.empty())
      throw InputError({.file = "prove",
                        .got = "no verifier for that draft sampling",
                        .expected = "a sampling that `draftproof describe VERIFIER` names"});
    if (!instance_text.empty() && !pairs.empty() && !path_pairs.empty()) {
      // Texts of path instances begin with the letter L, texts of instances of one position do not.
      if (instance_text.find_first_not_of(' ') == instance_text.find('L'))
        pairs.clear();
      else
        path_pairs.clear();
    }
    Progress progress("proving", share * (pairs.size() + path_pairs.size()), session.quiet);
    const auto proofs = proofs_of<TokenLevel>(pairs, progress, 0);
    const auto path_proofs = proofs_of<BlockLevel>(path_pairs, progress, pairs.size());
    if (options.checkpoint)
      if (const auto code = work.finish(session)) return *code;
    if (proofs.empty() && path_proofs.empty() && !stop_requested())
      throw InputError({.file = "--instance",
                        .got = instance_text,
                        .expected = "an instance that the verifier and its draft sampling are defined for"});
    session.write(report_proofs(proofs, path_proofs, options, session.timings));
    const auto failed = [](const auto& proof) { return proof.violation() != nullptr; };
    const auto kept = [](const auto& proof) { return proof.kept(); };
    if (std::any_of(proofs.begin(), proofs.end(), failed) ||
        std::any_of(path_proofs.begin(), path_proofs.end(), failed))
      return exit_failed;
    const bool decided = !stop_requested() && std::all_of(proofs.begin(), proofs.end(), kept) &&
                         std::all_of(path_proofs.begin(), path_proofs.end(), kept);
    return decided ? exit_passed : exit_undecided;
  }

 private:
  static constexpr std::size_t share = 1000;  ///< units of progress of one proof

  /// Runs the proof tier of the gate for every adapter.
  int prove_adapters(const Session& session) const {
    if (!names.empty() || !instance_text.empty())
      throw InputError(
          {.file = "prove",
           .got = names.empty() ? "--instance" : in_quotes(names.front()),
           .expected =
               "neither a name nor --instance with --adapter; for one instance use `draftproof replay --adapter`"});
    GateOptions asked;
    session.set(asked);
    if (instances) asked.profile.adapter_models = *instances;
    std::vector<std::unique_ptr<ExternalSubject>> subjects;
    std::vector<GateResult> results;
    ExitCode code = exit_passed;
    for (const adapters::OpenAdapter& adapter : session.external) {
      subjects.push_back(
          std::make_unique<adapters::ExternalGate>(adapter.text, adapter.program, adapter.served, adapter.fresh));
      results.push_back(run_gate({.external = subjects.back().get(), .tier = Tier::proof}, asked));
      const ExitCode here = exit_code_of(results.back().status);
      if (code != exit_failed && here != exit_passed) code = here;
    }
    session.write(report_gates(results, asked, session.timings));
    return code;
  }

  template <class Level>
  using Pairs = std::vector<std::pair<const typename Level::Verifier*, const typename Level::Drafter*>>;

  template <class Level>
  Pairs<Level> pairs_of(const std::vector<const typename Level::Verifier*>& verifiers, const auto& known) const {
    Pairs<Level> pairs;
    for (const auto* verifier : verifiers)
      for (const auto* drafter : known.drafters_of(verifier->info()))
        if (samplings.empty() || named(*drafter)) pairs.emplace_back(verifier, drafter);
    if constexpr (requires { known.wrong_drafters(); })
      for (const auto* verifier : verifiers)
        for (const auto* drafter : known.wrong_drafters_of(verifier->info()))
          if (named(*drafter)) pairs.emplace_back(verifier, drafter);
    return pairs;
  }
  bool named(const auto& drafter) const {
    return std::find(samplings.begin(), samplings.end(), drafter.info().name) != samplings.end();
  }

  template <class Level>
  std::vector<ProofOf<Level>> proofs_of(const Pairs<Level>& pairs, Progress& progress, std::size_t done) const {
    std::vector<ProofOf<Level>> proofs;
    std::optional<typename Level::Instance> given;
    if (!instance_text.empty() && !pairs.empty()) given = parse_instance<Level>(instance_text);
    for (const auto& [verifier, drafter] : pairs) {
      if (stop_requested()) break;
      const std::size_t before = share * (done + proofs.size());
      ProofOptions asked = options;
      asked.progress = [&](std::size_t known, std::size_t all) { progress.update(before + share * known / all); };
      if (!given)
        proofs.push_back(prove(*verifier, *drafter, asked));
      else if (Level::InstanceAnalysis::possible(*verifier, *drafter, *given))
        proofs.push_back(prove_on(*verifier, *drafter, *given, asked));
      progress.update(share * (done + proofs.size()));
    }
    return proofs;
  }
};

struct Mutants {
  static constexpr std::string_view name = "mutants";
  static constexpr std::string_view about =
      "tests the checks: runs them on mutants (verifiers with a known bug), and on correct verifiers as controls";
  static constexpr std::string_view example = "mutants";

  KillOptions options;
  WorkChoice work;

  void declare(CLI::App& app) {
    app.add_option("--instances", options.instances,
                   "largest number of instances tried on a mutant; small instances come first")
        ->check(between(1, 1'000'000))
        ->capture_default_str();
    app.add_option("--controls", options.controls, "instances tried on each correct verifier and draft sampling")
        ->check(between(1, 1'000'000))
        ->capture_default_str();
    app.add_option("--further", options.further,
                   "further instances tried on a caught mutant, to find the other checks that fail")
        ->check(between(0, 1'000'000))
        ->capture_default_str();
    app.add_option(
           "--shares", options.shares,
           "also run each mutant on this many instances and report the fraction that refutes it; exit code 1 if "
           "it is below 0.1 for a mutant; 0: off")
        ->check(between(0, 1'000'000))
        ->capture_default_str();
    work.declare(app);
  }

  int run(const Session& session) {
    session.set(options.proof);
    options.checkpoint = work.open(session, {});
    const KillMatrix matrix = kill_matrix(options);
    if (options.checkpoint)
      if (const auto code = work.finish(session)) return *code;
    session.write(report_kill_matrix(matrix, options, session.timings));
    if (stop_requested()) return exit_undecided;
    return matrix.clean() ? exit_passed : exit_failed;
  }
};

}  // namespace draftproof::commands
