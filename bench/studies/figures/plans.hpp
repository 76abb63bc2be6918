// Studies of the plans of optimal schemes: the acceptance that buckets lose, and exactness against time.
#pragma once

#include <algorithm>
#include <cmath>
#include <ctime>
#include <memory>
#include <span>

#include <draftproof/bench/studies/positions.hpp>
#include <draftproof/captures/filter.hpp>
#include <draftproof/optimum/iid_acceptance.hpp>
#include <draftproof/properties/proof/instance_analysis.hpp>
#include <draftproof/properties/subjects/erased.hpp>
#include <draftproof/sim/distributions/streamed_rows.hpp>
#include <draftproof/verifiers/global_resolution.hpp>
#include <draftproof/verifiers/ladder.hpp>

namespace draftproof::studies {

// Computes the acceptance that the ladder loses on fresh rows, where its bins are buckets of p / q; the number of bins;
// and the number of breaks in its sweep. G, P, M, p_I and the recovery of the loss ("served whole") are defined in
// docs/ladder.md.
//
//   lost       optimum of K i.i.d. drafts - sum of min(p, p_I), in units of 1e-6, with the recovery
//   plain      `lost` without the recovery: G = P - M at the mean ratios of the buckets
//   bins       buckets that hold q-mass
//   breaks     bins that leave at a level between 0 and 1
//
// Cost: a table and two plans for each position and K; seconds at V = 128,256.
// Source: derived here (docs/ladder.md).
// Claimed: nothing is above the optimum, and with the recovery at most 1/256 is lost.
struct LadderBuckets {
  static constexpr std::string_view name = "ladder_buckets";
  static constexpr std::string_view about =
      "acceptance that the ladder loses on fresh float rows by grouping p / q into buckets";
  static constexpr std::string_view source = "docs/ladder.md";

  static constexpr int numbers[] = {2, 4, 8};

  /// Effort: positions of each source.
  static StudyResult run(const StudyOptions& options) {
    StudyResult result;
    result.document.data = {{"schema", "draftproof.study.ladder_buckets/1"}, {"seed", options.seed}};
    Checks checks;
    study_positions(
        options,
        {"gaussian_logits:vocabulary=128256,sigma=2.5,noise=1,positions=8",
         "gaussian_logits:vocabulary=32000,sigma=2.5,noise=0.3,positions=8", "zipf:vocabulary=32000,positions=8"},
        options.effort, result, [](const Source& from, std::size_t i) { return losses(from.pair(i)); },
        [&](const Source& from, const std::vector<std::vector<Loss>>& at) {
          for (std::size_t i = 0; i < at.size(); ++i)
            for (const Loss& loss : at[i]) check(loss, from, i, checks);
          write(from, at, result.document);
        });
    checks.report(result, "never above the optimum; whole buckets lose at most 1/256");
    return result;
  }

 private:
  struct Loss {
    int drafts;
    double optimum, whole, plain;
    int bins;
    std::size_t breaks;
  };

  static std::vector<Loss> losses(const RowPair& pair) {
    const std::vector<float> p(pair.target.begin(), pair.target.end());
    const std::vector<float> q(pair.proposals.front().begin(), pair.proposals.front().end());
    const FreshRows<float> rows(p, std::span<const float>(q));
    const auto bins = rows.bins();
    const RatioTable table(pair.target, {&pair.proposals.front(), 1});
    std::vector<Loss> all;
    for (const int drafts : numbers) {
      const auto accepted = [&](const LadderPlan<double>& plan) {
        return rows.sum([&](Token x) {
          const double q_x = rows.proposal(x);
          if (!(q_x > 0)) return 0.0;
          return std::min(rows.target(x), q_x * plan.slope[static_cast<std::size_t>(rows.bin(bins, x))]);
        });
      };
      const FixedCoverage<double> coverage(drafts);
      const auto whole = plan_ladder(rows, bins, coverage, true), plain = plan_ladder(rows, bins, coverage, false);
      const double optimum = iid_optimum(table, drafts).acceptance;
      all.push_back(
          {drafts, optimum, optimum - accepted(whole), optimum - accepted(plain), bins.size(), whole.leaving.size()});
    }
    return all;
  }

