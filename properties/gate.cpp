#include <draftproof/properties/gate.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include <draftproof/captures/input_error.hpp>
#include <draftproof/captures/source.hpp>
#include <draftproof/properties/paths/path_prover.hpp>
#include <draftproof/properties/precision_gate.hpp>
#include <draftproof/properties/prover.hpp>
#include <draftproof/properties/sampled_gate.hpp>
#include <draftproof/properties/simulation.hpp>

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
void add(GateResult& result, const ProofOf<Level>& proof, double& farthest) {
  result.work += proof.leaves;
  result.laws.emplace_back(proof.drafter->info().name);
  for (const auto& finding : proof.findings) {
    if (finding.status == Status::skipped) continue;
    if (announced(proof, finding.property)) {
      farthest = std::max(farthest, proof.distance ? static_cast<double>(proof.distance->largest) : 0.0);
      result.note = fmt::format("lossy by design, TV to {:.4f}", farthest);
      continue;
    }
    result.findings.push_back(gate_finding(finding, result.gate.tier, proof.leaves));
  }
}

template <class Level>
bool some_property(const auto& verifier, const auto& drafters, Tier tier) {
  return std::any_of(Level::properties().begin(), Level::properties().end(), [&](const auto& property) {
    return property.tier == tier && (!property.explores || verifier.info().cannot.explore.empty()) &&
           std::any_of(drafters.begin(), drafters.end(),
                       [&](const auto* drafter) { return property.applies(verifier, *drafter); });
  });
}

template <class Level>
void run(GateResult& result, const typename Level::Verifier& verifier, const auto& drafters, int instances,
         const GateOptions& options) {
  double farthest = 0;
  for (const auto* drafter : drafters)
    if (wanted(options, drafter->info().name) &&
        some_property<Level>(verifier, std::array{drafter}, result.gate.tier))
      add(result,
          prove(verifier, *drafter,
                ProofOptions{.instances = instances,
                             .seed = options.seed,
                             .threads = options.threads,
                             .tier = result.gate.tier,
                             .stop = options.stop}),
          farthest);
}

constexpr int large = 32'000, small = 12;

bool promises_target(const Info& info) { return info.promise == Promise::lossless; }

/// Every law that was asked for; otherwise the one a scheme is written for first.
bool sampled_on(const GateOptions& options, const Info& info, const DrafterInfo& law) {
  if (!options.laws.empty()) return wanted(options, law.name);
  return info.drafts.any() ? law.name == "iid" : info.drafts.names[0] == law.name;
}

/// What the exact law costs in floating point, which no property in fractions can see.
void add_precision(GateResult& result, const AnyVerifier& verifier, const GateOptions& options) {
  for (const auto* drafter : registry().drafters_of(verifier.info())) {
    if (!sampled_on(options, verifier.info(), drafter->info())) continue;
    PrecisionAudit audit =
        audit_precision(verifier, *drafter,
                        {.thorough = options.profile.every_precision, .seed = options.seed, .stop = options.stop});
    for (GateFinding& finding : audit.findings) {
      result.work += finding.work;
      result.findings.push_back(std::move(finding));
    }
    if (result.note.empty() && !audit.findings.empty())
      result.note = fmt::format("in double TV {:.1g}", audit.largest);
  }
}

std::string replay_line(const Gate& gate, const AnyDrafter& drafter, const std::string& source, int drafts,
                        const SampledVerdict& verdict, const GateOptions& options) {
  if (!verdict.example)
    return fmt::format(
        "draftproof check {} --law {} --tier sampled --profile {} --source '{}' --position {} -K {} --share {:g} "
        "--gates {} --seed {}",
        gate.name(), drafter.info().name, options.profile.name, source, options.position, drafts, options.share,
        options.gates, options.seed);
  return fmt::format("draftproof replay {} --law {} --source '{}' --position {} -K {} --trial {} --seed {}",
                     gate.name(), drafter.info().name, source, options.position, drafts, *verdict.example,
                     options.seed);
}

std::string evidence_text(const SampledVerdict& verdict) {
  if (verdict.impossible > 0)
    return fmt::format("{} of {} trials reached a branch of probability zero", verdict.impossible, verdict.trials);
  if (verdict.trials == 0) return "stopped before the first batch";
  std::string text =
      std::isinf(verdict.log_e)
          ? fmt::format("proof ({}) after {} trials: counts where none can be", name(verdict.word), verdict.trials)
          : fmt::format("e = 10^{:.1f} ({}) after {} trials", verdict.log_e / std::log(10.0), name(verdict.word),
                        verdict.trials);
  const auto strongest =
      std::max_element(verdict.components.begin(), verdict.components.end(),
                       [](const GateComponent& a, const GateComponent& b) { return a.log_e < b.log_e; });
  if (verdict.word != GateWord::ok) text += fmt::format(", most by {}", strongest->name);
  if (verdict.worst)
    text += fmt::format("; worst cell: {}token {}, {} seen, {:.1f} expected",
                        verdict.worst->path < 0 ? "" : fmt::format("path {}, ", verdict.worst->path + 1),
                        verdict.worst->token, verdict.worst->observed, verdict.worst->expected);
  text += fmt::format("; a deviation of any shape and TV {:.2g} is found with probability about 0.99",
                      verdict.smallest_distance);
  if (verdict.optimum)
    text += fmt::format("; among the drafts {:.6f}, optimum at most {:.6f}", verdict.acceptance, *verdict.optimum);
  return text;
}

