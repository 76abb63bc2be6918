#include <draftproof/properties/mutation/kill_matrix.hpp>

#include <algorithm>
#include <chrono>
#include <functional>
#include <numeric>
#include <tuple>

#include <draftproof/properties/blocks/run_blocks.hpp>
#include <draftproof/properties/components/component_registry.hpp>
#include <draftproof/properties/mutation/mutant_search.hpp>
#include <draftproof/properties/precision/audit.hpp>
#include <draftproof/properties/prover/path_prover.hpp>
#include <draftproof/properties/prover/prover.hpp>

namespace draftproof {

namespace {

int sum_of(const std::vector<int>& weights) { return std::accumulate(weights.begin(), weights.end(), 0); }

/// Returns the key by which instances are sorted: tree size first, because it determines the cost of an examination.
auto size_of(const Instance& instance) {
  int weights = sum_of(instance.target);
  for (const auto& row : instance.proposals) weights += sum_of(row);
  return std::tuple(instance.drafts + instance.vocabulary(), instance.vocabulary(), weights);
}
auto size_of(const PathInstance& instance) {
  int weights = 0;
  for (const auto& [prefix, rows] : instance.rows) weights += sum_of(rows.target) + sum_of(rows.proposal);
  return std::tuple(instance.shape.length + instance.shape.drafts + instance.vocabulary(), instance.shape.length,
                    weights);
}

template <class Level>
std::vector<typename Level::Instance> small_first(const typename Level::Verifier& verifier,
                                                  const typename Level::Drafter& drafter,
                                                  const KillOptions& options) {
  ProofOptions proof = options.proof;
  proof.instances = options.instances;
  auto instances = instances_for(verifier, drafter, proof);
  std::vector<std::pair<decltype(size_of(instances.front())), std::size_t>> order;  // each size is computed once
  order.reserve(instances.size());
  for (const auto& instance : instances) order.emplace_back(size_of(instance), order.size());
  std::sort(order.begin(), order.end());
  std::vector<typename Level::Instance> sorted;
  sorted.reserve(instances.size());
  for (const auto& [size, i] : order) sorted.push_back(std::move(instances[i]));
  return sorted;
}

template <class Level>
KillRow searched(std::string level, const typename Level::Verifier& verifier, const typename Level::Drafter& drafter,
                 const KillOptions& options) {
  const MutantSearch<Level> searcher(verifier, drafter, options.proof);
  auto found = searcher.search_mutants(small_first<Level>(verifier, drafter, options), options.further);
  KillRow row{.level = std::move(level),
              .name = std::string(verifier.info().name),
              .mutant_of = std::string(verifier.info().derived_from),
              .partner = std::string(drafter.info().name),
              .lossy = verifier.info().promise == Promise::lossy,
              .findings = std::move(found.findings),
              .first = found.first,
              .decided = found.decided,
              .instances = found.instances,
              .work = found.leaves,
              .seconds = found.seconds};
  // A share counts failures of properties other than trials, so a mutant that only trials reveal gets no share.
  if (options.shares > 0 && row.caught() && !row.lossy && row.catcher()->tier != Tier::sampled) {
    ProofOptions proof = options.proof;
    proof.instances = options.shares;
    row.share = searcher.share(instances_for(verifier, drafter, proof));
  }
  if (found.distance) {
    row.distance = static_cast<double>(found.distance->largest);
    if (found.distance->off > 0) row.farthest = found.distance->instance.text();
  }
  return row;
}

/// Runs the precision audit, for mutants that no check in fractions can distinguish from a correct verifier.
void add_precision(KillRow& row, const auto& mutant, const auto& drafter, const KillOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  KillRow audited =
      kill_row(row.level, row.name,
               audit_precision(mutant, drafter, {.seed = options.proof.seed, .stop = options.proof.stop}).findings);
  audited.mutant_of = row.mutant_of;
  audited.partner = std::string(drafter.info().name);
  audited.seconds = row.seconds + std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  row = std::move(audited);
}

/// Searches with each draft sampling in turn, until the mutant is caught.
template <class Level>
KillRow mutant_row(const typename Level::Verifier& mutant, const auto& known, const KillOptions& options) {
  KillRow row{
      .level = std::string(Level::name), .name = std::string(mutant.info().name), .mutant_of = {}, .partner = {}};
  for (const auto* drafter : known.drafters_of(mutant.info())) {
    row = searched<Level>(std::string(Level::name), mutant, *drafter, options);
    if (row.caught()) break;
  }
  if (!row.caught() && mutant.info().wrong_by_rounding)
    add_precision(row, mutant, *known.drafters_of(mutant.info()).front(), options);
  return row;
}

KillRow drafter_row(const AnyDrafter& drafter, const KillOptions& options) {
  const AnyVerifier* verifier = registry().verifier(options.verifier);
  if (!verifier) throw std::invalid_argument("kill matrix: no verifier " + options.verifier);
  KillRow row = searched<TokenLevel>("drafters", *verifier, drafter, options);
  row.name = drafter.info().name;
  row.mutant_of = drafter.info().declared_as;
  row.partner = options.verifier;
  return row;
}

/// Returns the verifier of `options` if it is written for the declared trees, else the first verifier that is. A
/// verifier for other trees is refuted for another reason, and on a verifier for any trees a wrong drafter has no
/// effect.
const AnyPathVerifier& verifier_for(const AnyTreeDrafter& drafter, const KillOptions& options) {
  const AnyPathVerifier* const usual = path_registry().verifier(options.path_verifier);
  if (!usual) throw std::invalid_argument("kill matrix: no verifier " + options.path_verifier);
  if (takes_trees(usual->info(), drafter.info())) return *usual;
  for (const auto& verifier : path_registry().verifiers()) {
    const Info& info = verifier->info();
    if (verifier->kind() == Kind::verifier && info.promise == Promise::lossless && !info.drafts.any() &&
        takes_trees(info, drafter.info()))
      return *verifier;
  }
  throw std::invalid_argument("kill matrix: no verifier for the trees of " + std::string(drafter.info().name));
}

KillRow tree_drafter_row(const AnyTreeDrafter& drafter, const KillOptions& options) {
  const AnyPathVerifier& verifier = verifier_for(drafter, options);
  KillRow row = searched<BlockLevel>("tree drafters", verifier, drafter, options);
  row.name = drafter.info().name;
  row.mutant_of = drafter.info().declared_as;
  row.partner = verifier.info().name;
  return row;
}

template <class Level>
ControlRow control_row(const typename Level::Verifier& verifier, const typename Level::Drafter& drafter,
                       const KillOptions& options) {
  ProofOptions proof = options.proof;
  proof.instances = options.controls;
  proof.tier = std::nullopt;
  proof.threads = 1;
  const auto proved = prove(verifier, drafter, proof);
  ControlRow row{.level = std::string(Level::name),
                 .name = std::string(verifier.info().name),
                 .distribution = std::string(drafter.info().name),
                 .instances = proved.instances,
                 .provable = proved.provable()};
  if (const auto* violation = proved.violation()) row.accused = *violation;
  return row;
}

/// Computes the rows in any order, as blocks named `name`. Returns the computed rows in the order of `jobs`.
template <class Row>
std::vector<Row> made(const std::vector<std::function<Row()>>& jobs, const char* name, const KillOptions& options) {
  const int threads = threads_of(options.proof.threads);
  return map_blocks(options.checkpoint, {.name = name, .blocks = jobs.size(), .threads = threads, .divisible = false},
                    options.proof.stop, [&jobs](const BlockTask& task) { return jobs[task.block](); });
}

template <class Level>
void add_jobs(const auto& known, const KillOptions& options, std::vector<std::function<KillRow()>>& searches,
              std::vector<std::function<ControlRow()>>& controls) {
  for (const auto& verifier : known.verifiers()) {
    if (verifier->kind() != Kind::verifier)
      searches.push_back([&verifier, &known, &options] { return mutant_row<Level>(*verifier, known, options); });
    else if (options.controls > 0)
      for (const auto* drafter : known.drafters_of(verifier->info()))
        controls.push_back(
            [&verifier, drafter, &options] { return control_row<Level>(*verifier, *drafter, options); });
  }
}

/// Returns the findings of the component's checks.
std::vector<Finding> examined(const AnyComponent& component, const KillOptions& options) {
  return component.examine({.seed = options.proof.seed});
}

/// Returns the largest share of its cases on which the component fails a check, over all checks; nullopt if no check
/// has cases.
std::optional<ShownShare> largest_share(const AnyComponent& component, const KillOptions& options) {
  std::optional<ShownShare> largest;
  for (const ShownShare& share : component.shares({.seed = options.proof.seed}))
    if (share.asked > 0 &&
        (!largest || share.shown * std::int64_t{largest->asked} > largest->shown * std::int64_t{share.asked}))
      largest = share;
  return largest;
}

KillRow component_row(const AnyComponent& component, const KillOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  KillRow row = kill_row(std::string(component.group()), component.qualified_name(), examined(component, options));
  if (options.shares > 0) row.share = largest_share(component, options);
  row.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return row;
}

ControlRow component_control(const AnyComponent& component, const KillOptions& options) {
  ControlRow row{.level = std::string(component.group()), .name = component.qualified_name(), .distribution = {}};
  for (Finding& finding : examined(component, options))
    if (finding.status == Status::failed && !row.accused) row.accused = std::move(finding);
  return row;
}

}  // namespace

bool KillMatrix::clean() const {
  return std::all_of(rows.begin(), rows.end(), [](const KillRow& row) { return row.caught() && row.common(); }) &&
         std::none_of(controls.begin(), controls.end(),
                      [](const ControlRow& row) { return row.accused.has_value(); });
}

KillRow kill_row(std::string level, std::string name, std::vector<Finding> findings) {
  KillRow row{.level = std::move(level), .name = std::move(name), .mutant_of = {}, .partner = {}};
  row.findings = std::move(findings);
  for (std::size_t n = 0; n < row.findings.size(); ++n) {
    row.work += row.findings[n].work;
    if (row.first < 0 && row.findings[n].status == Status::failed) row.first = static_cast<int>(n);
  }
  return row;
}

KillMatrix kill_matrix(const KillOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::function<KillRow()>> searches;
  std::vector<std::function<ControlRow()>> controls;
  add_jobs<TokenLevel>(registry(), options, searches, controls);
  add_jobs<BlockLevel>(path_registry(), options, searches, controls);
  for (const auto& drafter : registry().wrong_drafters())
    searches.push_back([&drafter, &options] { return drafter_row(*drafter, options); });
  for (const auto& drafter : path_registry().wrong_drafters()) {
    if (drafter->info().wrong)
      searches.push_back([&drafter, &options] { return tree_drafter_row(*drafter, options); });
    else if (options.controls > 0)  // a correct drafter, which declares the distribution that it has
      for (const auto& verifier : path_registry().verifiers())
        if (verifier->kind() == Kind::verifier && takes_trees(verifier->info(), drafter->info()))
          controls.push_back(
              [&verifier, &drafter, &options] { return control_row<BlockLevel>(*verifier, *drafter, options); });
  }
  for (const auto& component : component_registry().components()) {
    if (!options.components) break;
    if (component->kind() == Kind::mutant)
      searches.push_back([&component, &options] { return component_row(*component, options); });
    else
      controls.push_back([&component, &options] { return component_control(*component, options); });
  }
  KillMatrix matrix{.rows = made(searches, "mutants", options), .controls = made(controls, "controls", options)};
  matrix.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return matrix;
}

}  // namespace draftproof
