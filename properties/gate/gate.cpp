#include <draftproof/properties/gate/gate.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <iterator>
#include <new>

#include <fmt/format.h>

#include <draftproof/captures/input_error.hpp>
#include <draftproof/captures/written_file.hpp>
#include <draftproof/properties/blocks/run_blocks.hpp>
#include <draftproof/properties/gate/sampled_position.hpp>
#include <draftproof/properties/precision/audit.hpp>
#include <draftproof/properties/prover/path_prover.hpp>
#include <draftproof/properties/prover/prover.hpp>
#include <draftproof/properties/prover/registry.hpp>

namespace draftproof {

namespace {

bool includes_draft_sampling(const GateOptions& options, std::string_view name) {
  return options.draft_samplings.empty() || std::find(options.draft_samplings.begin(), options.draft_samplings.end(),
                                                      name) != options.draft_samplings.end();
}

/// Returns the drafters with the draft sampling that the verifier is written for, and the wrong drafters that the
/// options name.
template <class Known>
auto requested_drafters(const Known& known, const Info& info, const GateOptions& options) {
  auto drafters = known.drafters_of(info);
  for (const auto* drafter : known.wrong_drafters_of(info))
    if (!options.draft_samplings.empty() && includes_draft_sampling(options, drafter->info().name))
      drafters.push_back(drafter);
  return drafters;
}

/// Whether a failure of `property` does not fail the gate, because the scheme's author declares that its output differs
/// from p.
template <class Level>
bool announced(const ProofOf<Level>& proof, std::string_view property) {
  return proof.lossy() &&
         std::find(Level::decisive.begin(), Level::decisive.end(), property) != Level::decisive.end();
}

template <class Level>
void add(GateResult& result, const ProofOf<Level>& proof, double& farthest) {
  result.work += proof.leaves;
  result.draft_samplings.emplace_back(proof.drafter->info().name);
  for (const auto& finding : proof.findings) {
    if (finding.status == Status::skipped) continue;
    if (announced(proof, finding.property)) {
      farthest = std::max(farthest, proof.distance ? static_cast<double>(proof.distance->largest) : 0.0);
      result.note = fmt::format("lossy by design, TV to {:.4f}", farthest);
      continue;
    }
    result.findings.push_back(finding);
    if (finding.status == Status::passed && finding.passed > 0 &&
        std::find(Level::decisive.begin(), Level::decisive.end(), finding.property) != Level::decisive.end())
      result.findings.back().sensitivity =
          fmt::format("any difference from the target on one of {} models", finding.passed);
  }
}

template <class Level>
bool some_property(const auto& verifier, const auto& drafters, Tier tier) {
  return std::any_of(Level::properties().begin(), Level::properties().end(), [&](const auto& property) {
    return property.tier == tier && (!property.explores || verifier.info().unsupported.explore.empty()) &&
           std::any_of(drafters.begin(), drafters.end(),
                       [&](const auto* drafter) { return property.applies(verifier, *drafter); });
  });
}

template <class Level>
void run(GateResult& result, const typename Level::Verifier& verifier, const auto& drafters, int instances,
         const GateOptions& options) {
  double farthest = 0;
  for (const auto* drafter : drafters)
    if (includes_draft_sampling(options, drafter->info().name) &&
        some_property<Level>(verifier, std::array{drafter}, result.gate.tier))
      add(result,
          prove(verifier, *drafter,
                ProofOptions{.instances = instances,
                             .seed = options.seed,
                             .threads = options.threads,
                             .tier = result.gate.tier,
                             .stop = options.stop,
                             .checkpoint = options.checkpoint}),
          farthest);
}

bool promises_target(const Info& info) { return info.promise == Promise::lossless; }

/// Whether the draft sampling was requested; without a request, whether it is the verifier's usual draft sampling.
bool sampled_on(const GateOptions& options, const Info& info, const DrafterInfo& drafter) {
  return options.draft_samplings.empty() ? usual_draft_sampling(info) == drafter.name
                                         : includes_draft_sampling(options, drafter.name);
}

/// Runs `examine` as one block of a checkpoint and adds its results; does nothing if another process computes the
/// block.
void add_block(GateResult& result, const GateOptions& options, const std::string& about,
               const std::function<void(GateResult&)>& examine) {
  const std::string group =
      fmt::format("check {} at tier {}, {}", result.gate.name(), to_text(result.gate.tier), about);
  const auto alone = [&](const BlockTask&) {
    GateResult found{.gate = result.gate};
    examine(found);
    return found;
  };
  for (GateResult& found : map_blocks(options.checkpoint, {.name = group, .blocks = 1}, options.stop, alone)) {
    std::move(found.findings.begin(), found.findings.end(), std::back_inserter(result.findings));
    result.draft_samplings.insert(result.draft_samplings.end(), found.draft_samplings.begin(),
                                  found.draft_samplings.end());
    if (result.note.empty()) result.note = found.note;
    result.work += found.work;
    result.counts.insert(result.counts.end(), found.counts.begin(), found.counts.end());
  }
}

/// Whether the precision audit runs on this drafter: if its draft sampling was requested or, without a request, if it
/// is the verifier's usual draft sampling; for trees, the first drafter with random drafts.
bool audited_on(const GateOptions& options, const AnyVerifier& verifier, const AnyDrafter& drafter) {
  return sampled_on(options, verifier.info(), drafter.info());
}
bool audited_on(const GateOptions& options, const AnyPathVerifier& verifier, const AnyTreeDrafter& drafter) {
  return options.draft_samplings.empty() ? audited_trees(verifier) == &drafter
                                         : includes_draft_sampling(options, drafter.info().name);
}

/// Adds the findings on floating-point error, which no proof in fractions can show.
void add_precision(GateResult& result, const auto& known, const auto& verifier, const GateOptions& options) {
  for (const auto* drafter : known.drafters_of(verifier.info())) {
    if (!audited_on(options, verifier, *drafter)) continue;
    add_block(result, options, fmt::format("in double on {}", drafter->info().name), [&](GateResult& to) {
      PrecisionAudit audit =
          audit_precision(verifier, *drafter,
                          {.thorough = options.profile.every_precision, .seed = options.seed, .stop = options.stop});
      for (Finding& finding : audit.findings) {
        to.work += finding.work;
        to.findings.push_back(std::move(finding));
      }
      if (to.note.empty() && !audit.findings.empty()) to.note = fmt::format("in double TV {:.1g}", audit.largest);
    });
  }
}

void add_sampled(GateResult& result, const AnyDrafter& drafter, const GateOptions& options) {
  SampledPosition sampled = sample_position(result.gate, drafter, options);
  if (!sampled.note.empty()) result.note = sampled.note;
  if (!sampled.finding) return;
  if (sampled.parity) {
    result.work += sampled.parity->work;
    result.findings.push_back(std::move(*sampled.parity));
  }
  result.work += sampled.finding->work;
  if (std::find(result.draft_samplings.begin(), result.draft_samplings.end(), drafter.info().name) ==
      result.draft_samplings.end())
    result.draft_samplings.emplace_back(drafter.info().name);
  result.findings.push_back(std::move(*sampled.finding));
}

/// Runs the checks of this tier. Skipped checks have no finding; the note names the last skipped check.
void examine(GateResult& result, const AnyComponent& component, const GateOptions& options) {
  const ComponentOptions asked{.seed = options.seed, .rounds = std::max(1, options.profile.instances / 500)};
  for (Finding& finding : component.examine(asked)) {
    if (finding.tier != result.gate.tier) continue;
    result.work += finding.work;
    if (finding.status == Status::skipped)
      result.note = finding.property + ": " + finding.evidence;
    else
      result.findings.push_back(std::move(finding));
  }
}

/// If a device was requested, labels the findings that did not run there with "cpu".
void name_places(GateResult& result) {
  bool there = false;
  for (Finding& finding : result.findings) {
    there |= !finding.device.empty();
    if (finding.device.empty() && finding.status != Status::skipped) finding.device = "cpu";
  }
  if (result.gate.tier == Tier::sampled && result.note.empty() && !there)
    result.note = "trials ran on the CPU: none of them can run on a device";
}

/// Returns the worst status among the findings; without a finding the gate is skipped, which is not a pass.
Status verdict(const GateResult& result) {
  const auto any = [&result](Status status) {
    return std::any_of(result.findings.begin(), result.findings.end(),
                       [status](const Finding& finding) { return finding.status == status; });
  };
  for (const Status status : {Status::failed, Status::undecided, Status::passed})
    if (any(status)) return status;
  return Status::skipped;
}

}  // namespace

std::string Gate::name() const {
  if (external) return external->name();
  if (component) return component->qualified_name();
  return std::string(verifier ? verifier->info().name : paths->info().name);
}

std::string_view Gate::level() const {
  if (external) return external->level();
  return component ? component->group() : verifier ? TokenLevel::name : BlockLevel::name;
}

bool applies(const Gate& gate) {
  if (gate.external) return true;  // run_gate() reports why a tier is not supported
  if (gate.component) return gate.tier != Tier::sampled;
  if (gate.paths)
    return some_property<BlockLevel>(*gate.paths, path_registry().drafters_of(gate.paths->info()), gate.tier);
  const Info& info = gate.verifier->info();
  if (gate.tier == Tier::sampled && promises_target(info)) return true;
  return some_property<TokenLevel>(*gate.verifier, registry().drafters_of(info), gate.tier);
}

namespace {

/// Runs the proofs, checks and audits of the gate's tier, but not the trials of the sampled tier.
void examine_alone(GateResult& result, const GateOptions& options) {
  const Gate& gate = result.gate;
  // Rounding is not examined if the proof in fractions failed. A process that computes one shard may not have the
  // result of that proof, so it always examines rounding.
  const auto examines_rounding = [&] {
    return gate.tier == Tier::proof && (computes_part(options.checkpoint) || verdict(result) != Status::failed);
  };
  if (gate.component) {
    add_block(result, options, "its checks", [&](GateResult& to) { examine(to, *gate.component, options); });
  } else if (gate.paths) {
    run<BlockLevel>(result, *gate.paths, requested_drafters(path_registry(), gate.paths->info(), options),
                    options.profile.path_instances, options);
    if (examines_rounding()) add_precision(result, path_registry(), *gate.paths, options);
  } else {
    const Info& info = gate.verifier->info();
    run<TokenLevel>(result, *gate.verifier, requested_drafters(registry(), info, options), options.profile.instances,
                    options);
    if (examines_rounding()) add_precision(result, registry(), *gate.verifier, options);
  }
}

}  // namespace

GateResult run_gate(const Gate& gate, const GateOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  GateResult result{.gate = gate};
  if (gate.external) {
    result.note = gate.external->refusal(gate.tier);
    if (result.note.empty()) gate.external->examine(result, options);
  } else {
    try {
      examine_alone(result, options);
      if (gate.tier == Tier::sampled && gate.verifier && promises_target(gate.verifier->info()))
        for (const auto* drafter : requested_drafters(registry(), gate.verifier->info(), options))
          if (sampled_on(options, gate.verifier->info(), drafter->info())) add_sampled(result, *drafter, options);
    } catch (const InputError&) {
      throw;
    } catch (const DeviceFailure&) {
      throw;
    } catch (const WriteFailure&) {  // of a checkpoint
      throw;
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {  // of the verifier; the other gates still run
      result.findings.push_back(
          {.property = "function", .tier = gate.tier, .status = Status::failed, .evidence = error.what()});
    } catch (...) {
      result.findings.push_back({.property = "function",
                                 .tier = gate.tier,
                                 .status = Status::failed,
                                 .evidence = "the verifier threw an object that is not a std::exception"});
    }
  }
  if (options.device) name_places(result);
  result.status = verdict(result);
  if (options.stop && options.stop->load(std::memory_order_relaxed) && result.status != Status::failed) {
    result.status = Status::undecided;
    result.note = result.note.empty() ? "stopped" : "stopped; " + result.note;
  }
  if (result.status == Status::skipped && result.note.empty())
    result.note = result.draft_samplings.empty() && !gate.component ? "no such draft sampling"
                                                                    : "no property of this tier applies";
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace draftproof
