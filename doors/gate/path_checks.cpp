#include <draftproof/doors/gate/path_checks.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <draftproof/properties/proof/finding.hpp>

#include <draftproof/captures/path_source.hpp>
#include <draftproof/doors/gate/law_text.hpp>
#include <draftproof/doors/gate/path_evidence.hpp>
#include <draftproof/doors/gate/toy.hpp>
#include <draftproof/doors/gate/tree_batch.hpp>
#include <draftproof/doors/wire/result_reader.hpp>
#include <draftproof/properties/gate/sampled_position.hpp>
#include <draftproof/properties/prover/path_registry.hpp>
#include <draftproof/sim/random/philox.hpp>
#include <draftproof/statistics/error_budget.hpp>
#include <draftproof/statistics/gate_suite.hpp>

namespace draftproof::doors {

namespace {

constexpr int usual_path_vocabulary = 1024, usual_positions = 4;
constexpr std::size_t most_bytes_drafted = 16u << 20;  // of rows in a batch, as for trials of one position

/// The trials of a program, in batches.
class PathTrials {
 public:
  PathTrials(Served& program, const TreeShape& shape, const PathSource& source, std::uint64_t seed)
      : program_{program},
        drafter_{tree_law(path_law(program.declaration()))},
        shape_{shape},
        conditionals_{source.open()},
        vocabulary_{source.vocabulary()},
        seed_{seed},
        wanted_{shape.length + (program.declaration().stateful() ? 2 : 1)},
        batch_{program.declaration()},
        evidence_{*conditionals_, source.starts(), wanted_} {}

  /// Runs trials `first` .. `first + count - 1`, until there is a fault.
  void run(std::uint64_t first, std::uint64_t count, const std::atomic<bool>* stop) {
    const auto stopped = [stop] { return stop && stop->load(std::memory_order_relaxed); };
    std::uint64_t next = first;
    while (fault_.empty() && !stopped()) {
      if (!going_on_.empty()) {
        call(std::move(going_on_.back()));
        going_on_.pop_back();
      } else if (next < first + count) {
        call({.trial = next, .context = conditionals_->start(next)});
        ++next;
      } else if (batch_.rows() > 0) {
        ask();
      } else {
        return;
      }
    }
  }

  std::uint64_t trials() const { return trials_; }
  const PathEvidence& evidence() const { return evidence_; }
  /// A row without an answer, or with more tokens than a path can give, in words; empty: none.
  const std::string& fault() const { return fault_; }

 private:
  /// A trial between two calls.
  struct Walker {
    std::uint64_t trial = 0;
    int context = 0, tokens = 0;  ///< after the tokens so far, and their number
    std::uint32_t calls = 0;
    std::vector<double> state{};
  };

  /// Puts the next call of a trial into the batch, which is asked before if it is full.
  void call(Walker walker) {
    constexpr std::uint32_t purpose = 0x202;
    const Declaration& declaration = program_.declaration();
    const auto seed = static_cast<std::int64_t>(philox_pair(seed_, walker.trial, walker.calls, purpose).first >> 1);
    Philox draft(0, static_cast<std::uint64_t>(seed), Philox::Role::draft);
    tree_.clear(walker.context);
    drafter_.draw(*conditionals_, shape_, draft, tree_);
    const auto entries = static_cast<int>(tree_.all_draws().size());
    const bool full =
        batch_.rows() == declaration.most_rows || batch_.bytes_with(entries, vocabulary_) > most_bytes_drafted;
    if (batch_.rows() > 0 && (full || (!declaration.ragged && entries != batch_.longest()))) ask();
    batch_.add(tree_, *conditionals_, seed, walker.state);
    asked_.push_back(std::move(walker));
  }

  void ask() {
    size_result(batch_.packed(), WireFunction::verify, result_);
    program_.verify(batch_.packed(), result_);
    for (int row = 0; row < batch_.rows(); ++row) take(row);
    batch_.clear();
    asked_.clear();
  }

  void take(int row) {
    const auto i = static_cast<std::size_t>(row);
    Walker& walker = asked_[i];
    const auto tokens = std::as_const(result_).tokens.begin() + std::ptrdiff_t{row} * result_.tokens_a_row;
    if (result_.status[i] != 0 || result_.counts[i] < 1 || result_.counts[i] > shape_.length + 1) {
      const auto message = result_.messages.find(row);
      const Outcome outcome{.status = static_cast<RowStatus>(result_.status[i]),
                            .message = message == result_.messages.end() ? "" : message->second};
      failed_ += outcome.status == RowStatus::failed ? 1 : 0;
      if (failed_ == batch_.rows() && trials_ == 0)
        throw ProgramFails(program_.declaration().name, one_line(outcome.message));
      if (fault_.empty())
        fault_ = outcome.status == RowStatus::ok
                     ? fmt::format("trial {}: found {} tokens, wanted 1 to {}", walker.trial, result_.counts[i],
                                   shape_.length + 1)
                     : fmt::format("trial {} has no answer: {}", walker.trial, outcome_text(outcome));
      return;
    }
    for (int n = 0; n < result_.counts[i] && walker.tokens < wanted_; ++n) {
      evidence_.add(walker.tokens++, walker.context, tokens[n]);
      walker.context = conditionals_->next(walker.context, tokens[n]);
    }
    if (program_.declaration().stateful() && walker.tokens < wanted_) {
      const auto state = result_.state_of(row);
      walker.state.assign(state.begin(), state.end());
      ++walker.calls;
      going_on_.push_back(std::move(walker));
    } else {
      ++trials_;
    }
  }

