// `draftproof prove`: verifiers held to every property in exact fractions, on generated instances or on a
// given one.
#pragma once

#include <draftproof/captures/input_error.hpp>
#include <draftproof/cli/progress.hpp>
#include <draftproof/cli/register_command.hpp>
#include <draftproof/cli/select.hpp>
#include <draftproof/report/proof_report.hpp>

namespace draftproof::commands {

struct Prove {
  static constexpr std::string_view name = "prove";
  static constexpr std::string_view about = "exact proofs in fractions, or a small counterexample";

  std::vector<std::string> names, laws;
  std::string instance_text;
  ProofOptions options;
  bool mutants = false;

  void declare(CLI::App& app) {
    app.add_option("verifier", names, "verifiers to prove; all if none is named");
    app.add_option("--law", laws, "draft laws; those each verifier is written for if none is named")->delimiter(',');
    app.add_option("--instances", options.instances, "instances per verifier and draft law")
        ->check(CLI::Range(1, 1'000'000))
        ->capture_default_str();
    app.add_option("--branches", options.limits.leaves, "give an instance up after so many branches")
        ->check(many)
        ->capture_default_str();
    app.add_option("--instance", instance_text, "only this instance, as in 'p=(1 1)/2 q=(0 1)/1 K=1'");
    app.add_flag("--mutants", mutants, "the mutants too");
  }

  int run(const Session& session) {
    options.seed = session.seed;
    options.threads = session.threads;
    options.stop = &stop_requested();
    std::vector<std::pair<const AnyVerifier*, const AnyDrafter*>> pairs;
    for (const auto& law : laws) need_drafter(law);
    for (const AnyVerifier* verifier : select_verifiers(names, mutants))
      for (const AnyDrafter* drafter : registry().drafters_of(verifier->info()))
        if (laws.empty() || std::find(laws.begin(), laws.end(), drafter->info().name) != laws.end())
          pairs.emplace_back(verifier, drafter);
    if (pairs.empty())
      throw InputError({.file = "prove",
                        .found = "no verifier for that draft law",
                        .wanted = "a law that `draftproof describe VERIFIER` names"});
    std::vector<Proof> proofs;
    Progress progress("proving", pairs.size(), session.quiet);
    for (const auto& [verifier, drafter] : pairs) {
      if (stop_requested()) break;
      if (instance_text.empty())
        proofs.push_back(prove(*verifier, *drafter, options));
      else if (const Instance instance = parse(); Examination::possible(*verifier, *drafter, instance))
        proofs.push_back(prove_on(*verifier, *drafter, instance, options));
      progress.update(proofs.size());
    }
    if (proofs.empty() && !stop_requested())
      throw InputError({.file = "--instance",
                        .found = instance_text,
                        .wanted = "an instance that the verifier and its draft law are defined for"});
    session.write(report_proofs(proofs, options, session.timings));
    bool undecided = stop_requested();
    for (const Proof& proof : proofs) {
      if (proof.violation()) return exit_violated;
      undecided = undecided || !proof.kept();
    }
    return undecided ? exit_undecided : exit_held;
  }

 private:
  Instance parse() const {
    try {
      return Instance::parse(instance_text);
    } catch (const std::invalid_argument& error) {
      throw InputError({.file = "--instance", .found = error.what(), .wanted = "p=(1 1)/2 q=(0 1)/1 K=1"});
    }
  }
};

}  // namespace draftproof::commands