  static void check(const Loss& loss, const Source& from, std::size_t i, Checks& checks) {
    // Each entry of a float row has a relative error of at most 2^-24. An error of p moves the optimum by at most the
    // error, an error of q by at most K times the error.
    const double rounding = (1 + loss.drafts) * 0x1p-24;
    const auto at_most = [&](double value, double limit, const char* how) {
      checks.at_most(value, limit, rounding,
                     [&] { return fmt::format("{}, position {}, K = {}, {}", from.name(), i, loss.drafts, how); });
    };
    at_most(-loss.whole, 0, "whole buckets above the optimum");
    at_most(-loss.plain, 0, "own ratios above the optimum");
    // The ratios p / q in a bucket differ by at most 1/64 of their value, and a bucket of relative width w loses at
    // most w / 4.
    at_most(loss.whole, 1.0 / 256, "whole buckets");
  }

  static void write(const Source& from, const std::vector<std::vector<Loss>>& at, Document& document) {
    Records records{{.title = from.name(),
                     .before = {size_line(from, at.size(), " of float32, means; losses in units of 1e-6")}}};
    for (std::size_t k = 0; k < std::size(numbers); ++k) {
      const auto mean = [&](auto Loss::*member) {
        return mean_over(at, [&](const std::vector<Loss>& losses) { return losses[k].*member; });
      };
      double worst = 0;
      for (const auto& losses : at) worst = std::max(worst, losses[k].whole);
      const auto millionths = [](const char* title, const char* key, double loss) {
        Field field = number(title, key, 1e6 * loss, "{:.1f}");
        field.value = loss;
        return field;
      };
      records.add({number("K", "drafts", numbers[k]), number("optimum", "optimum", mean(&Loss::optimum), "{:.4f}"),
                   millionths("G = P - M", "own_ratios", mean(&Loss::plain)),
                   millionths("served whole", "served_whole", mean(&Loss::whole)),
                   millionths("worst", "worst", worst), number("bins", "bins", mean(&Loss::bins), "{:.0f}"),
                   number("breaks", "breaks", mean(&Loss::breaks), "{:.0f}")});
    }
    nlohmann::ordered_json entry = entry_of(from, at.size());
    records.write(document, entry, "losses");
    document.data["sources"].push_back(std::move(entry));
  }
};

// Compares acceptance and time of the schemes that reach the optimum of K i.i.d. drafts: global resolution at three
// tolerances, a maximum flow, the two-step form of this flow, and the ladder. Recursive rejection is added for
// comparison.
//
//   n       6, 8, 10, 12     likeliest tokens kept, of target and of proposal each, as by an engine's top-k
//   share   acceptance / optimum, both means over positions; acceptance by an enumeration in double
//   TV      half the L1 distance of the explored output distribution to the target, the largest over positions
//   time    time to make the plan, with --timings only, as a multiple of the ladder's in the same run
//
// Cost: one exploration of all tuples per scheme, n and K: V^K branches and their continuations.
// Source: Thomas and Pal, arXiv:2511.15898, who compare acceptance and time on a language model. Their numbers
// cannot be reproduced here, but the trade-off can.
// Claimed: the TV is at most the bound that each scheme promises (tau / 2 for global resolution, else 0); acceptance is
// at most that TV above the optimum and, except for recursive rejection, at most twice the promise below it, because
// the fits of global resolution miss the rejections by at most tau.
struct ResolutionTrade {
  static constexpr std::string_view name = "resolution_trade";
  static constexpr std::string_view about = "acceptance, exactness and time of the optimal schemes on few tokens";
  static constexpr std::string_view source = "Thomas and Pal, arXiv:2511.15898, acceptance against time";

  static constexpr std::size_t sizes[] = {6, 8, 10, 12};
  static constexpr int numbers[] = {2, 3};

  /// A verifier in the comparison, with the TV that it promises.
  struct Scheme {
    std::string name;
    std::shared_ptr<const AnyVerifier> verifier;
    double tolerance = 0;  ///< largest promised TV, beyond rounding
    bool optimal = true;   ///< whether it reaches the optimum up to twice the tolerance
  };

