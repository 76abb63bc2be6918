#include <draftproof/properties/sampled_gate.hpp>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include <draftproof/properties/optimum_of.hpp>
#include <draftproof/properties/path_law.hpp>
#include <draftproof/sim/trial_engine.hpp>
#include <draftproof/statistics/error_budget.hpp>
#include <draftproof/statistics/excess.hpp>
#include <draftproof/statistics/log_mean_exp.hpp>
#include <draftproof/statistics/mass_groups.hpp>
#include <draftproof/statistics/poisson_count.hpp>
#include <draftproof/statistics/sample_size.hpp>

namespace draftproof {

namespace {

constexpr double beside_weight = 1.0 / 20;       ///< of each of the three components beside the suite
constexpr std::uint64_t smallest_paired = 4096;  ///< batches below it count no pairs

/// Pairs of a batch are as many as a Poisson number of mean 3 n / 8 says: half the number of trials is not Poisson.
/// At n = 4096 that number lies ten standard deviations below it, further later: that pairs run out is less likely
/// than 1e-20.
std::uint64_t pairs_planned(std::uint64_t planned) { return planned < smallest_paired ? 0 : planned * 3 / 8; }

std::vector<double> law_of(const RatioTable& table, auto probability) {
  std::vector<double> law;
  for (Token x = 0; x < table.vocabulary(); ++x) law.push_back(probability(x));
  return law;
}

struct Counts {
  GateCounts cells;
  std::vector<std::uint64_t> neighbours{}, drafts{};
  std::uint64_t trials = 0, members = 0, impossible = 0;

  Counts& operator+=(const Counts& other) {
    cells += other.cells;
    for (std::size_t i = 0; i < neighbours.size(); ++i) neighbours[i] += other.neighbours[i];
    for (std::size_t i = 0; i < drafts.size(); ++i) drafts[i] += other.drafts[i];
    trials += other.trials;
    members += other.members;
    impossible += other.impossible;
    return *this;
  }
};

/// What an exact verifier does at this position.
class Null {
 public:
  Null(std::string_view scheme, const AnyDrafter& drafter, const RatioTable& table, int drafts)
      : target_{law_of(table, [&](Token x) { return table.target(x); })},
        proposal_{law_of(table, [&](Token x) { return table.proposal(x); })},
        suite_{{.target = target_, .proposal = proposal_, .paths = paths(scheme, drafter, table, drafts)}},
        groups_{mass_groups(ratio_key(target_, proposal_), target_)},
        neighbours_{pair_law()} {
    if (drafter.info().shared_proposal_iid || drafter.info().several_proposals)
      for (int k = 0; k < drafts; ++k)
        drafts_.emplace_back(law_of(table, [&](Token x) { return table.proposal(x, k); }));
    if (const auto bounds = optimum_bounds_of(drafter, table, drafts)) optimum_ = bounds->upper;
  }

  Counts nothing() const {
    return {.cells = suite_.empty_counts(),
            .neighbours = std::vector<std::uint64_t>(default_groups * default_groups),
            .drafts = std::vector<std::uint64_t>(drafts_.size() * target_.size())};
  }
  std::size_t pair(Token a, Token b) const {
    return groups_[static_cast<std::size_t>(a)] * default_groups + groups_[static_cast<std::size_t>(b)];
  }
  bool sees_drafts() const { return !drafts_.empty(); }
  const GateSuite& suite() const { return suite_; }
  const std::vector<double>& target() const { return target_; }
  const std::optional<double>& optimum() const { return optimum_; }

  std::vector<GateComponent> evidence(const Counts& counts, double exposure, double pairs) const {
    std::vector<GateComponent> beside{{"neighbours", neighbours_.log_e(counts.neighbours, pairs), beside_weight}};
    if (sees_drafts()) {
      std::vector<double> by_draft;
      for (std::size_t k = 0; k < drafts_.size(); ++k)
        by_draft.push_back(
            drafts_[k].log_e(std::span(counts.drafts).subspan(k * target_.size(), target_.size()), exposure));
      beside.push_back({"drafts", log_mean_exp(by_draft), beside_weight});
    }
    // The bound's own error is below (K + 2) 2^-53, or 1e-9 of it where a method certifies no better.
    if (optimum_)
      beside.push_back(
          {"optimum", log_e_excess(counts.members, exposure * (*optimum_ * (1 + 1e-9) + 1e-14)), beside_weight});
    auto components = suite_.evidence(counts.cells, exposure).components;
    const double left = 1 - beside_weight * static_cast<double>(beside.size());
    for (GateComponent& component : components) component.weight *= left;
    components.insert(components.end(), beside.begin(), beside.end());
    return components;
  }

