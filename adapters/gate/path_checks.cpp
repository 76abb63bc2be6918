#include <draftproof/adapters/gate/path_checks.hpp>
#include <draftproof/properties/statistics/log_mean_exp.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include <draftproof/adapters/gate/distribution_text.hpp>
#include <draftproof/adapters/gate/small_model.hpp>
#include <draftproof/adapters/wire/result_reader.hpp>
#include <draftproof/captures/nearest_names.hpp>
#include <draftproof/captures/path_source.hpp>
#include <draftproof/properties/proof/finding.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/properties/statistics/count_models.hpp>
#include <draftproof/properties/statistics/error_budget.hpp>
#include <draftproof/properties/statistics/gate_suite.hpp>
#include <draftproof/properties/statistics/row_groups.hpp>
#include <draftproof/properties/statistics/sample_size.hpp>
#include <draftproof/sim/random/philox.hpp>

namespace draftproof::adapters {

PathEvidence::PathEvidence(const ConditionalModel<RatioTable>& conditionals, int contexts, int depths)
    : depths_{at(depths)} {
  for (int c = 0; c < contexts; ++c) {
    const RatioTable& distributions = conditionals.distributions(c);
    Context context;
    std::vector<double> proposal;
    for (Token x = 0; x < distributions.vocabulary(); ++x) {
      context.target.push_back(distributions.target(x));
      proposal.push_back(distributions.proposal(x));
    }
    context.group[0] = mass_groups(ratio_key(context.target, proposal), context.target);
    context.group[1] = mass_groups(context.target, context.target);
    for (std::size_t key = 0; key < keys; ++key) context.mass[key] = folded(context.group[key], context.target);
    tokens_.emplace_back(context.target.size());
    context_.push_back(std::move(context));
  }
  groups_.assign(context_.size() * depths_ * keys, std::vector<std::uint64_t>(default_groups));
}

std::vector<PathEvidence::Bet> PathEvidence::bets() const {
  constexpr const char* key_names[keys] = {"p / q", "p"};
  const auto contexts = static_cast<double>(context_.size());
  std::vector<Bet> all;
  for (std::size_t c = 0; c < context_.size(); ++c) {
    all.push_back({&context_[c].target, &tokens_[c], 1 / (2 * contexts), fmt::format("context {}, token", c)});
    for (std::size_t d = 0; d < depths_; ++d)
      for (std::size_t key = 0; key < keys; ++key)
        all.push_back({&context_[c].mass[key], &groups_[(c * depths_ + d) * keys + key],
                       1 / (2 * keys * contexts * static_cast<double>(depths_)),
                       fmt::format("context {}, token {} of a trial, group along {}", c, d + 1, key_names[key])});
  }
  return all;
}

double PathEvidence::log_e() const {
  std::vector<double> logs, weights;
  for (const Bet& bet : bets()) {
    logs.push_back(log_e_multinomial(*bet.distribution, *bet.counts));
    weights.push_back(bet.weight);
  }
  return log_weighted_mean_exp(logs, weights);
}

std::string PathEvidence::worst() const {
  std::string text;
  double most = -1;
  for (const Bet& bet : bets()) {
    const double log_e = log_e_multinomial(*bet.distribution, *bet.counts);
    if (!(log_e > most)) continue;
    most = log_e;
    const auto seen = static_cast<double>(std::accumulate(bet.counts->begin(), bet.counts->end(), std::uint64_t{0}));
    std::size_t cell = 0;
    double farthest = -1;
    for (std::size_t i = 0; i < bet.distribution->size(); ++i) {
      const double expected = seen * (*bet.distribution)[i],
                   off = std::abs(static_cast<double>((*bet.counts)[i]) - expected);
      const double deviations = expected > 0 ? off / std::sqrt(expected) : off > 0 ? HUGE_VAL : 0;
      if (deviations > farthest) farthest = deviations, cell = i;
    }
    text = fmt::format("{} {}: {} seen, {:.1f} expected", bet.name, cell, (*bet.counts)[cell],
                       seen * (*bet.distribution)[cell]);
  }
  return text;
}

namespace {

constexpr std::size_t most_kept = 64;  ///< contexts whose rows are kept; with a live model no context occurs twice

}  // namespace

void TreeBatch::keep(int context, const ConditionalModel<RatioTable>& conditionals) {
  const auto [found, added] = kept_.try_emplace(context);
  if (!added) return;
  // A leaf beyond the model's last position has no distributions. Its rows are copies of the root's, which no rule
  // reads.
  const RatioTable& distributions = conditionals.distributions(context < 0 ? 0 : context);
  vocabulary_ = distributions.vocabulary();
  std::vector<double> p, q;
  for (Token x = 0; x < vocabulary_; ++x) {
    p.push_back(distributions.target(x));
    q.push_back(distributions.proposal(x));
  }
  const std::size_t size = p.size() * width(form_.dtype);
  found->second.p.resize(size);
  found->second.q.resize(size);
  store_row(p, form_, found->second.p.data());
  store_row(q, form_, found->second.q.data());
}

void TreeBatch::add(const DraftTree& tree, const ConditionalModel<RatioTable>& conditionals, std::int64_t seed,
                    std::span<const double> state) {
  starts_.push_back(entries_.size());
  roots_.push_back(tree.context(DraftTree::root));
  seeds_.push_back(seed);
  packed_.state.resize(seeds_.size() * static_cast<std::size_t>(form_.state_size), 0.0);
  std::copy(state.begin(), state.end(), packed_.state.end() - static_cast<std::ptrdiff_t>(state.size()));
  keep(roots_.back(), conditionals);
  entry_of_.assign(static_cast<std::size_t>(tree.size()), -2);
  entry_of_[DraftTree::root] = -1;
  for (const TreeDraw& draw : tree.all_draws()) {
    const int child = draw.child, parent = tree.parent(child);
    int& entry = entry_of_[static_cast<std::size_t>(child)];
    if (entry == -2) entry = static_cast<int>(entries_.size() - starts_.back());
    entries_.push_back({.token = tree.token(child),
                        .parent = entry_of_[static_cast<std::size_t>(parent)],
                        .from = tree.context(parent),
                        .to = tree.context(child)});
    keep(tree.context(child), conditionals);
  }
  longest_ = std::max(longest_, entries_.size() - starts_.back());
}

void TreeBatch::clear() {
  entries_.clear();
  starts_.clear();
  roots_.clear();
  seeds_.clear();
  packed_.state.clear();
  longest_ = 0;
  if (kept_.size() > most_kept) kept_.clear();
}

std::size_t TreeBatch::bytes_with(int entries, int vocabulary) const {
  const std::size_t n = std::max(longest_, static_cast<std::size_t>(entries));
  return (seeds_.size() + 1) * (2 * n + 1) * static_cast<std::size_t>(vocabulary) * width(form_.dtype);
}

const ServedBatch& TreeBatch::packed() {
  const std::size_t rows = seeds_.size(), n = longest_,
                    distribution = static_cast<std::size_t>(vocabulary_) * width(form_.dtype);
  packed_.p.resize(rows * (n + 1) * distribution);
  packed_.q.resize(rows * n * distribution);
  packed_.drafts.assign(rows * n, -1);
  packed_.parents.assign(form_.level == Level::tree ? rows * n : 0, -1);
  packed_.lengths.clear();
  for (std::size_t row = 0; row < rows; ++row) {
    std::byte* p = packed_.p.data() + row * (n + 1) * distribution;
    std::byte* q = packed_.q.data() + row * n * distribution;
    const std::size_t end = row + 1 < rows ? starts_[row + 1] : entries_.size();
    const std::span<const std::byte> first(kept_.at(roots_[row]).p.data(), distribution);
    p = std::copy_n(first.data(), distribution, p);
    for (std::size_t i = starts_[row]; i < end; ++i) {
      const Entry& entry = entries_[i];
      const std::size_t at = row * n + (i - starts_[row]);
      p = std::copy_n(kept_.at(entry.to).p.data(), distribution, p);
      q = std::copy_n(kept_.at(entry.from).q.data(), distribution, q);
      packed_.drafts[at] = entry.token;
      if (!packed_.parents.empty()) packed_.parents[at] = entry.parent;
    }
    fill_unused(first, form_.dtype, p, packed_.p.data() + (row + 1) * (n + 1) * distribution);
    fill_unused(first, form_.dtype, q, packed_.q.data() + (row + 1) * n * distribution);
    packed_.lengths.push_back(static_cast<std::int32_t>(end - starts_[row]));
  }
  const bool seeded = declaration_.can(Randomness::seeded);
  packed_.batch = {.rows = static_cast<int>(rows),
                   .vocabulary = vocabulary_,
                   .drafts_a_row = static_cast<int>(n),
                   .target_rows = static_cast<int>(n) + 1,
                   .proposal_rows = static_cast<int>(n),
                   .state_size = form_.state_size,
                   .dtype = form_.dtype,
                   .kind = form_.kind,
                   .randomness = seeded ? Randomness::seeded : Randomness::opaque,
                   .p = packed_.p,
                   .q = packed_.q,
                   .drafts = packed_.drafts,
                   .lengths = packed_.lengths,
                   .parents = packed_.parents};
  if (seeded) packed_.batch.seeds = seeds_;
  packed_.batch.state = packed_.state;
  return packed_.batch;
}

namespace {

constexpr std::size_t most_bytes_drafted = 16u << 20;  // most bytes of rows in a batch, as for trials of one position

/// The trials of a program, in batches.
class PathTrials {
 public:
  PathTrials(Served& program, const std::vector<TreeShape>& shapes, std::uint64_t block, const PathSource& source,
             std::uint64_t seed)
      : program_{program},
        drafter_{tree_sampling(path_sampling(program.declaration()))},
        shapes_{shapes},
        block_{block},
        conditionals_{source.open()},
        vocabulary_{source.vocabulary()},
        seed_{seed},
        wanted_{longest_of(shapes) + (program.declaration().stateful() ? 2 : 1)},
        batch_{program.declaration()},
        evidence_(shapes.size(), PathEvidence(*conditionals_, source.starts(), wanted_)) {}

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
  /// Returns log e of all trials. Trials of each shape are evidence of their own, because a bug may emit a token too
  /// often in one shape and too seldom in the other; the mean of their e-values is an e-value.
  double log_e() const {
    std::vector<double> logs;
    for (const PathEvidence& one : evidence_) logs.push_back(one.log_e());
    return log_mean_exp(logs);
  }
  /// Describes the bet with the most evidence.
  std::string worst() const { return std::ranges::max_element(evidence_, {}, &PathEvidence::log_e)->worst(); }
  /// Returns the first fault: a row without an answer, or with more tokens than a path can give. Empty if there is
  /// none.
  const std::string& fault() const { return fault_; }