  static std::vector<Scheme> schemes() {
    std::vector<Scheme> all;
    for (const double tau : {1e-2, 1e-3, 1e-4})
      all.push_back({fmt::format("global_resolution {:.0e}", tau),
                     std::make_shared<VerifierOf<verifiers::GlobalResolution>>(Kind::verifier,
                                                                               verifiers::GlobalResolution{tau}),
                     tau / 2});
    for (const char* scheme : {"optimal_transport", "canonical_two_step", "ladder", "recursive_rejection"})
      all.push_back({scheme, {std::shared_ptr<void>(), registry().verifier(scheme)}});
    all.back().optimal = false;
    return all;
  }

  /// Effort: positions of each source, 32 by default.
  static StudyResult run(const StudyOptions& options) { return trade(options, schemes()); }

  static StudyResult trade(const StudyOptions& options, const std::vector<Scheme>& schemes) {
    StudyResult result;
    result.document.data = {{"schema", "draftproof.study.resolution_trade/1"}, {"seed", options.seed}};
    Checks checks;
    study_positions(
        options, {"zipf:positions=16", "dirichlet:positions=16", "gaussian_logits:positions=16"},
        options.effort > 0 ? options.effort : 32, result,
        [&](const Source& from, std::size_t i) { return points(from.pair(i), schemes, options.timings); },
        [&](const Source& from, const std::vector<std::vector<Point>>& at) {
          for (std::size_t i = 0; i < at.size(); ++i)
            for (const Point& point : at[i]) check(point, from, i, schemes, checks);
          write(from, at, schemes, options.timings, result.document);
        });
    checks.report(result, "output within the promise, acceptance between optimum - 2 TV promised and optimum + TV");
    return result;
  }

 private:
  struct Outcome {
    double acceptance, distance, seconds;
  };
  /// The optimum and the schemes' results for one n and K at one position.
  struct Point {
    std::size_t tokens;
    int drafts;
    int vocabulary;  ///< number of tokens kept in the target or the proposal
    double optimum;
    std::vector<Outcome> outcomes{};  ///< results by scheme
  };

  /// Returns the processor time of making a plan: the median of five runs.
  static double seconds_to_prepare(const Scheme& scheme, const Rows<double>& rows, int drafts) {
    const auto now = [] {
      timespec time{};
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
      return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
    };
    std::vector<double> seconds;
    for (int run = 0; run < 5; ++run) {
      const double start = now();
      const auto decider = scheme.verifier->explore_on(rows, drafts);
      seconds.push_back(now() - start);
    }
    std::nth_element(seconds.begin(), seconds.begin() + 2, seconds.end());
    return seconds[2];
  }

  static Outcome outcome(const Scheme& scheme, const Rows<double>& rows, int drafts, bool timings) {
    const auto decider = scheme.verifier->explore_on(rows, drafts);
    const auto distribution = explore_distribution(*registry().drafter("iid"), *decider, rows, drafts);
    if (!distribution.complete) throw EnumerationCut("too many branches to enumerate");
    double distance = 0;
    for (Token x = 0; x < rows.vocabulary(); ++x)
      distance += std::abs(distribution.output[static_cast<std::size_t>(x)] - rows.target(x)) / 2;
    return {distribution.draft_emitted, distance, timings ? seconds_to_prepare(scheme, rows, drafts) : 0};
  }

  static std::vector<Point> points(const RowPair& pair, const std::vector<Scheme>& schemes, bool timings) {
    std::vector<Point> all;
    for (const std::size_t tokens : sizes) {
      // Cuts both distributions to their n likeliest tokens and removes the tokens that both drop.
      const auto p = filtered_distribution(pair.target, {.top_k = tokens});
      const auto q = filtered_distribution(pair.proposals.front(), {.top_k = tokens});
      std::vector<double> target, proposal;
      for (std::size_t x = 0; x < p.size(); ++x) {
        if (p[x] == 0 && q[x] == 0) continue;
        target.push_back(p[x]);
        proposal.push_back(q[x]);
      }
      const Rows<double> rows(target, proposal);
      for (const int drafts : numbers) {
        const double optimum = iid_optimum(RatioTable(target, proposal), drafts).acceptance;
        Point point{tokens, drafts, rows.vocabulary(), optimum};
        for (const Scheme& scheme : schemes) point.outcomes.push_back(outcome(scheme, rows, drafts, timings));
        all.push_back(std::move(point));
      }
    }
    return all;
  }

