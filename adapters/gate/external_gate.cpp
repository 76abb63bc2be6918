#include <draftproof/adapters/gate/external_gate.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <draftproof/properties/proof/finding.hpp>

#include <draftproof/adapters/gate/batch_checks.hpp>
#include <draftproof/adapters/gate/distribution_checks.hpp>
#include <draftproof/adapters/gate/distribution_text.hpp>
#include <draftproof/adapters/gate/draft_checks.hpp>
#include <draftproof/adapters/gate/edge_rows.hpp>
#include <draftproof/adapters/gate/external_verifier.hpp>
#include <draftproof/adapters/gate/judgement.hpp>
#include <draftproof/adapters/gate/path_checks.hpp>
#include <draftproof/adapters/gate/selection_checks.hpp>
#include <draftproof/adapters/gate/small_model.hpp>
#include <draftproof/adapters/gate/text_checks.hpp>
#include <draftproof/adapters/wire/batch_packer.hpp>
#include <draftproof/adapters/wire/result_reader.hpp>
#include <draftproof/captures/nearest_names.hpp>
#include <draftproof/properties/gate/sampled_position.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/sim/random/philox4x32.hpp>

namespace draftproof::adapters {

namespace {

/// Returns the limits of an exploration with this many predictions. If the predictions are few, most calls would go
/// into building the tree of draws, so fewer evenly spaced values of each draw are tested; the predictions test other
/// values in any case. A program that never stops drawing is also given up after fewer draws.
ExploreOptions exploration_within(int predictions) {
  const ExploreOptions usual;
  return {.predictions = predictions,
          .even_points = std::clamp(predictions / 4, 1, usual.even_points),
          .most_calls = std::clamp<std::size_t>(250 * static_cast<std::size_t>(predictions), 4000, usual.most_calls),
          .most_places = std::clamp(8 * predictions, 64, usual.most_places)};
}

/// Whether the program decides on one position; a program of chains does so on one draft.
bool decides_positions(const Declaration& declaration) {
  return declaration.has("verify") && (declaration.level == Level::position ||
                                       (declaration.level == Level::chain && declaration.fewest_drafts <= 1));
}

/// Whether the program decides on paths or trees of a shape that trials have.
bool decides_paths(const Declaration& declaration, int drafts) {
  return declaration.has("verify") && declaration.level != Level::position &&
         shape_of_trials(declaration, drafts).has_value();
}

/// Adds the note of the first passed check that has a note, to be printed beside the numbers of the tier.
void add_note(GateResult& result) {
  for (const Finding& finding : result.findings)
    if (finding.status == Status::passed && !finding.evidence.empty()) {
      result.note += (result.note.empty() ? "" : "; ") + finding.evidence;
      return;
    }
}

/// Returns the number of drafts in a trial at one position.
int drafts_of_trials(const Declaration& declaration, int drafts) {
  if (declaration.level == Level::chain) return 1;
  const int most = declaration.most_drafts > 0 ? declaration.most_drafts : drafts;
  return std::max(declaration.fewest_drafts, std::min(drafts, most));
}

/// Returns the replay line with its profile, unless that is the default or the line has one: with the fewer trials of
/// the default profile a failure of `nightly` may not be seen again.
std::string with_profile(std::string replay, const Profile& profile) {
  if (!replay.empty() && profile.name != profiles.front().name && replay.find(" --profile ") == std::string::npos)
    replay += fmt::format(" --profile {}", profile.name);
  return replay;
}

/// Returns the sources of trials: the one that the caller named, or the standard source and one with a likely token.
/// Rows of 16 bits get the standard source alone. The gate compares tokens with the rows before they are rounded; the
/// rounding of a probability near 1, up to 2^-9 in bfloat16, would look like a bug to the trials of `nightly`.
std::vector<std::string> sources_of_trials(const Declaration& declaration, const std::string& named, int proposals) {
  if (!named.empty()) return {named};
  const int most = declaration.most_vocabulary,
            vocabulary = most > 0 ? std::min(usual_vocabulary, most) : usual_vocabulary;
  const std::string standard = standard_source(vocabulary, proposals);
  if (significant_bits(declaration.dtypes.front()) <= significant_bits(Dtype::float16)) return {standard};
  return {standard, likely_token_source(vocabulary, proposals)};
}

/// Runs `trials(source, log2_less)` at each source, 2^log2_less times fewer at the second one, until a finding has not
/// passed, and calls `add` with each finding. A program that fails on every row of the second source is refuted,
/// because it has answered at the first one; `replay(source)` is then the replay line.
template <class Trials, class Add, class Replay>
void at_each(const std::vector<std::string>& sources, const Trials& trials, const Add& add, const Replay& replay) {
  bool second = false;
  for (const std::string& source : sources) {
    std::optional<Finding> finding;
    try {
      finding = trials(source, second ? 2 : 0);
    } catch (const ProgramFails& fails) {
      if (!second) throw;
      finding = finding_of("answers", Tier::sampled,
                           Answer::failed(fmt::format("on rows with a likely token: {}", fails.what())), 0, {},
                           replay(source));
    }
    if (!finding) return;
    if (second) {
      finding->property += ", one token likely";
      finding->sensitivity.clear();  // the tier states the distance at the standard source
    }
    const bool passed = finding->status == Status::passed;
    add(std::move(*finding));
    if (!passed) return;
    second = true;
  }
}

/// Returns a model of near rows (edge_rows.hpp), at one position and with as many drafts as the program's trials have;
/// nothing if the model would be large.
std::optional<SmallModel> near_model(const Declaration& declaration, std::uint64_t seed, int n, int drafts) {
  constexpr double most_inputs = 64;
  if (declaration.level != Level::position) {
    if (!shape_of_trials(declaration, usual_drafts) || declaration.fewest_drafts > 3) return std::nullopt;
    return small_model_of(external_path_instance(declaration, seed, n), declaration);
  }
  const auto edge = edge_rows(seed, n, declaration.dtypes.front());
  if (!edge) return std::nullopt;
  Instance instance{.target = edge->rows.target, .proposals = {edge->rows.proposal}, .drafts = drafts};
  if (registry().drafter(declaration.draft_sampling)->info().several_proposals)
    instance.proposals.resize(static_cast<std::size_t>(drafts), edge->rows.proposal);
  if (std::pow(instance.vocabulary(), drafts) > most_inputs || !takes(declaration, instance)) return std::nullopt;
  return small_model_of(instance, declaration);
}

/// Visits the answers of at least `calls` calls on one input, in whole batches; the calls draw their own numbers.
/// Ends when visit(result, row) returns true.
template <class Visit>
void each_answer(Served& program, const Input& input, std::uint64_t seed, int calls, const Visit& visit) {
  constexpr std::uint32_t purpose = 0x203;
  constexpr std::size_t most_bytes = std::size_t{32} << 20;
  const Declaration& declaration = program.declaration();
  const std::size_t bytes = (input.p.size() + input.q.size()) * input.p.front().size() * sizeof(double);
  const auto at_once = static_cast<std::size_t>(std::clamp<std::size_t>(
      most_bytes / bytes, 1, static_cast<std::size_t>(std::min(calls, declaration.most_rows))));
  for (int done = 0; done < calls; done += static_cast<int>(at_once)) {
    const std::vector<Call> asked(at_once);
    std::vector<std::size_t> all(at_once);
    std::iota(all.begin(), all.end(), std::size_t{0});
    PackedBatch packed;
    pack_calls(std::span(&input, 1), asked, all, form_of_trials(declaration), packed);
    std::vector<std::int64_t> seeds;
    for (std::size_t i = 0; i < at_once; ++i)
      seeds.push_back(
          static_cast<std::int64_t>(philox_pair(seed, static_cast<std::uint64_t>(done) + i, 0, purpose).first >> 1));
    packed.batch.tape = {};
    packed.batch.randomness = declaration.can(Randomness::seeded) ? Randomness::seeded : Randomness::opaque;
    if (packed.batch.randomness == Randomness::seeded) packed.batch.seeds = seeds;
    ServedResult result;
    size_result(packed.batch, WireFunction::verify, result);
    program.verify(packed.batch, result);
    for (std::size_t i = 0; i < at_once; ++i)
      if (visit(result, i)) return;
  }
}

/// Returns the fault of one answer, if any: no token, or a first token with p = 0.
std::optional<Finding> fault_of_answer(ServedResult& result, std::size_t row, const Input& input,
                                       const std::vector<double>& target, const std::string& model) {
  const auto first = result.tokens_of(static_cast<int>(row)).front();
  const bool ok = result.status[row] == 0, answered = ok && result.counts[row] > 0;
  if (answered && target[static_cast<std::size_t>(first)] > 0) return std::nullopt;
  const auto message = result.messages.find(static_cast<int>(row));
  const std::string fault =
      answered ? fmt::format("got token {}, which has p = 0", first)
      : ok     ? "got no token"
               : failure_text(RowStatus{result.status[row]}, message == result.messages.end() ? "" : message->second);
  return finding_of("answers", Tier::sampled,
                    Answer::failed(fmt::format("on drafts ({}): {}, expected a token with p > 0",
                                               fmt::join(input.drafts, " "), fault)),
                    0, model);
}

/// Returns the first fault of a program that draws its own numbers on near rows: a row without an answer, or a first
/// token with p = 0. In trials on rows of a source, rejections that leave a residual near zero hardly ever happen; here
/// every tuple of drafts is tried.
std::optional<Finding> near_fault(Served& program, std::uint64_t seed, int drafts) {
  constexpr int calls = 16;
  for (const int n : {near_at, near_at + near_every}) {
    const auto model = near_model(program.declaration(), seed, n, drafts);
    if (!model) continue;
    for (const Input& input : model->inputs) {
      std::optional<Finding> fault;
      each_answer(program, input, seed, calls, [&](ServedResult& result, std::size_t row) {
        fault = fault_of_answer(result, row, input, model->target({}), model->text);
        return fault.has_value();
      });
      if (fault) return fault;
    }
  }
  return std::nullopt;
}

/// Returns the first fault of a program in half precision on a long row of 64 possible tokens with impossible drafts,
/// so that its last token is drawn from that row. Noise of 16 bits is 0 now and then, and lets an impossible token win.
/// Noise of float16 is 0 once in 2^25: `calls` calls meet a zero calls / 2^8 times in the mean.
/// Cost: `calls` calls on rows of 128,256 tokens, in a type of 16 bits alone; none if all random numbers are doubles.
std::optional<Finding> half_precision_fault(Served& program, std::uint64_t seed, int drafts, int calls) {
  constexpr int possible = 64, usual = 128'256;
  const Declaration& declaration = program.declaration();
  const bool doubles = declaration.coin_bits == significant_bits(Dtype::float64);
  if (doubles || significant_bits(declaration.dtypes.front()) > significant_bits(Dtype::float16)) return std::nullopt;
  const int v = declaration.most_vocabulary > 0 ? std::min(declaration.most_vocabulary, usual) : usual;
  if (v < 2 * possible) return std::nullopt;
  const auto row = [v](int offset) {
    std::vector<double> shares(static_cast<std::size_t>(v), 0.0);
    for (int i = 0; i < possible; ++i) shares[static_cast<std::size_t>(i * (v / possible) + offset)] = 1.0 / possible;
    return shares;
  };
  const bool position = declaration.level == Level::position;
  const int n = std::clamp(position ? drafts : declaration.fewest_drafts, 1, possible);
  const bool several = position && registry().drafter(declaration.draft_sampling)->info().several_proposals;
  Input input;
  input.p.assign(position ? 1 : static_cast<std::size_t>(n) + 1, row(0));
  input.q.assign(position && !several ? 1 : static_cast<std::size_t>(n), row(1));
  for (int i = 0; i < n; ++i) {
    input.drafts.push_back(i * (v / possible) + 1);
    if (declaration.level == Level::tree) input.parents.push_back(i - 1);
  }
  input.state.assign(static_cast<std::size_t>(declaration.state_size), 0.0);
  std::optional<Finding> fault;
  each_answer(program, input, seed, calls, [&](ServedResult& result, std::size_t at) {
    fault = fault_of_answer(result, at, input, input.p.front(), {});
    if (fault) fault->evidence += fmt::format("; {} of {} tokens are possible", possible, v);
    return fault.has_value();
  });
  return fault;
}

/// Returns why the distributions of the program's outputs cannot be computed on small models, or "" if they can.
std::string why_not_proved(const Declaration& declaration) {
  if (!declaration.has("verify")) return "the program has no verify function";
  return declaration.can(Randomness::scripted) ? why_no_small_model(declaration)
                                               : "the program does not declare scripted randomness";
}

}  // namespace

std::string ExternalGate::refusal(Tier tier) const {
  const Declaration& declaration = served_->declaration();
  if (tier != Tier::sampled) {
    if (tier == Tier::proof && declaration.has("select")) return "";
    return why_not_proved(declaration);
  }
  if (declaration.functions == std::vector<std::string>{"select"})
    return "a selection policy has no trials: it is proved";
  if (declaration.always_greedy() && !declaration.has("draft") && !declaration.has("generate"))
    return "a greedy program draws no tokens: its output is compared in the proof tier";
  if (declaration.draft_sampling == every_prefix)
    return "a program that drafts inside its step gets no drafts: it is proved on small models";
  const bool drafts_or_generates = declaration.has("draft") || declaration.has("generate");
  if (declaration.tolerance > 0 && !drafts_or_generates)
    return "trials are compared with the target without a tolerance: an approximate rule is judged on small models";
  if (declaration.grammar && !drafts_or_generates)
    return "trials have no masks: a verifier under a grammar is proved on small models";
  if (!declaration.settings.empty() && !drafts_or_generates)
    return "trials have no settings: a verifier that applies them is proved on small models";
  if (!declaration.can(Randomness::seeded) && !declaration.can(Randomness::opaque))
    return "the program declares scripted randomness only";
  if (drafts_or_generates) return "";
  if (decides_positions(declaration)) return "";
  // If no drafter has the draft sampling, the tier runs and reports that as a finding.
  if (path_registry().drafter(path_sampling(declaration)) == nullptr || shape_of_trials(declaration, usual_drafts))
    return "";
  return fmt::format("trials have no paths or trees of {} drafts or more", declaration.fewest_drafts);
}

void ExternalGate::examine(GateResult& result, const GateOptions& options) const {
  const std::size_t before = program_ ? program_->unexplained().size() : 0;
  examine_tier(result, options);
  if (!program_) return;
  const auto batches = program_->unexplained().subspan(before);
  if (batches.empty()) return;
  const std::string text =
      fmt::format("{} of the batches had no result, although each row alone had one; the first, {}", batches.size(),
                  one_line(batches.front()));
  result.findings.push_back(finding_of("batches", result.gate.tier, Answer::undecided(text), 0));
}

void ExternalGate::examine_tier(GateResult& result, const GateOptions& options) const {
  try {
    if (result.gate.tier == Tier::proof) {
      const Declaration& declaration = served_->declaration();
      const std::string refused = why_not_proved(declaration);
      if (refused.empty())
        examine_distributions(result, options);
      else if (declaration.has("verify"))
        result.note = "the verifier is not proved: " + refused;
      if (declaration.has("select")) examine_selection(result, options);
    }
    if (result.gate.tier == Tier::edge) examine_batches(result, options);
    if (result.gate.tier == Tier::sampled) examine_trials(result, options);
  } catch (const ProgramFails&) {  // reported as an error, not as a finding
    throw;
  } catch (const ProgramSilent& silent) {
    result.note = silent.what();
    result.findings.push_back(finding_of("stopped", result.gate.tier, Answer::undecided(silent.what()), 0));
  } catch (const RequestFailed& failed) {  // earlier findings are kept
    result.findings.push_back(finding_of("answers", result.gate.tier, Answer::failed(failed.what()), 0, {},
                                         replay_check(result.gate.tier, options)));
  } catch (const AdapterError& error) {  // a program that breaks the protocol has not passed
    result.findings.push_back(finding_of("protocol", result.gate.tier, Answer::failed(error.what()), 0, {},
                                         replay_check(result.gate.tier, options)));
  }
}

std::string ExternalGate::replay_check(Tier tier, const GateOptions& options, const std::string& source) const {
  return with_profile(replay_line("check", "",
                                  {{"adapter", adapter_},
                                   {"tier", std::string(to_text(tier))},
                                   {"source", source.empty() ? options.source : source},
                                   {"position", options.position == 0 ? "" : std::to_string(options.position)},
                                   {"drafts", drafts_option(options.drafts)},
                                   {"seed", std::to_string(options.seed)}}),
                      options.profile);
}

void ExternalGate::examine_batches(GateResult& result, const GateOptions& options) const {
  result.findings = check_batches(*program_, served_->declaration(), {.seed = options.seed, .adapter = adapter_});
  try_replays(result.findings, options);
  for (const Finding& finding : result.findings) result.work = std::max(result.work, finding.work);
  result.draft_samplings.push_back(served_->declaration().draft_sampling);
  add_note(result);
}

void ExternalGate::try_replays(std::vector<Finding>& findings, const GateOptions& options) const {
  const auto failed = [](const Finding& finding) { return finding.status == Status::failed; };
  if (!fresh_ || std::none_of(findings.begin(), findings.end(), failed)) return;
  try {
    const auto program = fresh_();
    const std::vector<Finding> alone =
        check_batches(*program, served_->declaration(), {.seed = options.seed, .adapter = adapter_});
    for (Finding& finding : findings) {
      const auto passes = [&finding](const Finding& other) {
        return other.property == finding.property && other.status == Status::passed;
      };
      if (!failed(finding) || std::none_of(alone.begin(), alone.end(), passes)) continue;
      finding.evidence += needs_earlier_calls;
      finding.replay = replay_line("check", "",
                                   {{"adapter", adapter_},
                                    {"profile", std::string(options.profile.name)},
                                    {"seed", std::to_string(options.seed)}});
    }
  } catch (const AdapterError&) {  // The program cannot be started again, so its replay lines stay as they are.
  }
}

void ExternalGate::examine_distributions(GateResult& result, const GateOptions& options) const {
  std::vector<std::string> models = options.adapter_instances;
  std::erase_if(models, [this](const auto& text) { return is_selection_case(served_->declaration(), text); });
  DistributionChecks checks =
      check_distributions(*program_, served_->declaration(),
                          {.instances = options.profile.adapter_models,
                           .most_drafts = options.profile.adapter_drafts,
                           .first = std::move(models),
                           .seed = options.seed,
                           .adapter = adapter_,
                           .again = replay_line("check", "",
                                                {{"adapter", adapter_},
                                                 {"tier", "proof"},
                                                 {"profile", std::string(options.profile.name)},
                                                 {"models", std::to_string(options.profile.adapter_models)},
                                                 {"predictions", std::to_string(options.profile.adapter_predictions)},
                                                 {"seed", std::to_string(options.seed)}}),
                           .fresh = fresh_,
                           .explore = exploration_within(options.profile.adapter_predictions),
                           .stop = options.stop,
                           .progress = {}});
  result.findings = std::move(checks.findings);
  result.work = checks.calls;
  result.draft_samplings.push_back(served_->declaration().draft_sampling);
  result.counts = {{"models", static_cast<std::uint64_t>(checks.instances)}, {"predictions", checks.predictions}};
  result.note = fmt::format("{} models, {} predictions confirmed", checks.instances, checks.predictions);
  const bool failed = std::any_of(result.findings.begin(), result.findings.end(),
                                  [](const Finding& finding) { return finding.status == Status::failed; });
  if (!failed) result.note += fmt::format(", TV to {:.1g}", checks.largest);  // of models that passed
  add_note(result);
}

void ExternalGate::examine_selection(GateResult& result, const GateOptions& options) const {
  SelectionCheckOptions asked{.seed = options.seed, .adapter = adapter_};
  for (const std::string& text : options.adapter_instances)
    if (is_selection_case(served_->declaration(), text)) asked.first.push_back(text);
  for (Finding& finding : check_selection(*served_, asked)) {
    result.work += finding.work;
    result.findings.push_back(std::move(finding));
  }
  result.note += std::string(result.note.empty() ? "" : "; ") + "selection policy on small batches";
}

void ExternalGate::examine_trials(GateResult& result, const GateOptions& options) const {
  const Declaration& declaration = served_->declaration();
  // A greedy verifier draws no token: its tokens are compared in the proof tier, and only its drafts are sampled here.
  const bool draws = !declaration.always_greedy(),
             decides = draws && !declaration.grammar && declaration.settings.empty();
  const bool positions = decides && decides_positions(declaration),
             paths = decides && decides_paths(declaration, options.drafts);
  // The false-alarm level is divided: 1/2 for decisions, 1/4 for drafts, 1/4 for text. A chain's decisions are checked
  // on one draft and on paths, with half of the trials each. Each part is divided equally between the sources of its
  // trials.
  const double alpha = options.false_alarm * options.share / 4 / options.gates;
  const auto add = [&](Finding finding) {
    result.work += finding.work;
    finding.replay = with_profile(std::move(finding.replay), options.profile);
    result.findings.push_back(std::move(finding));
  };
  const auto replay_at = [&](const std::string& source) { return replay_check(Tier::sampled, options, source); };
  if (positions) {
    GateOptions asked = options;
    if (paths) asked.share /= 2;  // sample_position() uses half of this share
    const AnyDrafter& drafter = drafter_of_positions();
    result.draft_samplings.emplace_back(drafter.info().name);
    const std::vector<std::string> sources =
        sources_of_trials(declaration, options.source,
                          drafter.info().several_proposals ? drafts_of_trials(declaration, options.drafts) : 1);
    asked.share /= static_cast<double>(sources.size());
    const auto trials = [&](const std::string& source, int log2_less) {
      asked.source = source;
      asked.profile.log2_trials = asked.profile.adapter_log2_trials - log2_less;
      return verified_trials(result, drafter, asked);
    };
    at_each(sources, trials, add, replay_at);
  }
  if (paths) {
    result.draft_samplings.emplace_back(path_sampling(declaration));
    std::vector<std::string> sources = sources_of_trials(declaration, options.source, 1);
    if (options.source.empty())
      for (std::string& source : sources) source += ",positions=4";
    const double parts = (positions ? 1 : 0.5) * static_cast<double>(sources.size());
    const auto trials = [&](const std::string& source, int log2_less) {
      return std::optional(
          check_paths(*served_, {.log2_trials = options.profile.adapter_log2_trials - (positions ? 1 : 0) - log2_less,
                                 .drafts = options.drafts,
                                 .alpha = alpha / parts,
                                 .seed = options.seed,
                                 .source = source,
                                 .adapter = adapter_,
                                 .stop = options.stop,
                                 .progress = options.progress}));
    };
    at_each(sources, trials, add, replay_at);
  }
  const int log2_drafts = options.profile.adapter_log2_drafts, log2_long = std::min(11, log2_drafts - 2);
  if (declaration.has("verify")) {
    const int drafts = drafts_of_trials(declaration, options.drafts);
    std::array faults{near_fault(*served_, options.seed, drafts),
                      half_precision_fault(*served_, options.seed, drafts, 1 << std::min(11, log2_drafts - 1))};
    for (std::optional<Finding>& fault : faults) {
      if (!fault) continue;
      fault->replay = replay_check(Tier::sampled, options);
      add(std::move(*fault));
    }
  }
  const auto add_all = [&](std::vector<Finding> findings) {
    for (Finding& finding : findings) add(std::move(finding));
  };
  if (declaration.has("draft"))
    add_all(check_drafts(*served_, {.log2_small = log2_drafts,
                                    .log2_large = log2_drafts - 2,
                                    .log2_kept = log2_long,
                                    .alpha = alpha,
                                    .seed = options.seed,
                                    .adapter = adapter_,
                                    .drafts = options.drafts}));
  if (declaration.has("generate"))
    add_all(check_text(*served_, {.log2_tokens = options.profile.adapter_log2_tokens,
                                  .alpha = alpha,
                                  .seed = options.seed,
                                  .adapter = adapter_}));
}

const AnyDrafter& ExternalGate::drafter_of_positions() const {
  const Declaration& declaration = served_->declaration();
  // A single draft of a chain is one draw from q.
  const std::string sampling = declaration.level == Level::chain ? "iid" : declaration.draft_sampling;
  if (const AnyDrafter* drafter = registry().drafter(sampling)) return *drafter;
  throw AdapterError(
      fmt::format("draft_sampling: got \"{}\", expected a draft sampling of `draftproof list`", sampling));
}

std::optional<Finding> ExternalGate::verified_trials(GateResult& result, const AnyDrafter& drafter,
                                                     const GateOptions& options) const {
  const Declaration& declaration = served_->declaration();
  const ExternalVerifier verifier(served_);
  GateOptions asked = options;
  asked.drafts = drafts_of_trials(declaration, options.drafts);
  asked.draft_samplings = {std::string(drafter.info().name)};
  asked.device = nullptr;
  SampledPosition sampled = sample_position({.verifier = &verifier, .tier = Tier::sampled}, drafter, asked);
  if (result.findings.empty()) result.note = sampled.note;  // the note of the first source
  if (!sampled.finding) return std::nullopt;
  if (const Unanswered& none = verifier.unanswered(); none.trials > 0) {
    const Outcome first{.status = none.status, .message = none.message};
    if (none.status == RowStatus::failed && none.trials >= sampled.finding->work)
      throw ProgramFails(declaration.name, one_line(none.message));
    sampled.finding->evidence = fmt::format("{} of {} trials have no answer; the first, trial {}, has {}",
                                            none.trials, sampled.finding->work, none.first, outcome_text(first));
  }
  if (!sampled.finding->replay.empty()) sampled.finding->replay = replay_check(Tier::sampled, options);
  return std::move(sampled.finding);
}

}  // namespace draftproof::adapters
