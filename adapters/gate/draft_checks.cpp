#include <draftproof/adapters/gate/draft_checks.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include <fmt/ranges.h>
#include <draftproof/properties/proof/finding.hpp>

#include <draftproof/adapters/gate/small_model.hpp>
#include <draftproof/captures/source.hpp>
#include <draftproof/properties/gate/sampled_position.hpp>
#include <draftproof/properties/instances/instance.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/properties/statistics/count_models.hpp>
#include <draftproof/properties/statistics/e_table.hpp>
#include <draftproof/properties/statistics/error_budget.hpp>
#include <draftproof/properties/statistics/sample_size.hpp>

namespace draftproof::adapters {

namespace {

/// Proposals of the small models: unequal, nearly equal, and with a zero.
const std::array<std::vector<int>, 3> small_proposals{std::vector{12, 7, 4, 2, 1}, std::vector{5, 5, 5, 6},
                                                      std::vector{6, 0, 3, 1}};

using Tuples = std::map<std::vector<Token>, Rational>;

/// Returns the shares of the entries of a row of doubles, exactly.
std::vector<Rational> shares_of(const std::vector<double>& row) {
  std::vector<Rational> shares(row.begin(), row.end());
  Rational mass;
  for (const Rational& share : shares) mass += share;
  for (Rational& share : shares) share /= mass;
  return shares;
}

/// Returns the probability of each tuple of drafts, or nothing if there are too many tuples.
std::optional<Tuples> tuples_of(const AnyDrafter& drafter, const std::vector<Rational>& proposal, int drafts,
                                ExplorerLimits limits) {
  const Rows<Rational> rows{proposal, {proposal}};
  Tuples tuples;
  Explorer<Rational> explorer(limits);
  const bool whole = each_drafted_tuple(
      explorer, [&](Explorer<Rational>& random, Token* out) { return drafter.draw(rows, drafts, random, out); },
      [&](std::span<const Token> tuple, const Rational& probability) {
        tuples[{tuple.begin(), tuple.end()}] += probability;
      });
  return whole ? std::optional(std::move(tuples)) : std::nullopt;
}

bool first_draft_is_proposal(const Tuples& tuples, const std::vector<Rational>& proposal) {
  std::vector<Rational> first(proposal.size());
  for (const auto& [tuple, probability] : tuples)
    if (!tuple.empty()) first[static_cast<std::size_t>(tuple.front())] += probability;
  return first == proposal;
}

class DraftChecks {
 public:
  DraftChecks(Served& program, const AnyDrafter& drafter, int drafts, const DraftCheckOptions& options)
      : program_{program},
        drafter_{drafter},
        drafts_{drafts},
        options_{options},
        form_{form_of_trials(program.declaration())},
        log_threshold_{ErrorBudget::numerics - std::log(options.alpha / 2)} {}