  static void check(const Point& point, const Source& from, std::size_t i, const std::vector<Scheme>& schemes,
                    Checks& checks) {
    // Flows fall short by less than 2^-52 per set and per token. The explorer makes at most K + 3 flips and picks with
    // rounded weights per branch; each of them, and each term of the sums over V tokens, errs by less than 2^-52.
    const double sets = std::pow(point.vocabulary + 1, point.drafts);
    const double rounding = (sets + point.vocabulary) * (point.drafts + 3) * 0x1p-52;
    for (std::size_t s = 0; s < schemes.size(); ++s) {
      const Outcome& got = point.outcomes[s];
      const auto at_most = [&](double value, double limit, const char* claim) {
        checks.at_most(value, limit, rounding, [&] {
          return fmt::format("{}, position {}, {} on {} tokens, K = {}, {}", from.name(), i, schemes[s].name,
                             point.tokens, point.drafts, claim);
        });
      };
      at_most(got.distance, schemes[s].tolerance, "TV");
      // Every verifier is lossless for the distribution that it emits, and this distribution's optimum differs from the
      // target's by at most the TV.
      at_most(got.acceptance, point.optimum + got.distance, "acceptance");
      if (schemes[s].optimal) at_most(point.optimum - 2 * schemes[s].tolerance, got.acceptance, "optimum");
    }
  }

  static void write(const Source& from, const std::vector<std::vector<Point>>& at, const std::vector<Scheme>& schemes,
                    bool timings, Document& document) {
    nlohmann::ordered_json entry = entry_of(from, at.size());
    const auto count = static_cast<double>(at.size());
    const auto ladder = static_cast<std::size_t>(
        std::find_if(schemes.begin(), schemes.end(), [](const Scheme& s) { return s.name == "ladder"; }) -
        schemes.begin());
    for (const int drafts : numbers) {
      Records records{
          {.title = fmt::format("{}: K = {}", from.name(), drafts),
           .before = {fmt::format("  {}; share of the optimum in %, largest TV", counted(at.size(), "position"))}}};
      for (std::size_t s = 0; s < schemes.size(); ++s) {
        std::vector<Field> row{note("scheme", schemes[s].name)}, times;
        double furthest = 0;
        for (std::size_t j = 0; j < at.front().size(); ++j) {
          const std::size_t tokens = at.front()[j].tokens;
          if (at.front()[j].drafts != drafts) continue;
          double optimum = 0, acceptance = 0, distance = 0, seconds = 0, unit = 0;
          for (const auto& all : at) {
            const Outcome& got = all[j].outcomes[s];
            optimum += all[j].optimum / count;
            acceptance += got.acceptance / count;
            seconds += got.seconds / count;
            unit += ladder < schemes.size() ? all[j].outcomes[ladder].seconds / count : 0;
            distance = std::max(distance, got.distance);
          }
          furthest = std::max(furthest, distance);
          row.push_back(cell(fmt::format("n = {}", tokens),
                             optimum > 0 ? fmt::format("{:.4f}", 100 * acceptance / optimum) : "-"));
          times.push_back(
              cell(fmt::format("time, n = {}", tokens), unit > 0 ? fmt::format("{:.1f}", seconds / unit) : "-"));
          nlohmann::ordered_json item{{"tokens", tokens},          {"drafts", drafts},
                                      {"scheme", schemes[s].name}, {"optimum", optimum},
                                      {"acceptance", acceptance},  {"largest_distance", distance}};
          if (timings) item["microseconds_to_prepare"] = 1e6 * seconds;
          entry["points"].push_back(std::move(item));
        }
        // Values below 1e-10 are only rounding, which differs between compilers and libraries.
        row.push_back(cell("TV", furthest < 1e-10 ? "< 1e-10" : fmt::format("{:.1e}", furthest)));
        if (timings) row.insert(row.end(), times.begin(), times.end());
        records.add(row);
      }
      if (timings) records.section.after = {"  time: of making the plan, as a multiple of the ladder's"};
      document.sections.push_back(std::move(records.section));
    }
    document.data["sources"].push_back(std::move(entry));
  }
};

}  // namespace draftproof::studies
