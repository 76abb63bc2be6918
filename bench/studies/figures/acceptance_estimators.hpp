// Compares estimators of the emitted distribution and of acceptance with counting, by the variance that each saves. The
// estimators use conditional distributions given the drafts, control variates, and stratified and scrambled Sobol
// drafts. Then the study compares the acceptance of `simulate --estimate` with closed forms.
//
// The first table is about recursive rejection of i.i.d. drafts. It shows the variance of counting divided by the
// variance of the estimator:
//
//   groups       sum of the variances of 32 groups of tokens, formed in order of p / q
//   tokens       sum of Var(x) / p(x) over tokens x
//   acceptance   variance of the acceptance
//
// Claimed: estimates agree with the target and with closed forms within ten standard errors; conditional distributions
// are no noisier than counts, and Sobol drafts no noisier than independent drafts; and on the standard pair acceptance
// is within 1e-4 with 2^16 tuples.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <ctime>
#include <optional>

#include <draftproof/bench/studies/positions.hpp>
#include <draftproof/bench/studies/refusal_groups.hpp>
#include <draftproof/optimum/iid_acceptance.hpp>
#include <draftproof/properties/estimation/acceptance_estimate.hpp>
#include <draftproof/properties/estimation/quasi_random_drafts.hpp>
#include <draftproof/properties/gate/sampled_position.hpp>
#include <draftproof/properties/simulation/joint_distribution.hpp>
#include <draftproof/properties/simulation/simulation.hpp>

namespace draftproof::studies {

struct AcceptanceEstimators {
  static constexpr std::string_view name = "acceptance_estimators";
  static constexpr std::string_view about =
      "noise of acceptance estimates: conditional distributions, control variates, Sobol drafts";
  static constexpr std::string_view source = "derived here, docs/statistics.md";

  static constexpr int numbers[] = {1, 2, 4};
  static constexpr int replicates = 128;
  static constexpr std::uint64_t tuples = std::uint64_t{1} << 13;  ///< tuples per replicate

  struct Estimator {
    std::string_view name;
    PointSet points;
    bool controls;
  };
  static constexpr Estimator estimators[] = {{"conditional distribution", PointSet::random, false},
                                             {"+ control variates", PointSet::random, true},
                                             {"+ first draft stratified", PointSet::stratified, false},
                                             {"+ Sobol", PointSet::sobol, false},
                                             {"+ Sobol, control variates", PointSet::sobol, true}};