 private:
  /// The state of a trial between two calls.
  struct Trial {
    std::uint64_t trial = 0;
    int context = 0, tokens = 0;  ///< context after the tokens so far, and number of these tokens
    std::uint32_t calls = 0;
    std::vector<double> state{};
  };

  /// Puts the next call of a trial into the batch; runs the batch first if it is full.
  void call(Trial one) {
    constexpr std::uint32_t purpose = 0x202;
    const Declaration& declaration = program_.declaration();
    const auto seed = static_cast<std::int64_t>(philox_pair(seed_, one.trial, one.calls, purpose).first >> 1);
    Philox draft(0, static_cast<std::uint64_t>(seed), Philox::Role::draft);
    tree_.clear(one.context);
    drafter_.draw(*conditionals_, shape_of(one.trial), draft, tree_);
    const auto entries = static_cast<int>(tree_.all_draws().size());
    const bool full =
        batch_.rows() == declaration.most_rows || batch_.bytes_with(entries, vocabulary_) > most_bytes_drafted;
    if (batch_.rows() > 0 && (full || (!declaration.ragged && entries != batch_.longest()))) ask();
    batch_.add(tree_, *conditionals_, seed, one.state);
    asked_.push_back(std::move(one));
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
    Trial& one = asked_[i];
    const auto tokens = std::as_const(result_).tokens.begin() + std::ptrdiff_t{row} * result_.tokens_a_row;
    const int most = shape_of(one.trial).length + 1;
    if (result_.status[i] != 0 || result_.counts[i] < 1 || result_.counts[i] > most) {
      const auto message = result_.messages.find(row);
      const Outcome outcome{.status = static_cast<RowStatus>(result_.status[i]),
                            .message = message == result_.messages.end() ? "" : message->second};
      failed_ += outcome.status == RowStatus::failed ? 1 : 0;
      if (failed_ == batch_.rows() && trials_ == 0)
        throw ProgramFails(program_.declaration().name, one_line(outcome.message));
      if (fault_.empty())
        fault_ = outcome.status == RowStatus::ok
                     ? fmt::format("trial {}: got {} tokens, expected 1 to {}", one.trial, result_.counts[i], most)
                     : fmt::format("trial {} has no answer: {}", one.trial, outcome_text(outcome));
      return;
    }
    for (int n = 0; n < result_.counts[i] && one.tokens < wanted_; ++n) {
      evidence_[which(one.trial)].add(one.tokens++, one.context, tokens[n]);
      one.context = conditionals_->next(one.context, tokens[n]);
    }
    if (program_.declaration().stateful() && one.tokens < wanted_) {
      const auto state = result_.state_of(row);
      one.state.assign(state.begin(), state.end());
      ++one.calls;
      going_on_.push_back(std::move(one));
    } else {
      ++trials_;
    }
  }

