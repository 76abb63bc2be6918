#include <draftproof/properties/gate/sampled_position.hpp>

#include <algorithm>
#include <cmath>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <draftproof/captures/source.hpp>
#include <draftproof/properties/gate/sampled_gate.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/properties/simulation/backend.hpp>
#include <draftproof/properties/simulation/device_parity.hpp>
#include <draftproof/properties/simulation/simulation.hpp>
#include <draftproof/properties/statistics/sample_size.hpp>
#include <draftproof/sim/random/philox.hpp>

namespace draftproof {

namespace {

constexpr int large_vocabulary = 32'000, small = 12;

std::string replay_of(const Gate& gate, const AnyDrafter& drafter, const std::string& source, int drafts,
                      std::optional<std::uint64_t> trial, const GateOptions& options) {
  const std::string distribution(drafter.info().name),
      position = std::to_string(options.position), most = std::to_string(drafts), seed = std::to_string(options.seed);
  if (trial)
    return replay_line("replay", gate.name(),
                       {{"draft-sampling", distribution},
                        {"source", source},
                        {"position", position},
                        {"K", most},
                        {"trial", std::to_string(*trial)},
                        {"seed", seed}});
  return replay_line("check", gate.name(),
                     {{"draft-sampling", distribution},
                      {"tier", "sampled"},
                      {"profile", std::string(options.profile.name)},
                      {"source", source},
                      {"position", position},
                      {"K", most},
                      {"share", fmt::format("{:g}", options.share)},
                      {"gates", std::to_string(options.gates)},
                      {"seed", seed},
                      {"distance", options.distance > 0 ? fmt::format("{:g}", options.distance) : ""},
                      {"device", options.device ? std::string(options.device->name()) : ""}});
}

std::string evidence_text(const SampledVerdict& verdict) {
  if (verdict.impossible > 0)
    return fmt::format("{} of {} trials reached a branch of probability zero", verdict.impossible, verdict.trials);
  if (verdict.trials == 0) return "stopped before the first batch";
  std::string text =
      std::isinf(verdict.log_e)
          ? fmt::format("proof ({}) after {} trials: counts where p is 0", name(verdict.state), verdict.trials)
          : fmt::format("e = 10^{:.1f} ({}) after {} trials", verdict.log_e / std::log(10.0), name(verdict.state),
                        verdict.trials);
  if (verdict.state != GateState::ok) text += fmt::format(", most by {}", verdict.strongest().name);
  if (verdict.worst)
    text += fmt::format("; worst cell: {}token {}, {} seen, {:.1f} expected",
                        verdict.worst->path < 0 ? "" : fmt::format("path {}, ", verdict.worst->path + 1),
                        verdict.worst->token, verdict.worst->observed, verdict.worst->expected);
  if (verdict.optimum)
    text += fmt::format("; an emitted token is a draft with frequency {:.6f}, the optimum is at most {:.6f}",
                        verdict.acceptance, *verdict.optimum);
  return text;
}

Finding finding_of(const SampledVerdict& verdict, const std::string& property) {
  const Status status = verdict.state == GateState::failed || verdict.impossible > 0 ? Status::failed
                        : verdict.undecided                                          ? Status::undecided
                                                                                     : Status::passed;
  return finding_of(property, Tier::sampled, {status, evidence_text(verdict)}, verdict.trials);
}

/// The rows at one position of a source, and their table.
struct Opened {
  std::string spec;
  std::uint64_t seed;
  std::size_t position;
  RowPair pair;
  RatioTable table;
};

/// Opens the position that the options name, in the source `spec`. Caches the last two positions, because most gates
/// share a source and to make a table at V = 262,144 takes as long as a million trials.
std::shared_ptr<const Opened> opened(const std::string& spec, const GateOptions& options) {
  static std::mutex mutex;
  static std::deque<std::shared_ptr<const Opened>> kept;
  const std::lock_guard lock(mutex);
  for (const auto& each : kept)
    if (each->spec == spec && each->seed == options.seed && each->position == options.position) return each;
  const Source source = Source::open(spec, {.seed = options.seed});
  RowPair pair = source.pair(options.position);
  RatioTable table(pair.target, pair.proposals);
  kept.push_front(
      std::make_shared<Opened>(Opened{spec, options.seed, options.position, std::move(pair), std::move(table)}));
  if (kept.size() > 2) kept.pop_back();
  return kept.front();
}

/// Returns a skipped finding if trials do not run on the device. Sets `trial` to the first trial that differs.
Finding parity_finding(const AnyVerifier& verifier, const AnyDrafter& drafter, const RatioTable& table,
                       const Backend& place, const TrialTable* on, int drafts, const GateOptions& options,
                       std::optional<std::uint64_t>& trial) {
  Finding finding{.property = fmt::format("{} counts what the CPU counts", options.device->name()),
                  .tier = Tier::sampled,
                  .evidence = place.refusal};
  if (!on) return finding;
  finding.device = options.device->name();
  const SampledNull null(verifier.info().name, drafter, table, drafts);
  const DeviceParity parity = device_parity(verifier, drafter, table, *on, null, drafts,
                                            {.seed = options.seed,
                                             .first = first_trial(options.position),
                                             .threads = options.threads,
                                             .stop = options.stop});
  trial = parity.trial;
  finding.work = parity.trials;
  finding.status = parity.trials == 0 ? Status::undecided : parity.equal() ? Status::passed : Status::failed;
  if (finding.status == Status::undecided) finding.evidence = "stopped before the end";
  if (finding.status == Status::failed)
    finding.evidence = fmt::format("of {} trials {}; {}", parity.trials, parity.difference,
                                   trial ? fmt::format("the first that differs is trial {}: {}", *trial, parity.alone)
                                         : "no single trial differs");
  return finding;
}

}  // namespace

namespace {

/// Returns the number of tokens that a trial reads in passes over the vocabulary, averaged over the first trials of
/// the seed. The reduced V is computed from this count and not from a time, so that it is the same on every machine.
double tokens_of_trial(const AnyVerifier& verifier, const AnyDrafter& drafter, const RatioTable& table, int drafts,
                       const GateOptions& options) {
  constexpr std::uint64_t trials = 64;
  const Simulator<RatioTable> simulator(
      {.verifier = verifier, .drafter = drafter, .drafts = drafts, .seed = options.seed}, table);
  Tally tally = simulator.empty();
  const std::uint64_t before = tokens_passed();
  simulator.run(0, trials, tally);
  return static_cast<double>(tokens_passed() - before) / static_cast<double>(trials);
}

struct ShrunkSource {
  std::string spec, note;
};

/// Returns the standard source. If passes over the vocabulary at V = 32,000 would read more tokens than the profile
/// allows, V is reduced to a power of two.
ShrunkSource affordable_source(const AnyVerifier& verifier, const AnyDrafter& drafter, int drafts,
                               const GateOptions& options) {
  const int proposals = drafter.info().several_proposals ? drafts : 1;
  const std::string spec = standard_source(large_vocabulary, proposals);
  const double tokens = tokens_of_trial(verifier, drafter, opened(spec, options)->table, drafts, options);
  const double affordable = std::exp2(options.profile.log2_tokens - options.profile.log2_trials);
  if (tokens <= affordable) return {spec, {}};
  int vocabulary = small;
  for (int wider = 16; wider <= large_vocabulary && tokens * wider <= affordable * large_vocabulary; wider *= 2)
    vocabulary = wider;
  return {standard_source(vocabulary, proposals),
          fmt::format("V = {} instead of {}, because a trial makes {:.1f} passes over the vocabulary", vocabulary,
                      large_vocabulary, tokens / large_vocabulary)};
}

}  // namespace

std::string standard_source(int vocabulary, int proposals) {
  return fmt::format("zipf:vocabulary={},exponent=1.1,draft_exponent=1.1,offset=1.7,noise=0.8,shuffle=1,drafts={}",
                     vocabulary, proposals);
}

std::string likely_token_source(int vocabulary, int proposals) {
  return fmt::format("zipf:vocabulary={},exponent=4.5,draft_exponent=6.5,noise=0.8,shuffle=1,drafts={}",
                     std::min(vocabulary, 8), proposals);
}

SampledPosition sample_position(const Gate& gate, const AnyDrafter& drafter, const GateOptions& options) {
  const AnyVerifier& verifier = *gate.verifier;
  const Info& info = verifier.info();
  const int drafts = drafts_taken(verifier, drafter, options.drafts);
  const bool everywhere = info.unsupported.simulate.empty() && !info.shared_noise && !drafter.info().shared_noise();
  const bool defined = verifier.takes(drafts) &&
                       drafter.defined(large_vocabulary, drafts, drafter.info().several_proposals ? drafts : 1);
  ShrunkSource chosen{options.source, {}};
  if (options.source.empty() && everywhere && defined)
    chosen = affordable_source(verifier, drafter, drafts, options);
  else if (options.source.empty())
    chosen.spec = standard_source(small, drafter.info().several_proposals ? drafts : 1);
  const std::string& spec = chosen.spec;
  const std::shared_ptr<const Opened> at = opened(spec, options);
  const SimulationBackend backend = backend_for(verifier, drafter, Supports(at->pair.proposals), drafts);
  if (backend == SimulationBackend::none || !verifier.takes(drafts) ||
      !drafter.defined(at->table.vocabulary(), drafts, static_cast<int>(at->pair.proposals.size()))) {
    return {.note = fmt::format("does not run on {} with {} drafts", spec, drafts)};
  }
  const RatioTable& table = at->table;
  // This tier gets half of the false-alarm budget; properties of small instances get the other half. The named draft
  // samplings split this half.
  const auto distributions = std::max<std::size_t>(1, options.draft_samplings.size());
  BackendChooser places(options.device, table);
  const Backend place = places.of(verifier, drafter, drafts);
  const TrialTable* const on = place.on_device() ? &places.table() : nullptr;
  const SampledGateOptions sampling{
      .trials = std::exp2(options.profile.log2_trials),
      .distance = options.distance,
      .alpha = options.false_alarm * options.share / 2 / options.gates / static_cast<double>(distributions),
      .seed = options.seed,
      .first = first_trial(options.position),
      .threads = options.threads,
      .stop = options.stop,
      .progress = options.progress,
      .on = on,
      .checkpoint = options.checkpoint,
      .group = fmt::format("check {} on {}", gate.name(), drafter.info().name)};
  SampledPosition sampled{.note = chosen.note};
  if (options.device) {
    std::optional<std::uint64_t> trial;
    sampled.parity = parity_finding(verifier, drafter, table, place, on, drafts, options, trial);
    if (sampled.parity->status == Status::failed)
      sampled.parity->replay = replay_of(gate, drafter, spec, drafts, trial, options);
    if (!sampled.note.empty()) sampled.note += "; ";
    sampled.note += on ? fmt::format("trials on {}", options.device->name())
                       : fmt::format("trials on the CPU: {}", place.refusal);
  }
  const SampledVerdict verdict =
      backend == SimulationBackend::table
          ? sampled_gate(verifier, drafter, table, table, drafts, sampling)
          : sampled_gate(verifier, drafter, Rows<double>(at->pair.target, at->pair.proposals), table, drafts,
                         sampling);
  Finding finding = finding_of(
      verdict, fmt::format("distribution of {} at V = {}",
                           drafts == 1 ? "one draft" : fmt::format("{} drafts", drafts), table.vocabulary()));
  if (finding.status == Status::passed)
    finding.sensitivity =
        sensitivity_of(verdict.smallest_distance, fmt::format(" at one position of V = {}", table.vocabulary()));
  else
    finding.replay = replay_of(gate, drafter, spec, drafts, verdict.example, options);
  finding.device = place.device;
  sampled.finding = std::move(finding);
  return sampled;
}

}  // namespace draftproof