  Served& program_;
  const AnyTreeDrafter& drafter_;
  TreeShape shape_;
  std::unique_ptr<StepContexts> conditionals_;
  int vocabulary_;
  std::uint64_t seed_;
  int wanted_;  ///< tokens of a trial that count
  DraftTree tree_;
  TreeBatch batch_;
  std::vector<Walker> asked_, going_on_;  ///< in the batch; to be called again
  ServedResult result_;
  PathEvidence evidence_;
  std::uint64_t trials_ = 0;
  int failed_ = 0;  ///< rows, until the first fault ends the trials
  std::string fault_;
};

/// The planned trials: fewer where their rows have more than half a mebibyte each.
std::uint64_t trials_within(const Declaration& declaration, const TreeShape& shape, int vocabulary,
                            double log2_trials) {
  constexpr double usual_bytes = 0x1p19;
  const int entries = declaration.level == Level::chain
                          ? shape.length
                          : most_entries(shape, vocabulary, tree_law(declaration.law).info());
  const auto bytes = static_cast<double>(TreeBatch(declaration).bytes_with(entries, vocabulary));
  return static_cast<std::uint64_t>(std::max(1.0, std::exp2(log2_trials) * std::min(1.0, usual_bytes / bytes)));
}

std::string source_of(const Declaration& declaration, const PathCheckOptions& options) {
  if (!options.source.empty()) return options.source;
  const int most = declaration.most_vocabulary;
  return fmt::format("{},positions={}",
                     standard_source(most > 0 ? std::min(most, usual_path_vocabulary) : usual_path_vocabulary, 1),
                     usual_positions);
}

}  // namespace

std::optional<TreeShape> shape_of_trials(const Declaration& declaration, int drafts) {
  constexpr int usual_entries = 8, longest = 3;
  const int fewest = std::max(1, declaration.fewest_drafts);
  const int most = declaration.most_drafts > 0 ? declaration.most_drafts : std::max(usual_entries, fewest);
  if (fewest > most || fewest > max_path_length) return std::nullopt;
  if (declaration.level == Level::chain)
    return TreeShape{.drafts = 1, .length = std::clamp(drafts, fewest, std::min(most, max_path_length))};
  const TreeDrafterInfo& law = tree_law(declaration.law).info();
  std::vector<TreeShape> shapes;
  for (int paths = std::min(2, drafts); paths >= 1; --paths)
    for (int length = longest; length >= 1; --length)
      shapes.push_back(
          {.drafts = paths, .length = length, .branching = {}, .stem = law.has_stem && length > 1 ? 1 : 0});
  shapes.push_back({.drafts = 1, .length = fewest});
  if (law.fixed) shapes = {{.drafts = std::clamp(2 * longest, fewest, most), .length = longest}};
  for (const TreeShape& shape : shapes)
    if (const int entries = most_entries(shape, usual_path_vocabulary, law); entries >= fewest && entries <= most)
      return shape;
  return std::nullopt;
}

GateFinding check_paths(Served& program, const PathCheckOptions& options) {
  const Declaration& declaration = program.declaration();
  const TreeShape shape = shape_of_trials(declaration, options.drafts).value();
  const std::string spec = source_of(declaration, options);
  const auto source = make_model_of(Source::open(spec, {.seed = options.seed}));
  PathTrials trials(program, shape, *source, options.seed);
  const double threshold = ErrorBudget::numerics - std::log(options.alpha);
  const auto budget = trials_within(declaration, shape, source->vocabulary(), options.log2_trials);
  constexpr std::uint64_t first_batch = 4096;
  GateSchedule schedule(std::min(first_batch, budget), budget, threshold);
  double log_e = 0;
  bool stopped = false;
  while (const std::uint64_t planned = schedule.next()) {
    trials.run(trials.trials(), planned, options.stop);
    stopped = trials.trials() < schedule.exposure() + planned;
    if (stopped || !trials.fault().empty()) break;
    log_e = trials.evidence().log_e();
    schedule.observe(log_e);
    if (options.progress) options.progress(trials.trials());
  }
  const std::string drafts = declaration.level == Level::chain
                                 ? fmt::format("a path of {} drafts", shape.length)
                                 : fmt::format("trees, K = {}, L = {}", shape.drafts, shape.length);
  GateFinding finding{.check = fmt::format("law of {} at V = {}", drafts, source->vocabulary()),
                      .tier = Tier::sampled,
                      .status = Status::held,
                      .work = trials.trials()};
  if (!trials.fault().empty()) {
    finding.status = Status::violated;
    finding.evidence = trials.fault();
  } else {
    finding.evidence = std::isinf(log_e) ? fmt::format("proof after {} trials: a token with p = 0; {}",
                                                       trials.trials(), trials.evidence().worst())
                                         : fmt::format("e = 10^{:.1f} ({}) after {} trials", log_e / std::log(10.0),
                                                       name(schedule.state()), trials.trials());
    if (schedule.state() == GateState::failed) finding.status = Status::violated;
    if (stopped || schedule.undecided()) finding.status = Status::undecided;
    if (schedule.state() != GateState::ok && !std::isinf(log_e))
      finding.evidence += "; most by " + trials.evidence().worst();
  }
  if (finding.status != Status::held)
    finding.replay = fmt::format("{} check --door '{}' --tier sampled --source '{}' --seed {}", program_name(),
                                 options.door, spec, options.seed);
  return finding;
}

}  // namespace draftproof::doors
