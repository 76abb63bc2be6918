#include <draftproof/properties/gate.hpp>

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include <draftproof/properties/paths/path_prover.hpp>
#include <draftproof/properties/prover.hpp>

namespace draftproof {

namespace {

bool wanted(const GateOptions& options, std::string_view law) {
  return options.laws.empty() || std::find(options.laws.begin(), options.laws.end(), law) != options.laws.end();
}

/// A difference from p that the scheme's author announces is no failure of the scheme.
template <class Level>
bool announced(const ProofOf<Level>& proof, std::string_view property) {
  return proof.lossy() &&
         std::find(Level::decisive.begin(), Level::decisive.end(), property) != Level::decisive.end();
}

template <class Level>
void add(GateResult& result, const ProofOf<Level>& proof) {
  result.work += proof.leaves;
  result.laws.emplace_back(proof.drafter->info().name);
  for (const auto& finding : proof.findings) {
    if (finding.status == Status::skipped) continue;
    if (announced(proof, finding.property)) {
      result.note = fmt::format("lossy by design, TV to {:.4f}",
                                proof.distance ? static_cast<double>(proof.distance->largest) : 0.0);
      continue;
    }
    result.findings.push_back(gate_finding(finding, result.gate.tier, proof.leaves));
  }
}

template <class Level>
void run(GateResult& result, const typename Level::Verifier& verifier, const auto& drafters, int instances,
         const GateOptions& options) {
  for (const auto* drafter : drafters)
    if (wanted(options, drafter->info().name))
      add(result, prove(verifier, *drafter,
                        ProofOptions{.instances = instances,
                                     .seed = options.seed,
                                     .threads = options.threads,
                                     .tier = result.gate.tier,
                                     .stop = options.stop}));
}

/// The worst of the findings decides; none at all is no pass.
Status verdict(const GateResult& result) {
  const auto any = [&result](Status status) {
    return std::any_of(result.findings.begin(), result.findings.end(),
                       [status](const GateFinding& finding) { return finding.status == status; });
  };
  for (const Status status : {Status::violated, Status::undecided, Status::held})
    if (any(status)) return status;
  return Status::skipped;
}

template <class Level>
bool some_property(const auto& verifier, const auto& drafters, Tier tier) {
  return std::any_of(Level::properties().begin(), Level::properties().end(), [&](const auto& property) {
    return property.tier == tier && (!property.explores || verifier.info().cannot.explore.empty()) &&
           std::any_of(drafters.begin(), drafters.end(),
                       [&](const auto* drafter) { return property.applies(verifier, *drafter); });
  });
}

}  // namespace

std::string_view Gate::level() const { return verifier ? PositionLevel::name : PathLevel::name; }

bool applies(const Gate& gate) {
  return gate.verifier ? some_property<PositionLevel>(*gate.verifier, registry().drafters_of(gate.info()), gate.tier)
                       : some_property<PathLevel>(*gate.paths, path_registry().drafters_of(gate.info()), gate.tier);
}

GateResult run_gate(const Gate& gate, const GateOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  GateResult result{.gate = gate};
  if (gate.verifier)
    run<PositionLevel>(result, *gate.verifier, registry().drafters_of(gate.info()), options.profile.instances,
                       options);
  else
    run<PathLevel>(result, *gate.paths, path_registry().drafters_of(gate.info()), options.profile.path_instances,
                   options);
  result.status = verdict(result);
  if (options.stop && options.stop->load(std::memory_order_relaxed) && result.status == Status::held) {
    result.status = Status::undecided;
    result.note = "stopped";
  }
  if (result.status == Status::skipped && result.note.empty())
    result.note = result.laws.empty() ? "no such draft law" : "no property of this tier applies";
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace draftproof
