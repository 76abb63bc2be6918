#include <draftproof/properties/survey/policy_survey.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <draftproof/captures/input_error.hpp>
#include <draftproof/properties/components/component_registry.hpp>
#include <draftproof/properties/components/selection/selection_group.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/properties/survey/selection_bound.hpp>
#include <draftproof/sim/random/philox.hpp>
#include <draftproof/sim/trials/run_trials.hpp>

namespace draftproof {

namespace {

using Component = ComponentOf<SelectionGroup>;

const SelectionRule& rule_of(const PolicyRow& row) { return dynamic_cast<const Component&>(*row.policy).subject(); }

/// The counts of all policies, and for each context the number of surveyed steps that started in it.
struct Tallies {
  std::vector<PolicyTally> policies;
  std::uint64_t batches = 0, requests = 0;
  std::map<int, std::uint64_t> starts{};

  Tallies& operator+=(const Tallies& other) {
    for (std::size_t i = 0; i < policies.size(); ++i) {
      policies[i].verified += other.policies[i].verified;
      policies[i].accepted += other.policies[i].accepted;
      policies[i].emitted += other.policies[i].emitted;
      policies[i].accepted_squared += other.policies[i].accepted_squared;
      for (const auto& [size, count] : other.policies[i].sizes) policies[i].sizes[size] += count;
    }
    batches += other.batches;
    requests += other.requests;
    for (const auto& [context, count] : other.starts) starts[context] += count;
    return *this;
  }
};

/// The drafts of one request, with copies of its rows, because contexts of a live model are valid only until the next
/// trial.
struct Drafted {
  int start = StepContexts::no_context;
  std::vector<Token> tokens{};
  std::vector<std::vector<double>> rows{};  ///< q before each draft
  std::vector<double> confidence{1};        ///< the confidence after 0, 1, .. drafts
  int passes = 0, matches = 0;              ///< number of drafts that pass token verification, and sample-and-match
  std::vector<int> block{};                 ///< drafts that block verification accepts of the first 0, 1, .. drafts

  /// Returns how many of the first `kept` drafts the rule accepts if it gets only these.
  int accepted(VerifyRule rule, int kept) const {
    if (rule == VerifyRule::block) return block.empty() ? 0 : block[static_cast<std::size_t>(kept)];
    return std::min(rule == VerifyRule::token ? passes : matches, kept);
  }
};

class BatchWorker {
 public:
  BatchWorker(const PathSource& source, const PolicySurveyOptions& options, const std::vector<PolicyRow>& rows)
      : source_{source},
        options_{options},
        rows_{rows},
        contexts_{source.open()},
        shape_{.drafts = 1, .length = options.length, .branching = {}, .stem = 0},
        drafter_{*path_registry().drafter("iid_paths")},
        verifier_{path_registry().verifier("token_path")->simulate_on(*contexts_, shape_)},
        block_{std::any_of(rows.begin(), rows.end(), [](const auto& row) { return row.rule == VerifyRule::block; })
                   ? path_registry().verifier("block")->simulate_on(*contexts_, shape_)
                   : nullptr},
        legal_(static_cast<std::size_t>(source.vocabulary()), 1) {}

  void batch(std::uint64_t n, Tallies& tally) {
    SelectionView<double> view{.requests = {}, .budget = options_.most_verified(), .cost = options_.cost};
    drafted_.clear();
    const auto requests = static_cast<std::uint64_t>(options_.requests);
    for (std::uint64_t r = 0; r < requests; ++r) {
      Drafted past, now;
      int accepted = 0;
      two_steps(n * requests + r, past, now, accepted);
      if (now.start != StepContexts::no_context) ++tally.starts[now.start];
      past.confidence.resize(static_cast<std::size_t>(options_.length) + 1, 1.0);
      past.confidence.pop_back();  // before each draft
      drafted_.push_back(std::move(now));
      view.requests.push_back(view_of(drafted_.back(), accepted, std::move(past.confidence)));
    }
    // Called after all requests are drafted, because requests point to rows in drafted_, and adding to drafted_ would
    // move the rows.
    for (std::size_t r = 0; r < drafted_.size(); ++r) point_at_rows(drafted_[r], view.requests[r]);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      Philox random(options_.seed ^ policy_stream, n, Philox::Role::draft);
      count(rows_[i], rule_of(rows_[i]).keep_simulated(view, random), tally.policies[i]);
    }
    ++tally.batches;
    tally.requests += requests;
  }