 private:
  /// Empty where no closed form is known.
  static PathRows paths(std::string_view scheme, const AnyDrafter& drafter, const RatioTable& table, int drafts) {
    const PathLaw* law = known_path_laws().of(scheme, drafter.info().name);
    return law ? law->rows(table, drafts) : PathRows{};
  }
  std::vector<double> pair_law() const {
    const auto masses = folded(groups_, target_);
    std::vector<double> law;
    for (const double a : masses)
      for (const double b : masses) law.push_back(a * b);
    return law;
  }

  std::vector<double> target_, proposal_;
  GateSuite suite_;
  std::vector<std::uint32_t> groups_;
  ETable neighbours_;
  std::vector<ETable> drafts_;
  std::optional<double> optimum_;
};

double combined(const std::vector<GateComponent>& components) {
  std::vector<double> logs, weights;
  for (const GateComponent& component : components) {
    logs.push_back(component.log_e);
    weights.push_back(component.weight);
  }
  return log_weighted_mean_exp(logs, weights);
}

/// Whether the strongest evidence lies in (path, token) cells, one of which can be shown.
bool by_cells(const std::vector<GateComponent>& components) {
  const auto strongest =
      std::max_element(components.begin(), components.end(),
                       [](const GateComponent& a, const GateComponent& b) { return a.log_e < b.log_e; });
  return strongest->name != "neighbours" && strongest->name != "drafts" && strongest->name != "optimum";
}

template <class L>
class Run {
 public:
  Run(const AnyVerifier& verifier, const AnyDrafter& drafter, const L& laws, int drafts,
      const SampledGateOptions& options)
      : drafter_{drafter},
        laws_{laws},
        drafts_{drafts},
        options_{options},
        decider_{verifier.simulate_on(laws, drafts)} {
    if (!decider_) throw std::invalid_argument(std::string(verifier.info().cannot.simulate));
  }

  /// Trials `origin` + first .. of a batch; pairs of them below `pairs` are counted.
  void count(const Null& null, std::uint64_t origin, std::uint64_t pairs, std::uint64_t first, std::uint64_t count,
             Counts& counts) const {
    each_batch(origin + first, count, [&](std::uint64_t done, const TrialBatch& batch, const Verdict* verdicts) {
      for (int t = 0; t < batch.count; ++t) {
        ++counts.trials;
        const Verdict verdict = verdicts[t];
        if (verdict.token < 0) {
          ++counts.impossible;
          continue;
        }
        const Token* tuple = batch.drafts + t * batch.stride;
        counts.cells.add(path_of(verdict.accepted, counts.cells.paths()), static_cast<std::size_t>(verdict.token));
        counts.members += among(verdict.token, tuple, batch.lengths[t]);
        if (null.sees_drafts())
          for (int k = 0; k < batch.lengths[t]; ++k)
            ++counts.drafts[static_cast<std::size_t>(k) * counts.cells.vocabulary() +
                            static_cast<std::size_t>(tuple[k])];
        if ((t & 1) && (first + done + static_cast<std::uint64_t>(t)) / 2 < pairs && verdicts[t - 1].token >= 0)
          ++counts.neighbours[null.pair(verdicts[t - 1].token, verdict.token)];
      }
    });
  }

  /// The first trial that ends in this cell of `rows` paths.
  std::optional<std::uint64_t> find(const WorstCell& cell, std::size_t rows, std::uint64_t trials) const {
    std::optional<std::uint64_t> found;
    const auto stopped = [this] { return options_.stop && options_.stop->load(std::memory_order_relaxed); };
    for (std::uint64_t first = 0; first < trials && !found && !stopped(); first += 4096)
      each_batch(
          first, std::min<std::uint64_t>(4096, trials - first),
          [&](std::uint64_t done, const TrialBatch& batch, const Verdict* verdicts) {
            for (int t = 0; t < batch.count && !found; ++t)
              if (verdicts[t].token == static_cast<Token>(cell.token) &&
                  (cell.path < 0 || path_of(verdicts[t].accepted, rows) == static_cast<std::size_t>(cell.path)))
                found = first + done + static_cast<std::uint64_t>(t);
          });
    return found;
  }