  Finding distribution() {
    Finding finding = started("draft_sampling");
    double largest = 0, distance = 0;
    int rows = 0;
    for (std::size_t model = 0; model < small_proposals.size(); ++model) {
      const std::vector<int>& proposal = small_proposals[model];
      if (!drafter_.defined(static_cast<int>(proposal.size()), drafts_, 1)) continue;
      std::vector<double> row;
      for (const Rational& share : normalised(proposal)) row.push_back(static_cast<double>(share));
      const std::vector<Rational> read = shares_of(stored_distribution(row, form_));
      const std::string where =
          fmt::format("q = ({})/{}", fmt::join(proposal, " "), std::accumulate(proposal.begin(), proposal.end(), 0));
      const std::optional<Tuples> found = tuples_of(drafter_, read, drafts_, options_.limits);
      if (!found && finding.status == Status::passed) {
        finding.status = Status::undecided;
        finding.evidence = fmt::format("more than {} tuples on {}", options_.limits.leaves, where);
      }
      if (!found) continue;
      const Tuples& tuples = *found;
      std::map<std::vector<Token>, std::size_t> cell_of;
      std::vector<double> distribution;
      for (const auto& [tuple, probability] : tuples) {
        cell_of.emplace(tuple, distribution.size());
        distribution.push_back(static_cast<double>(probability));
      }
      follows_proposal_ = follows_proposal_.value_or(true) && first_draft_is_proposal(tuples, read);
      std::vector<std::uint64_t> counts(distribution.size());
      std::string fault;
      draw(row, drafts_, std::uint64_t{1} << options_.log2_small, model, finding, [&](std::span<const Token> tuple) {
        const auto cell = cell_of.find({tuple.begin(), tuple.end()});
        if (cell != cell_of.end())
          ++counts[cell->second];
        else if (fault.empty())
          fault = fmt::format("draws ({}) on {}, which {} never does", fmt::join(tuple, " "), where,
                              drafter_.info().name);
      });
      if (fault.empty()) {
        // The models share the false-alarm level, because the largest of three e-values is below their sum.
        const double log_e = ETable(distribution).log_e(counts, std::ldexp(1.0, options_.log2_small)) -
                             std::log(static_cast<double>(small_proposals.size()));
        largest = std::max(largest, log_e);
        ++rows;
        distance = std::max(distance,
                            distance_of_e_value(two_thirds_norm(distribution), std::ldexp(1.0, options_.log2_small),
                                                log_threshold_ + std::log(3.0)));
        if (log_e >= log_threshold_) fault = fmt::format("e = 10^{:.1f} on {}", log_e / std::log(10.0), where);
      }
      if (!fault.empty() && finding.status != Status::failed) {
        finding.status = Status::failed;
        finding.evidence = std::move(fault);
      }
    }
    if (finding.status == Status::passed && rows == 0) {
      finding.status = Status::undecided;
      finding.evidence = fmt::format("no small row has tuples of {} drafts", drafts_);
    }
    if (finding.status == Status::passed) {
      finding.evidence = fmt::format("e at most 10^{:.1f}", largest / std::log(10.0));
      finding.sensitivity = sensitivity_of(
          distance, fmt::format(" in {} on one of {} rows",
                                drafts_ == 1 ? "the draft" : fmt::format("tuples of {} drafts", drafts_), rows));
    }
    return finding;
  }

  /// Returns nothing if the first draft of the declared sampling is not a draw from q.
  std::optional<Finding> noise() {
    if (!follows_proposal_.value_or(false)) return std::nullopt;
    Finding finding = started("draft_noise");
    const std::vector<NoiseRow> asked = noise_rows();
    const int fewest =
        std::min(drafts_, std::max(drafter_.info().fewest_drafts, program_.declaration().fewest_drafts));
    for (std::size_t i = 0; i < asked.size(); ++i) {
      const std::vector<double> row = row_of(asked[i]);
      std::vector<std::uint64_t> counts(row.size());
      const std::uint64_t before = finding.work;
      draw(row, fewest, std::uint64_t{1} << asked[i].log2_draws, small_proposals.size() + i, finding,
           [&](std::span<const Token> tuple) { ++counts[static_cast<std::size_t>(tuple.front())]; });
      // The rows share the false-alarm level, because the largest of their e-values is at most their sum.
      const std::vector<double> read = stored_distribution(row, form_);
      const double log_e = ETable(read).log_e(counts, std::ldexp(1.0, asked[i].log2_draws)) -
                           std::log(static_cast<double>(asked.size()));
      finding.evidence += fmt::format("{}{} after {} draws at V = {}{}", i > 0 ? ", " : "",
                                      evidence_on(read, counts, log_e), finding.work - before, asked[i].vocabulary,
                                      asked[i].kept > 0 ? fmt::format(", {} of them possible", asked[i].kept) : "");
      if (log_e >= log_threshold_) finding.status = Status::failed;
    }
    return finding;
  }

 private:
  /// A row of the check draft_noise. If `kept` is above 0, only its `kept` likeliest tokens are possible, as after a
  /// top-k filter.
  struct NoiseRow {
    int vocabulary, kept, log2_draws;
  };

  std::vector<NoiseRow> noise_rows() const {
    std::vector<NoiseRow> rows;
    const int most = program_.declaration().most_vocabulary;
    for (const int size : options_.vocabularies) {
      const int taken = most > 0 ? std::min(most, size) : size;
      const bool first = rows.empty();
      if (first || rows.back().vocabulary != taken)
        rows.push_back({taken, 0, std::max(0, options_.log2_large - (first ? 0 : 4))});
    }
    // Noise of float16 becomes 0 once in 2^25: 2^11 draws at V = 128,256 meet a 0 eight times in the mean and miss it
    // with probability e^-8; 2^10 draws miss it with probability e^-4.
    constexpr int kept = 64;
    if (rows.back().vocabulary > kept) rows.push_back({rows.back().vocabulary, kept, options_.log2_kept});
    return rows;
  }