 private:
  static constexpr std::uint64_t policy_stream = 0x73656c656374ull;  ///< not used for drafts or verification
  static constexpr std::uint64_t coin_stream = 0x636f696e73ull;
  static constexpr std::uint64_t block_stream = 0x626c6f636bull;

  /// Drafts and verifies the previous step, and drafts the surveyed step.
  void two_steps(std::uint64_t request, Drafted& past, Drafted& now, int& accepted) {
    int context = contexts_->start(request);
    if (contexts_->room(context) < 2 * options_.length + 1) return;
    const DraftTree* before = contexts_->tree(request + to_other_path(), shape_);
    if (before == nullptr) before = &drawn(context, 2 * request);
    read(*before, 2 * request, past);
    Philox verify(options_.seed, 2 * request, Philox::Role::verify);
    const StepOutput step = verifier_->decide(*before, {}, verify);
    accepted = before->depth(step.node);
    const DraftTree* tree = contexts_->tree(request, shape_);
    if (tree == nullptr) {
      if (step.extra.token >= 0) context = contexts_->next(before->context(step.node), step.extra.token);
      if (context == StepContexts::no_context) return;
      tree = &drawn(context, 2 * request + 1);
    }
    read(*tree, 2 * request + 1, now);
    if (block_) verify_blocks(*tree, 2 * request + 1, now);
  }

  /// Verifies the first 0, 1, .. drafts of a chain as a block, with the same random numbers for each number of drafts.
  void verify_blocks(const DraftTree& tree, std::uint64_t address, Drafted& drafted) {
    drafted.block = {0};
    DraftTree kept(tree.context(DraftTree::root));
    for (int u = DraftTree::root, last = DraftTree::root; !tree.leaf(u);) {
      u = *tree.children(u).begin();
      last = kept.draw(last, tree.token(u), tree.context(u));
      Philox random(options_.seed ^ block_stream, address, Philox::Role::verify);
      drafted.block.push_back(kept.depth(block_->decide(kept, {}, random).node));
    }
  }

  /// Returns the difference between the numbers of a trial and of a trial with another stored path, which starts in the
  /// same context if that context has several paths.
  std::uint64_t to_other_path() const {
    return source_.most_paths() == 1 ? 1 : source_.stored_paths() / static_cast<std::uint64_t>(source_.most_paths());
  }

  const DraftTree& drawn(int context, std::uint64_t address) {
    tree_.clear(context);
    Philox draft(options_.seed, address, Philox::Role::draft);
    drafter_.draw(*contexts_, shape_, draft, tree_);
    return tree_;
  }

  /// Copies a chain, and decides each draft by token verification and by sample-and-match.
  void read(const DraftTree& tree, std::uint64_t address, Drafted& drafted) const {
    drafted.start = tree.context(DraftTree::root);
    drafted.confidence.clear();
    Philox coins(options_.seed ^ coin_stream, address, Philox::Role::verify);
    bool passes = true, matches = true;
    for (int u = DraftTree::root;; u = *tree.children(u).begin()) {
      const RatioTable& rows = contexts_->distributions(tree.context(u));
      std::vector<double> row(static_cast<std::size_t>(rows.vocabulary()));
      double overlap = 0, largest = 0;
      for (Token x = 0; x < rows.vocabulary(); ++x) {
        const double q = row[static_cast<std::size_t>(x)] = rows.proposal(x);
        overlap += std::min(rows.target(x), q);
        largest = std::max(largest, q);
      }
      drafted.confidence.push_back(options_.head == ConfidenceHead::overlap ? std::min(overlap, 1.0) : largest);
      drafted.rows.push_back(std::move(row));
      if (tree.leaf(u)) return;
      const Token x = tree.token(*tree.children(u).begin());
      drafted.tokens.push_back(x);
      passes = coins.flip(rows.target(x), rows.proposal(x)) && passes;
      matches = coins.flip(rows.target(x), 1.0) && matches;
      drafted.passes += passes;
      drafted.matches += matches;
    }
  }

  static DraftedRequest<double> view_of(const Drafted& drafted, int accepted, std::vector<double> past) {
    DraftedRequest<double> request{.parent = {DraftTree::root},
                                   .depth = {0},
                                   .token = {no_token},
                                   .row = {},
                                   .legal = {},
                                   .confidence = drafted.confidence,
                                   .accepted = accepted,
                                   .past_confidence = std::move(past)};
    for (const Token x : drafted.tokens) {
      request.parent.push_back(request.size() - 1);
      request.depth.push_back(request.size() - 1);
      request.token.push_back(x);
    }
    return request;
  }