 private:
  /// Drafts and verdicts of a batch stay in the first-level cache; an even number of trials keeps pairs whole.
  template <class Visit>
  void each_batch(std::uint64_t first, std::uint64_t count, Visit&& visit) const {
    constexpr int batch_trials = 128;
    Token drafts[batch_trials * max_drafts];
    int lengths[batch_trials];
    Verdict verdicts[batch_trials];
    for (std::uint64_t done = 0; done < count; done += batch_trials) {
      const int trials = static_cast<int>(std::min<std::uint64_t>(batch_trials, count - done));
      const TrialBatch batch{options_.seed, options_.first + first + done, trials, drafts_, drafts, lengths};
      drafter_.draw(laws_, drafts_, batch);
      decider_->decide(batch, verdicts);
      visit(done, batch, verdicts);
    }
  }

  const AnyDrafter& drafter_;
  const L& laws_;
  int drafts_;
  const SampledGateOptions& options_;
  DeciderPtr<L, Philox> decider_;
};

}  // namespace

template <class L>
SampledVerdict sampled_gate(const AnyVerifier& verifier, const AnyDrafter& drafter, const L& laws,
                            const RatioTable& table, int drafts, const SampledGateOptions& options) {
  // A slip is told from the rule it is a slip of.
  const Info& info = verifier.info();
  const std::string_view imitated = !options.imitates.empty() ? options.imitates
                                    : info.distorts.empty()   ? info.name
                                                              : info.distorts;
  const Null null(imitated, drafter, table, drafts);
  const Run<L> run(verifier, drafter, laws, drafts, options);
  const auto budget = static_cast<std::uint64_t>(options.trials);
  GateSchedule schedule(std::min(options.first_batch, budget), budget,
                        ErrorBudget::numerics - std::log(options.alpha));
  Counts counts = null.nothing();
  SampledVerdict verdict{.optimum = null.optimum()};
  double pairs = 0;
  bool stopped = false;
  for (std::uint64_t batch = 0; const std::uint64_t planned = schedule.next(); ++batch) {
    // Numbers of trials and of pairs have batches of their own.
    const std::uint64_t trials = poisson_count(planned, options.seed, 2 * batch);
    const std::uint64_t wanted = pairs_planned(planned);
    const std::uint64_t quota = wanted == 0 ? 0 : poisson_count(wanted, options.seed, 2 * batch + 1);
    const TrialBudget work{.trials = trials, .threads = options.threads, .stop = options.stop};
    const Counts added =
        run_trials(work, null.nothing(), [&](std::uint64_t first, std::uint64_t count, Counts& into) {
          run.count(null, verdict.trials, quota, first, count, into);
        });
    if (added.trials < trials) {
      stopped = true;
      break;
    }
    counts += added;
    verdict.trials += trials;
    pairs += static_cast<double>(wanted);
    verdict.components = null.evidence(counts, static_cast<double>(schedule.exposure() + planned), pairs);
    verdict.log_e = combined(verdict.components);
    schedule.observe(verdict.log_e);
    if (options.progress) options.progress(verdict.trials);
    if (counts.impossible > 0) break;
  }
  verdict.word = schedule.word();
  verdict.undecided = stopped || schedule.undecided();
  verdict.exposure = schedule.exposure();
  verdict.impossible = counts.impossible;
  if (verdict.trials == 0) return verdict;
  const auto exposure = static_cast<double>(verdict.exposure);
  verdict.acceptance = static_cast<double>(counts.members) / static_cast<double>(verdict.trials);
  verdict.smallest_distance =
      distance_of_any_shape(two_thirds_norm(null.target()), exposure, {.alpha = options.alpha, .power = 0.99});
  if (verdict.word != GateWord::ok && by_cells(verdict.components)) {
    verdict.worst = null.suite().worst_cell(counts.cells, exposure);
    if (verdict.worst->observed > 0) verdict.example = run.find(*verdict.worst, counts.cells.paths(), verdict.trials);
  }
  return verdict;
}

template SampledVerdict sampled_gate(const AnyVerifier&, const AnyDrafter&, const RatioTable&, const RatioTable&, int,
                                     const SampledGateOptions&);
template SampledVerdict sampled_gate(const AnyVerifier&, const AnyDrafter&, const Rows<double>&, const RatioTable&,
                                     int, const SampledGateOptions&);

}  // namespace draftproof