GateFinding finding_of(const SampledVerdict& verdict, std::string check) {
  GateFinding finding{.check = std::move(check), .tier = Tier::sampled, .evidence = evidence_text(verdict)};
  finding.work = verdict.trials;
  finding.status = verdict.word == GateWord::failed || verdict.impossible > 0 ? Status::violated
                   : verdict.undecided                                        ? Status::undecided
                                                                              : Status::held;
  return finding;
}

/// Trials at one position, by the law of the source.
void sample(GateResult& result, const AnyVerifier& verifier, const AnyDrafter& drafter, const GateOptions& options) {
  const Info& info = verifier.info();
  int drafts = options.drafts;
  for (const int most : {info.most_drafts, drafter.info().most_drafts})
    if (most > 0) drafts = std::min(drafts, most);
  const bool everywhere = info.cannot.simulate.empty() && !info.shared_noise && !drafter.info().shared_noise();
  const std::string spec = !options.source.empty() ? options.source
                                                   : standard_source(everywhere ? large : small,
                                                                     drafter.info().several_proposals ? drafts : 1);
  const Source source = Source::open(spec, {.seed = options.seed});
  const RowPair pair = source.pair(options.position);
  const Ground ground = ground_for(verifier, widest_support(pair.proposals), drafts);
  if (ground == Ground::none || !verifier.takes(drafts) ||
      !drafter.defined(static_cast<int>(source.vocabulary()), drafts, static_cast<int>(pair.proposals.size()))) {
    result.note = fmt::format("does not run on {} with {} drafts", spec, drafts);
    return;
  }
  const RatioTable table(pair.target, pair.proposals);
  // Half of the budget: the other half is for properties of small instances. Laws asked for beside the first share.
  const auto laws = std::max<std::size_t>(1, options.laws.size());
  const SampledGateOptions sampling{
      .trials = std::exp2(options.profile.log2_trials),
      .alpha = options.false_alarm * options.share / 2 / options.gates / static_cast<double>(laws),
      .seed = options.seed,
      .first = std::uint64_t{options.position} << 40,
      .threads = options.threads,
      .stop = options.stop};
  const SampledVerdict verdict =
      ground == Ground::table
          ? sampled_gate(verifier, drafter, table, table, drafts, sampling)
          : sampled_gate(verifier, drafter, Rows<double>(pair.target, pair.proposals), table, drafts, sampling);
  GateFinding finding = finding_of(
      verdict, fmt::format("law of {} at V = {}", drafts == 1 ? "one draft" : fmt::format("{} drafts", drafts),
                           source.vocabulary()));
  if (finding.status != Status::held)
    finding.replay = replay_line(result.gate, drafter, spec, drafts, verdict, options);
  result.work += verdict.trials;
  if (std::find(result.laws.begin(), result.laws.end(), drafter.info().name) == result.laws.end())
    result.laws.emplace_back(drafter.info().name);
  result.findings.push_back(std::move(finding));
}

/// Checks of this tier; those that do not apply are left out, those that cannot run here say why.
void examine(GateResult& result, const AnyComponent& component, const GateOptions& options) {
  const ComponentOptions asked{.seed = options.seed, .rounds = std::max(1, options.profile.instances / 500)};
  for (GateFinding& finding : component.examine(asked)) {
    if (finding.tier != result.gate.tier) continue;
    result.work += finding.work;
    if (finding.status == Status::skipped)
      result.note = finding.check + ": " + finding.evidence;
    else
      result.findings.push_back(std::move(finding));
  }
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

}  // namespace

std::string standard_source(int vocabulary, int proposals) {
  return fmt::format("zipf:vocabulary={},exponent=1.1,draft_exponent=1.1,offset=1.7,noise=0.8,shuffle=1,drafts={}",
                     vocabulary, proposals);
}

std::string Gate::name() const {
  if (component) return component->qualified_name();
  return std::string(verifier ? verifier->info().name : paths->info().name);
}

std::string_view Gate::level() const {
  return component ? component->group() : verifier ? PositionLevel::name : PathLevel::name;
}

bool applies(const Gate& gate) {
  if (gate.component) return gate.tier != Tier::sampled;
  if (gate.paths)
    return some_property<PathLevel>(*gate.paths, path_registry().drafters_of(gate.paths->info()), gate.tier);
  const Info& info = gate.verifier->info();
  if (gate.tier == Tier::sampled && promises_target(info)) return true;
  return some_property<PositionLevel>(*gate.verifier, registry().drafters_of(info), gate.tier);
}

GateResult run_gate(const Gate& gate, const GateOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  GateResult result{.gate = gate};
  if (gate.component) {
    examine(result, *gate.component, options);
  } else if (gate.paths) {
    run<PathLevel>(result, *gate.paths, path_registry().drafters_of(gate.paths->info()),
                   options.profile.path_instances, options);
  } else {
    const Info& info = gate.verifier->info();
    run<PositionLevel>(result, *gate.verifier, registry().drafters_of(info), options.profile.instances, options);
    if (gate.tier == Tier::sampled && promises_target(info))
      for (const auto* drafter : registry().drafters_of(info))
        if (sampled_on(options, info, drafter->info())) sample(result, *gate.verifier, *drafter, options);
    // Rounding is a question once the law is right in fractions.
    if (gate.tier == Tier::proof && verdict(result) != Status::violated)
      add_precision(result, *gate.verifier, options);
  }
  result.status = verdict(result);
  if (options.stop && options.stop->load(std::memory_order_relaxed) && result.status != Status::violated) {
    result.status = Status::undecided;
    result.note = "stopped";
  }
  if (result.status == Status::skipped && result.note.empty())
    result.note = result.laws.empty() ? "no such draft law" : "no property of this tier applies";
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace draftproof