  /// Sets the rows of all nodes but the last, which gets an empty row because no draft follows it.
  void point_at_rows(const Drafted& drafted, DraftedRequest<double>& request) const {
    for (std::size_t u = 0; u < drafted.rows.size(); ++u) {
      const std::size_t size = u + 1 < drafted.rows.size() ? drafted.rows[u].size() : 0;
      request.row.emplace_back(drafted.rows[u].data(), size);
      request.legal.emplace_back(legal_.data(), size);
    }
  }

  void count(const PolicyRow& row, const KeptDrafts& kept, PolicyTally& tally) const {
    const SelectionRule& policy = rule_of(row);
    const SelectionCut cut = policy.cut;
    const bool reads_drafts = cut != SelectionCut::before_verification || policy.matching_alone;
    std::uint64_t accepted = 0;
    StepSize size{.passes = 0, .longest = 0, .verified = 0};
    for (std::size_t r = 0; r < drafted_.size(); ++r) {
      const Drafted& drafted = drafted_[r];
      const auto most = static_cast<int>(std::count(kept[r].begin() + 1, kept[r].end(), true));
      const auto all = static_cast<int>(drafted.tokens.size());
      const int verified = cut == SelectionCut::before_verification ? most : all;
      const int passes = drafted.accepted(row.rule, verified);
      const int emitted = cut == SelectionCut::after ? std::min(passes + 1, most) : std::min(passes, most) + 1;
      tally.verified += static_cast<std::uint64_t>(verified);
      tally.emitted += static_cast<std::uint64_t>(emitted);
      accepted += static_cast<std::uint64_t>(std::min(passes, most));
      size.passes = std::max(size.passes, reads_drafts ? all : std::min(most + policy.reads_row, all));
      size.longest = std::max(size.longest, verified);
      size.verified += verified;
    }
    ++tally.sizes[size];
    tally.accepted += accepted;
    tally.accepted_squared += accepted * accepted;
  }

  const PathSource& source_;
  const PolicySurveyOptions& options_;
  const std::vector<PolicyRow>& rows_;
  std::unique_ptr<StepContexts> contexts_;
  TreeShape shape_;
  const AnyTreeDrafter& drafter_;
  PathDeciderPtr<RatioTable, Philox> verifier_;
  PathDeciderPtr<RatioTable, Philox> block_;  ///< null unless a row is verified as a block
  DraftTree tree_;
  std::vector<Drafted> drafted_;
  std::vector<std::uint8_t> legal_;  ///< 1 for every token: captures have no grammar
};

/// Returns the distribution of the drafts that draws a stored path of the source at random.
DraftedContexts<double> stored_contexts(const PathSource& source, int length) {
  DraftedContexts<double> found;
  const auto view = source.open();
  std::map<std::pair<int, int>, std::uint64_t> paths;  // number of paths, by context and the context after its draft
  std::map<int, std::uint64_t> paths_through;
  std::map<std::pair<int, int>, double> accepted;
  for (std::uint64_t trial = 0; trial < source.stored_paths(); ++trial) {
    const DraftTree& tree = *view->tree(trial, {.drafts = 1, .length = length, .branching = {}, .stem = 0});
    for (int u = DraftTree::root; !tree.leaf(u);) {
      const int before = tree.context(u);
      u = *tree.children(u).begin();
      const RatioTable& rows = view->distributions(before);
      const std::pair link{before, tree.context(u)};
      ++paths[link];
      ++paths_through[before];
      accepted[link] = std::min(1.0, rows.target(tree.token(u)) / rows.proposal(tree.token(u)));
      found.drafts.resize(
          std::max(found.drafts.size(), static_cast<std::size_t>(std::max(link.first, link.second)) + 1));
    }
  }
  for (const auto& [link, count] : paths)
    found.drafts[static_cast<std::size_t>(link.first)].push_back(
        {static_cast<double>(count) / static_cast<double>(paths_through[link.first]), accepted[link], link.second});
  return found;
}

/// Returns the drafts of a model, or nullopt if the model has too many prefixes for SelectionBound, which visits every
/// prefix once for each price of each policy.
std::optional<DraftedContexts<double>> model_contexts(const PathSource& source, int length) {
  constexpr double most_prefixes = 1e6;
  const auto model = source.plain();
  if (!model) return std::nullopt;
  DraftedContexts<double> found;
  std::size_t widest = 1;
  for (int context = 0; context < source.starts(); ++context) {
    const Rows<double>& rows = model->distributions(context);
    auto& drafts = found.drafts.emplace_back();
    for (Token x = 0; x < rows.vocabulary(); ++x)
      if (const double q = rows.proposal(x); q > 0)
        drafts.push_back({q, std::min(1.0, rows.target(x) / q), model->next(context, x)});
    widest = std::max(widest, drafts.size());
  }
  if (std::pow(widest, length) * source.starts() > most_prefixes) return std::nullopt;
  return found;
}

void add_bounds(const PathSource& source, const PolicySurveyOptions& options, const Tallies& counts,
                PolicySurvey& survey) {
  const auto contexts =
      source.stored_trees() ? stored_contexts(source, options.length) : model_contexts(source, options.length);
  if (!contexts || counts.requests == 0) return;
  std::vector<std::pair<int, double>> starts;
  for (const auto& [context, count] : counts.starts) starts.emplace_back(context, survey.per_request(count));
  const SelectionBound<double> bound(*contexts, std::move(starts), options.length);
  for (PolicyRow& row : survey.rows)
    if (row.rule == VerifyRule::token && rule_of(row).cut == SelectionCut::before_verification)
      row.best = bound.at(survey.per_request(row.tally.verified)).bound;
}

}  // namespace