  std::vector<double> row_of(const NoiseRow& asked) const {
    const Source source = Source::open(standard_source(asked.vocabulary, 1), {.seed = options_.seed});
    std::vector<double> row = source.pair(0).proposals.front();
    if (asked.kept == 0) return row;
    std::vector<double> sorted = row;
    std::nth_element(sorted.begin(), sorted.begin() + asked.kept, sorted.end(), std::greater<>());
    const double cut = sorted[static_cast<std::size_t>(asked.kept)];
    double mass = 0;
    for (double& share : row) mass += share = share > cut ? share : 0;
    for (double& share : row) share /= mass;
    return row;
  }

  static std::string evidence_on(const std::vector<double>& row, const std::vector<std::uint64_t>& counts,
                                 double log_e) {
    for (std::size_t x = 0; x < row.size(); ++x)
      if (counts[x] > 0 && !(row[x] > 0)) return fmt::format("draws token {}, which has q = 0,", x);
    return fmt::format("e = 10^{:.1f}", log_e / std::log(10.0));
  }

  Finding started(const char* check) const {
    return finding_of(check, Tier::sampled, Answer::passed(), 0, {},
                      replay_line("check", "",
                                  {{"adapter", options_.adapter},
                                   {"tier", "sampled"},
                                   {"drafts", drafts_option(options_.drafts)},
                                   {"seed", std::to_string(options_.seed)}}));
  }

  /// Draws a Poisson number of tuples with mean `planned`; each model has separate trials.
  template <class Visit>
  void draw(const std::vector<double>& row, int drafts, std::uint64_t planned, std::size_t model, Finding& finding,
            Visit visit) {
    const std::uint64_t first = static_cast<std::uint64_t>(model) << 40;
    const std::uint64_t count = poisson_count(planned, options_.seed, first);
    DrawBatches(program_, row, drafts).draw(options_.seed, first, count, visit);
    finding.work += count;
  }

  Served& program_;
  const AnyDrafter& drafter_;
  int drafts_;
  const DraftCheckOptions& options_;
  RowForm form_;
  double log_threshold_;
  std::optional<bool> follows_proposal_{};
};

/// The distribution of the drafts that are drawn from one row: one token of a chain, the draws at one node of a tree.
std::string_view distribution_of_one_row(const Declaration& declaration) {
  if (declaration.level == Level::chain) return "iid";
  if (declaration.level == Level::position) return declaration.draft_sampling;
  const DraftSamplings& siblings = tree_sampling(declaration.draft_sampling).info().siblings;
  return siblings.any() ? std::string_view{} : siblings.names[0];
}

}  // namespace

std::vector<Finding> check_drafts(Served& program, const DraftCheckOptions& options) {
  const Declaration& declaration = program.declaration();
  const bool chain = declaration.level == Level::chain;
  const std::string_view distribution = distribution_of_one_row(declaration);
  const AnyDrafter* drafter = registry().drafter(distribution);
  if (!drafter)
    throw AdapterError(
        fmt::format("distribution: got \"{}\", expected a draft sampling of one position", distribution));
  // More drafts have more tuples, on which the same number of draws shows less; 5^6 tuples are a quarter of 2^16 draws.
  constexpr int usual = 3, largest = 6;
  const int wanted = options.drafts > usual_drafts ? std::min(options.drafts, largest) : usual;
  int drafts = chain ? 1 : std::max(wanted, declaration.fewest_drafts);
  if (declaration.most_drafts > 0) drafts = std::min(drafts, declaration.most_drafts);
  if (drafter->info().most_drafts > 0) drafts = std::min(drafts, drafter->info().most_drafts);
  const auto takes = [&](const std::vector<int>& row) {
    return drafter->defined(static_cast<int>(row.size()), drafts, 1);
  };
  while (drafts > std::max(usual, declaration.fewest_drafts) && !std::ranges::all_of(small_proposals, takes))
    --drafts;
  DraftChecks checks(program, *drafter, drafts, options);
  std::vector<Finding> findings{checks.distribution()};
  if (auto noise = checks.noise()) findings.push_back(std::move(*noise));
  return findings;
}

}  // namespace draftproof::adapters