  Served& program_;
  const AnyTreeDrafter& drafter_;
  /// Returns the index of a trial's shape. One block in four has the second shape. Blocks are long, because a program
  /// may take only equal lengths in a batch, and a batch is padded to its longest row.
  std::size_t which(std::uint64_t trial) const { return shapes_.size() > 1 && trial / block_ % 4 == 3 ? 1 : 0; }
  const TreeShape& shape_of(std::uint64_t trial) const { return shapes_[which(trial)]; }
  static int longest_of(const std::vector<TreeShape>& shapes) {
    return std::ranges::max(shapes, {}, &TreeShape::length).length;
  }

  std::vector<TreeShape> shapes_;
  std::uint64_t block_;  ///< trials of one shape in turn
  std::unique_ptr<StepContexts> conditionals_;
  int vocabulary_;
  std::uint64_t seed_;
  int wanted_;  ///< number of tokens of a trial that are compared
  DraftTree tree_;
  TreeBatch batch_;
  std::vector<Trial> asked_, going_on_;  ///< trials in the batch; trials that need another call
  ServedResult result_;
  std::vector<PathEvidence> evidence_;  ///< one for each shape
  std::uint64_t trials_ = 0;
  int failed_ = 0;  ///< number of failed rows; trials end at the first fault
  std::string fault_;
};

/// Returns the number of planned trials, which is smaller if a trial's rows take more than 1/2 MiB.
std::uint64_t trials_within(const Declaration& declaration, const TreeShape& shape, int vocabulary,
                            double log2_trials) {
  constexpr double usual_bytes = 0x1p19;
  const int entries = declaration.level == Level::chain
                          ? shape.length
                          : most_entries(shape, vocabulary, tree_sampling(declaration.draft_sampling).info());
  const auto bytes = static_cast<double>(TreeBatch(declaration).bytes_with(entries, vocabulary));
  return static_cast<std::uint64_t>(std::max(1.0, std::exp2(log2_trials) * std::min(1.0, usual_bytes / bytes)));
}

/// Returns the total variation that the trials detect if the tokens after one context have a wrong distribution. Trials
/// start in the contexts in turn, and each context has a bet of weight 1 / (2 contexts).
double token_distance(const PathSource& source, std::uint64_t trials, double log_threshold) {
  const auto model = source.open();
  const double contexts = source.starts();
  double largest = 0;
  for (int context = 0; context < source.starts(); ++context) {
    const RatioTable& rows = model->distributions(context);
    std::vector<double> row;
    for (Token x = 0; x < rows.vocabulary(); ++x) row.push_back(rows.target(x));
    largest = std::max(largest, distance_of_e_value(two_thirds_norm(row), static_cast<double>(trials) / contexts,
                                                    log_threshold + std::log(2 * contexts)));
  }
  return largest;
}

}  // namespace

std::optional<TreeShape> shape_of_trials(const Declaration& declaration, int drafts) {
  const int longest = std::clamp(drafts - 1, 3, max_path_length), usual_entries = std::max(8, 2 * longest);
  const int fewest = std::max(1, declaration.fewest_drafts);
  const int most = declaration.most_drafts > 0 ? declaration.most_drafts : std::max(usual_entries, fewest);
  if (fewest > most || fewest > max_path_length) return std::nullopt;
  if (declaration.level == Level::chain)
    return TreeShape{.drafts = 1, .length = std::clamp(drafts, fewest, std::min(most, max_path_length))};
  const TreeDrafterInfo& distribution = tree_sampling(declaration.draft_sampling).info();
  std::vector<TreeShape> shapes;
  for (int paths = std::min(2, drafts); paths >= 1; --paths)
    for (int length = longest; length >= 1; --length)
      shapes.push_back(
          {.drafts = paths, .length = length, .branching = {}, .stem = distribution.has_stem && length > 1 ? 1 : 0});
  shapes.push_back({.drafts = 1, .length = fewest});
  if (distribution.fixed) shapes = {{.drafts = std::clamp(2 * longest, fewest, most), .length = longest}};
  for (const TreeShape& shape : shapes)
    if (const int entries = most_entries(shape, usual_vocabulary, distribution); entries >= fewest && entries <= most)
      return shape;
  return std::nullopt;
}

std::optional<TreeShape> other_shape_of_trials(const Declaration& declaration, int drafts) {
  const TreeShape usual = shape_of_trials(declaration, drafts).value();
  const int fewest = std::max(1, declaration.fewest_drafts);
  const int most = declaration.most_drafts > 0 ? declaration.most_drafts : std::max({8, 2 * drafts, fewest});
  if (declaration.level == Level::chain) {
    if (drafts != usual_drafts) return std::nullopt;  // the caller set the number of drafts
    const int length = std::clamp(2 * drafts, fewest, std::min(most, max_path_length));
    return length > usual.length ? std::optional(TreeShape{.drafts = 1, .length = length}) : std::nullopt;
  }
  const TreeDrafterInfo& distribution = tree_sampling(declaration.draft_sampling).info();
  if (distribution.fixed || drafts == 1) return std::nullopt;
  for (int children = std::min(drafts, max_drafts); children > usual.drafts; --children) {
    const TreeShape shape{.drafts = children, .length = 1};
    const int entries = most_entries(shape, usual_vocabulary, distribution);
    if (entries >= fewest && entries <= most) return shape;
  }
  return std::nullopt;
}

Finding check_paths(Served& program, const PathCheckOptions& options) {
  const Declaration& declaration = program.declaration();
  const TreeShape shape = shape_of_trials(declaration, options.drafts).value();
  std::vector<TreeShape> shapes{shape};
  if (const auto other = other_shape_of_trials(declaration, options.drafts)) shapes.push_back(*other);
  const auto source = make_model_of(Source::open(options.source, {.seed = options.seed}));
  const double threshold = ErrorBudget::numerics - std::log(options.alpha);
  const auto budget = trials_within(declaration, shape, source->vocabulary(), options.log2_trials);
  PathTrials trials(program, shapes, std::clamp<std::uint64_t>(budget / 16, 1, 256), *source, options.seed);
  constexpr std::uint64_t first_batch = 4096;
  GateSchedule schedule(std::min(first_batch, budget), budget, threshold);
  double log_e = 0;
  bool stopped = false;
  while (const std::uint64_t planned = schedule.next()) {
    trials.run(trials.trials(), planned, options.stop);
    stopped = trials.trials() < schedule.exposure() + planned;
    if (stopped || !trials.fault().empty()) break;
    log_e = trials.log_e();
    schedule.observe(log_e);
    if (options.progress) options.progress(trials.trials());
  }
  std::vector<std::string> sizes;
  for (const TreeShape& one : shapes)
    sizes.push_back(declaration.level == Level::chain ? fmt::format("{}", one.length)
                                                      : fmt::format("K = {}, L = {}", one.drafts, one.length));
  const std::string drafts = declaration.level == Level::chain
                                 ? fmt::format("a path of {} drafts", fmt::join(sizes, " or "))
                                 : fmt::format("trees, {}", fmt::join(sizes, " or "));
  Finding finding = finding_of(fmt::format("distribution of {} at V = {}", drafts, source->vocabulary()),
                               Tier::sampled, Answer::passed(), trials.trials());
  if (!trials.fault().empty()) {
    finding.status = Status::failed;
    finding.evidence = trials.fault();
  } else {
    finding.evidence = std::isinf(log_e) ? fmt::format("proof after {} trials: a token with p = 0; {}",
                                                       trials.trials(), trials.worst())
                                         : fmt::format("e = 10^{:.1f} ({}) after {} trials", log_e / std::log(10.0),
                                                       name(schedule.state()), trials.trials());
    if (schedule.state() == GateState::failed) finding.status = Status::failed;
    if (stopped || schedule.undecided()) finding.status = Status::undecided;
    if (finding.status == Status::passed && !declaration.stateful())
      finding.sensitivity =
          sensitivity_of(token_distance(*source, shapes.size() > 1 ? trials.trials() / 4 * 3 : trials.trials(),
                                        threshold + std::log(static_cast<double>(shapes.size()))),
                         fmt::format(" in the tokens after one context at V = {}", source->vocabulary()));
    if (schedule.state() != GateState::ok && !std::isinf(log_e)) finding.evidence += "; most by " + trials.worst();
  }
  if (finding.status != Status::passed)
    finding.replay = replay_line("check", "",
                                 {{"adapter", options.adapter},
                                  {"tier", "sampled"},
                                  {"source", options.source},
                                  {"drafts", drafts_option(options.drafts)},
                                  {"seed", std::to_string(options.seed)}});
  return finding;
}

}  // namespace draftproof::adapters