  /// Effort: tuples per replicate of the first table.
  static StudyResult run(const StudyOptions& options) {
    StudyResult result;
    result.document.data = {{"schema", "draftproof.study.acceptance_estimators/1"}, {"seed", options.seed}};
    Checks checks;
    for (const Source& from : open_sources(options, {standard_source(32'000, 1)})) {
      const RowPair pair = from.pair(0);
      const RatioTable table(pair.target, pair.proposals);
      nlohmann::ordered_json entry{{"source", from.name()}, {"about", from.describe()}};
      result.complete = variances(options, from, table, checks, entry, result.document) &&
                        schemes(options, from, table, checks, entry, result.document);
      if (!result.complete) break;
      result.document.data["sources"].push_back(std::move(entry));
    }
    checks.report(result, "averages agree with the target and closed forms; less noise than counting");
    return result;
  }

 private:
  static EstimateOptions with(const StudyOptions& options, std::uint64_t total, int count) {
    return {
        .tuples = total, .replicates = count, .seed = options.seed, .threads = options.threads, .stop = options.stop};
  }

  /// Six relative standard deviations of a variance that is estimated from 128 replicates; the standard deviation is
  /// sqrt(2 / 127).
  static constexpr double variance_noise = 0.75;

  /// The spread of replicates does not account for an event that occurs in none of the n tuples. An event of
  /// probability 37 / n occurs in none of them with probability e^-37 = 1e-16.
  static constexpr double unseen = 37;

  struct Noise {
    double groups, tokens, acceptance;  ///< ratios of variances
  };

  /// Averages the masses of 32 groups, sum C^2 / p (refusal_groups.hpp) and acceptance. Returns nothing after a stop.
  static std::optional<Noise> noise(const StudyOptions& options, const Estimator& estimator, const RatioTable& table,
                                    int drafts, Checks& checks) {
    const RefusalGroups distribution(table, drafts);
    const DraftPoints points(*registry().drafter("iid"), table, drafts);
    const TupleControls controls(points);
    const std::uint64_t each = options.effort > 0 ? options.effort : tuples;
    EstimateOptions how = with(options, each * replicates, replicates);
    how.points = estimator.points;
    how.controls = estimator.controls;
    constexpr std::size_t square = default_groups, accepted = square + 1;
    const auto means = replicated_means(points, controls, accepted + 1, how, [&distribution] {
      return [&distribution](const TupleStream& stream, std::span<double> out) {
        out[accepted] = distribution.groups(stream.tuple(), out);
        out[square] = distribution.square(stream.tuple());
      };
    });
    if (means.empty()) return std::nullopt;
    const auto used = static_cast<double>(TupleStream(points, how, 0).size() * replicates);
    const auto variance = [&](const ReplicatedMean& mean) {
      return mean.standard_error * mean.standard_error * used;
    };
    const auto what = [&] { return fmt::format("{}, K = {}", estimator.name, drafts); };
    const auto near = [&](const ReplicatedMean& mean, double exact) {
      // Student's t with 127 degrees of freedom exceeds ten with probability below 1e-16.
      checks.at_most(std::abs(mean.mean - exact), 10 * mean.standard_error, unseen / used, what);
    };
    const std::vector<double> target = folded(distribution.group(), distribution.target());
    double plain = 0, estimated = 0;
    for (std::size_t g = 0; g < target.size(); ++g) {
      plain += target[g] * (1 - target[g]);
      estimated += variance(means[g]);
      near(means[g], target[g]);
    }
    near(means[accepted], distribution.acceptance());
    const double tokens = static_cast<double>(
        std::count_if(distribution.target().begin(), distribution.target().end(), [](double p) { return p > 0; }));
    // If the control variates remove all variance, only rounding is left.
    const double rounding = 0x1p-90;
    const Noise out{
        plain / std::max(estimated, rounding), (tokens - 1) / (means[square].mean - 1),
        distribution.acceptance() * (1 - distribution.acceptance()) / std::max(variance(means[accepted]), rounding)};
    checks.at_most(1, out.groups, variance_noise, what);
    checks.at_most(1, out.tokens, 10 * means[square].standard_error / (means[square].mean - 1), what);
    return out;
  }

  static std::string shown(double ratio) {
    // Only the rounding of doubles is left in the estimator's variance, so the ratio has no meaning.
    if (ratio > 1e12) return "exact";
    if (ratio < 100) return fmt::format("{:.1f}", ratio);
    // Rounds to two digits, because an estimated variance has no more than two accurate digits.
    const double unit = std::pow(10, std::floor(std::log10(ratio)) - 1);
    return grouped(static_cast<std::uint64_t>(std::llround(std::round(ratio / unit) * unit)));
  }

  static bool variances(const StudyOptions& options, const Source& from, const RatioTable& table, Checks& checks,
                        nlohmann::ordered_json& entry, Document& document) {
    Records records{{.title = fmt::format("{}: variance of counting over that of the estimator", from.name()),
                     .before = {fmt::format("  recursive_rejection, V = {}, {} replicates of {} tuples",
                                            grouped(from.vocabulary()), replicates,
                                            grouped(std::bit_floor(options.effort > 0 ? options.effort : tuples)))}}};
    std::uint64_t done = 0;
    std::vector<double> independent;
    for (const Estimator& estimator : estimators) {
      const bool plain = estimator.points == PointSet::random && !estimator.controls;
      const auto row = [&](std::string_view of) {
        return std::vector<Field>{note("estimator", estimator.name), note("of", of)};
      };
      auto groups = row("groups"), tokens = row("tokens"), acceptance = row("acceptance");
      for (std::size_t n = 0; n < std::size(numbers); ++n) {
        const auto found = noise(options, estimator, table, numbers[n], checks);
        if (!found) return false;
        entry["variances"].push_back({{"estimator", estimator.name},
                                      {"drafts", numbers[n]},
                                      {"groups", found->groups},
                                      {"tokens", found->tokens},
                                      {"acceptance", found->acceptance}});
        options.tell(++done, std::size(estimators) * std::size(numbers) + 1);
        if (plain) independent.push_back(found->groups);
        if (estimator.points == PointSet::sobol)
          checks.at_most(independent[n], found->groups, variance_noise * found->groups,
                         [] { return "Sobol drafts"; });
        const auto title = fmt::format("K = {}", numbers[n]);
        groups.push_back(cell(title, shown(found->groups)));
        tokens.push_back(cell(title, shown(found->tokens)));
        acceptance.push_back(cell(title, shown(found->acceptance)));
      }
      records.add(groups);
      if (plain) records.add(tokens);
      records.add(acceptance);
    }
    document.sections.push_back(std::move(records.section));
    return true;
  }

  static double exact_acceptance(const AnyVerifier& verifier, const RatioTable& table, int drafts) {
    const JointDistribution* const distribution = known_joint_distributions().of(verifier.info().name, "iid");
    if (!distribution) return iid_optimum(table, drafts).acceptance;
    const JointRows rows = distribution->rows(table, drafts);
    NeumaierSum sum;
    for (std::size_t k = 0; k + 1 < rows.size(); ++k)
      for (const double mass : rows[k]) sum.add(mass);
    return sum.value();
  }

  static bool schemes(const StudyOptions& options, const Source& from, const RatioTable& table, Checks& checks,
                      nlohmann::ordered_json& entry, Document& document) {
    constexpr int drafts = 4;
    const EstimateOptions how = with(options, std::uint64_t{1} << 16, 16);
    Records records{
        {.title = fmt::format("{}: acceptance of 4 i.i.d. drafts from 2^16 tuples", from.name()),
         .before = {
             "  error: standard error over 16 scramblings; variance: variance of counting / of the estimate"}}};
    for (const char* scheme : {"recursive_rejection", "k_seq", "naive_tree", "sample_and_match", "ladder"}) {
      const AnyVerifier& verifier = *registry().verifier(scheme);
      const AnyDrafter& iid = *registry().drafter("iid");
      const double exact = exact_acceptance(verifier, table, drafts);
      const std::clock_t start = std::clock();
      const auto found = estimate_acceptance(verifier, iid, table, drafts, how);
      if (!found) return false;
      const double seconds = since(start) / static_cast<double>(found->tuples);
      const ReplicatedMean& accepted = found->draft_accepted;
      // Student's t with 15 degrees of freedom exceeds ten with probability about 5e-8.
      const double off = std::abs(accepted.mean - exact);
      checks.at_most(off, 10 * accepted.standard_error, unseen / static_cast<double>(found->tuples),
                     [&] { return scheme; });
      if (options.sources.empty()) checks.at_most(off, 1e-4, 0, [&] { return scheme; });
      const double ratio = exact * (1 - exact) /
                           (accepted.standard_error * accepted.standard_error * static_cast<double>(found->tuples));
      std::vector<Field> row{word("scheme", "scheme", scheme),
                             number("exact", "exact", exact, "{:.7f}"),
                             number("estimate", "draft_accepted", accepted.mean, "{:.7f}"),
                             datum("draft_emitted", found->draft_emitted.mean),
                             number("deviation", "", accepted.mean - exact, "{:+.1e}"),
                             number("error", "standard_error", accepted.standard_error, "{:.1e}"),
                             cell("variance", shown(ratio)),
                             datum("variance_ratio", ratio)};
      if (options.timings) {
        const double counting = seconds_of_counting(options, verifier, iid, table, drafts);
        for (const Field& field :
             {number("us per tuple", "", 1e6 * seconds, "{:.2f}"), number("counting", "", 1e6 * counting, "{:.2f}"),
              cell("equal time", shown(ratio * counting / seconds)), datum("seconds_a_tuple", seconds),
              datum("seconds_a_trial", counting)})
          row.push_back(field);
      }
      records.add(row);
    }
    if (options.timings)
      records.section.after.push_back(
          "  equal time: variance of counting over that of the estimator after the same processor time");
    records.write(document, entry, "schemes");
    return true;
  }

  /// Returns the processor time of all threads, in seconds.
  static double since(std::clock_t start) { return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC; }
  static double seconds_of_counting(const StudyOptions& options, const AnyVerifier& verifier,
                                    const AnyDrafter& drafter, const RatioTable& table, int drafts) {
    constexpr std::uint64_t trials = 1'000'000;
    const std::clock_t start = std::clock();
    simulate(Simulation{verifier, drafter, drafts, options.seed}, table,
             {.trials = trials, .threads = options.threads});
    return since(start) / trials;
  }
};

}  // namespace draftproof::studies