bool reads_past(const PolicyRow& row) { return rule_of(row).reads_past; }

bool fails(const PolicyRow& row, const Finding& finding) {
  return finding.status == Status::failed && !(rule_of(row).matching_alone && finding.property == "non_anticipation");
}

double PolicySurvey::standard_error(const PolicyTally& tally) const {
  if (batches < 2) return std::numeric_limits<double>::quiet_NaN();
  const double n = static_cast<double>(batches), mean = static_cast<double>(tally.accepted) / n;
  const double variance = std::max(0.0, static_cast<double>(tally.accepted_squared) / n - mean * mean) * n / (n - 1);
  return std::sqrt(variance / n) * n / static_cast<double>(requests);
}

std::vector<PolicyRow> plan_policies(const PolicySurveyOptions& options) {
  std::vector<PolicyRow> rows;
  for (const auto& component : component_registry().components()) {
    const auto* policy = dynamic_cast<const Component*>(component.get());
    if (policy == nullptr) continue;
    const auto& names = options.policies;
    const bool named = std::find(names.begin(), names.end(), policy->info().name) != names.end() ||
                       std::find(names.begin(), names.end(), policy->qualified_name()) != names.end();
    if (!named && !(names.empty() && (options.mutants || policy->kind() == Kind::verifier))) continue;
    if (policy->subject().matching_alone)
      rows.push_back({.policy = policy, .rule = VerifyRule::matching});
    else
      for (const VerifyRule rule : options.rules) rows.push_back({.policy = policy, .rule = rule});
  }
  for (const std::string& name : options.policies)
    if (std::none_of(rows.begin(), rows.end(), [&](const PolicyRow& row) {
          return name == row.policy->info().name || name == row.policy->qualified_name();
        }))
      throw InputError(
          {.file = "--policy", .got = in_quotes(name), .expected = "a selection policy from `draftproof list`"});
  return rows;
}

PolicySurvey survey_policies(const PathSource& source, const PolicySurveyOptions& options) {
  if (options.length > source.longest())
    throw InputError({.file = "--length",
                      .got = std::to_string(options.length),
                      .expected = fmt::format("at most {} for {}", source.longest(), source.name())});
  registry();
  PolicySurvey survey{.rows = plan_policies(options)};
  const TrialBudget budget{.trials = options.batches,
                           .threads = threads_of(options.threads),
                           .stop = options.stop,
                           .progress = options.progress,
                           .shard = 16};
  std::vector<std::unique_ptr<BatchWorker>> workers;
  for (int i = 0; i < budget.threads; ++i)
    workers.push_back(std::make_unique<BatchWorker>(source, options, survey.rows));
  const Tallies counts = run_trials(budget, Tallies{.policies = std::vector<PolicyTally>(survey.rows.size())},
                                    [&](int worker, std::uint64_t first, std::uint64_t number, Tallies& tally) {
                                      for (std::uint64_t n = first; n < first + number; ++n)
                                        workers[static_cast<std::size_t>(worker)]->batch(n, tally);
                                    });
  survey.batches = counts.batches;
  survey.requests = counts.requests;
  for (std::size_t i = 0; i < survey.rows.size(); ++i) survey.rows[i].tally = counts.policies[i];
  add_bounds(source, options, counts, survey);
  return survey;
}

}  // namespace draftproof
