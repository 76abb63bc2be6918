// Acceptance against time of the schemes that reach the optimum of K i.i.d. drafts: global resolution at three
// tolerances, a maximum flow, its two-step form, the ladder; with recursive rejection for comparison.
//
//   n       6, 8, 10, 12     likeliest tokens kept, of target and of proposal each, as an engine's top-k does
//   share   acceptance / optimum, both means over positions; acceptance by exploration in double
//   TV      half the L1 distance of the explored output law to the target, the largest over positions
//   time    of making the plan, with --timings only: also as a multiple of the ladder's in the same run
//
// Source: Thomas and Pal, arXiv:2511.15898, who set acceptance against time on a language model; theirs are not
// reproducible here, the trade is. Claimed: output within the promise of each scheme (tau / 2 for global resolution),
// acceptance at most the optimum and, but for rejection, at least the optimum less that tolerance.
#pragma once

#include <ctime>
#include <memory>

#include <draftproof/optimum/ratio_scan.hpp>
#include <draftproof/properties/erased.hpp>
#include <draftproof/properties/explored.hpp>
#include <draftproof/properties/registry.hpp>
#include <draftproof/report/text.hpp>
#include <draftproof/studies/checks.hpp>
#include <draftproof/studies/positions.hpp>
#include <draftproof/verifiers/global_resolution.hpp>

namespace draftproof::studies {

/// A verifier in the trade, with what it promises here.
struct TradedScheme {
  std::string name;
  std::shared_ptr<const AnyVerifier> verifier;
  double tolerance = 0;  ///< largest TV promised, beyond rounding
  bool optimal = true;   ///< reaches the optimum, up to twice that
};

struct ResolutionTrade {
  static constexpr std::string_view name = "resolution_trade";
  static constexpr std::string_view about = "acceptance, exactness and time of the optimal schemes on few tokens";
  static constexpr std::string_view source = "Thomas and Pal, arXiv:2511.15898, acceptance against time";

  static constexpr std::size_t sizes[] = {6, 8, 10, 12};
  static constexpr int numbers[] = {2, 3};
  static constexpr std::uint64_t positions = 32;  ///< of each source, by default

  static std::vector<TradedScheme> schemes() {
    std::vector<TradedScheme> all;
    for (const double tau : {1e-2, 1e-3, 1e-4})
      all.push_back({fmt::format("global_resolution {:.0e}", tau),
                     std::make_shared<VerifierOf<verifiers::GlobalResolution>>(Kind::verifier,
                                                                               verifiers::GlobalResolution{tau}),
                     tau / 2, true});
    for (const char* scheme : {"optimal_transport", "canonical_two_step", "ladder", "recursive_rejection"})
      all.push_back({scheme,
                     {std::shared_ptr<void>(), registry().verifier(scheme)},
                     0,
                     std::string_view(scheme) != "recursive_rejection"});
    return all;
  }

  /// Effort counts positions of each source.
  static StudyResult run(const StudyOptions& options) { return trade(options, schemes()); }

  static StudyResult trade(const StudyOptions& options, const std::vector<TradedScheme>& schemes) {
    const std::vector<Source> sources =
        open_sources(options, {"zipf:positions=16", "dirichlet:positions=16", "gaussian_logits:positions=16"});
    const std::uint64_t most = options.effort > 0 ? options.effort : positions;
    StudyResult result;
    result.document.data = {{"schema", "draftproof.study.resolution_trade/1"}, {"seed", options.seed}};
    std::uint64_t total = 0;
    for (const Source& from : sources) total += positions_taken(from, most);
    Meter meter(options, total);
    Checks checks;
    for (const Source& from : sources) {
      std::vector<std::vector<Point>> at(positions_taken(from, most));
      const auto done = for_each_position(options, at.size(), [&](std::size_t i) {
        at[i] = points(from.pair(i), schemes, options.timings);
        meter.add(1);
      });
      std::vector<std::vector<Point>> finished;
      for (std::size_t i = 0; i < at.size(); ++i)
        if (done[i]) finished.push_back(std::move(at[i]));
      result.complete = result.complete && finished.size() == at.size();
      if (finished.empty()) continue;
      for (std::size_t i = 0; i < finished.size(); ++i)
        for (const Point& point : finished[i]) check(point, from, i, schemes, checks);
      write(from, finished, schemes, options.timings, result.document);
    }
    checks.report(result, "output within the promise, acceptance between optimum - 2 TV promised and optimum + TV");
    return result;
  }

 private:
  struct Outcome {
    double acceptance, distance, seconds;
  };
  /// One n and K at one position.
  struct Point {
    std::size_t tokens;
    int drafts;
    int vocabulary;  ///< tokens that target or proposal keeps
    double optimum;
    std::vector<Outcome> outcomes;  ///< by scheme
  };

  /// Both laws cut to their n likeliest tokens; what neither keeps is dropped.
  static Rows<double> cut(const RowPair& pair, std::size_t tokens) {
    const auto p = filtered_law(pair.target, {.top_k = tokens});
    const auto q = filtered_law(pair.proposals.front(), {.top_k = tokens});
    std::vector<double> target, proposal;
    for (std::size_t x = 0; x < p.size(); ++x) {
      if (p[x] == 0 && q[x] == 0) continue;
      target.push_back(p[x]);
      proposal.push_back(q[x]);
    }
    return {std::move(target), std::move(proposal)};
  }

  static std::vector<Point> points(const RowPair& pair, const std::vector<TradedScheme>& schemes, bool timings) {
    std::vector<Point> all;
    for (const std::size_t tokens : sizes) {
      const Rows<double> rows = cut(pair, tokens);
      std::vector<double> target, proposal;
      for (Token x = 0; x < rows.vocabulary(); ++x) {
        target.push_back(rows.target(x));
        proposal.push_back(rows.proposal(x));
      }
      const RatioTable table(target, proposal);
      for (const int drafts : numbers) {
        Point point{tokens, drafts, rows.vocabulary(), iid_optimum(table, drafts).acceptance, {}};
        for (const TradedScheme& scheme : schemes) point.outcomes.push_back(outcome(scheme, rows, drafts, timings));
        all.push_back(std::move(point));
      }
    }
    return all;
  }

  static Outcome outcome(const TradedScheme& scheme, const Rows<double>& rows, int drafts, bool timings) {
    const auto decider = scheme.verifier->explore_on(rows, drafts);
    const auto law = explore_law(*registry().drafter("iid"), *decider, rows, drafts);
    double distance = 0;
    for (Token x = 0; x < rows.vocabulary(); ++x)
      distance += std::abs(law.output[static_cast<std::size_t>(x)] - rows.target(x)) / 2;
    return {law.membership, distance, timings ? seconds_to_prepare(scheme, rows, drafts) : 0};
  }

  /// Processor time of a plan, the median of five.
  static double seconds_to_prepare(const TradedScheme& scheme, const Rows<double>& rows, int drafts) {
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

  /// Flows fall short by less than 2^-52 for each set and token; the explorer's branches, at most K + 3 flips and
  /// picks of rounded weights each, and the sums over V tokens err by less than that for each branch.
  static double rounding(const Point& point) {
    const double sets = std::pow(point.vocabulary + 1, point.drafts);
    return (sets + point.vocabulary) * (point.drafts + 3) * 0x1p-52;
  }

  static void check(const Point& point, const Source& from, std::size_t i, const std::vector<TradedScheme>& schemes,
                    Checks& checks) {
    const double tolerance = rounding(point);
    for (std::size_t s = 0; s < schemes.size(); ++s) {
      const Outcome& got = point.outcomes[s];
      const auto what = [&](const char* claim) {
        return fmt::format("{}, position {}, {} on {} tokens, K = {}, {}", from.name(), i, schemes[s].name,
                           point.tokens, point.drafts, claim);
      };
      checks.at_most(got.distance, schemes[s].tolerance, tolerance, [&] { return what("TV"); });
      // Whatever it promises, a verifier is lossless for its own output, whose optimum is within that TV.
      checks.at_most(got.acceptance, point.optimum + got.distance, tolerance, [&] { return what("acceptance"); });
      if (schemes[s].optimal)
        checks.at_most(point.optimum - 2 * schemes[s].tolerance, got.acceptance, tolerance,
                       [&] { return what("optimum"); });
    }
  }

  static void write(const Source& from, const std::vector<std::vector<Point>>& at,
                    const std::vector<TradedScheme>& schemes, bool timings, Document& document) {
    nlohmann::ordered_json entry{{"source", from.name()},
                                 {"about", from.describe()},
                                 {"positions", at.size()},
                                 {"points", nlohmann::ordered_json::array()}};
    std::size_t ladder = schemes.size();
    for (std::size_t s = 0; s < schemes.size(); ++s)
      if (schemes[s].name == "ladder") ladder = s;
    for (const int drafts : numbers) {
      Section section{
          .title = fmt::format("{}: K = {}", from.name(), drafts),
          .before = {fmt::format("  {}; share of the optimum in %, largest TV", counted(at.size(), "position"))}};
      section.table.columns = {{"scheme"}};
      for (const std::size_t tokens : sizes) section.table.columns.push_back({fmt::format("n = {}", tokens), true});
      section.table.columns.push_back({"TV", true});
      if (timings)
        for (const std::size_t tokens : sizes)
          section.table.columns.push_back({fmt::format("time, n = {}", tokens), true});
      for (std::size_t s = 0; s < schemes.size(); ++s) {
        std::vector<Cell> shares{{schemes[s].name}}, times;
        double furthest = 0;
        for (std::size_t j = 0; j < at.front().size(); ++j) {
          if (at.front()[j].drafts != drafts) continue;
          double optimum = 0, acceptance = 0, distance = 0, seconds = 0, unit = 0;
          for (const auto& all : at) {
            const Outcome& got = all[j].outcomes[s];
            optimum += all[j].optimum / static_cast<double>(at.size());
            acceptance += got.acceptance / static_cast<double>(at.size());
            seconds += got.seconds / static_cast<double>(at.size());
            unit += ladder < schemes.size() ? all[j].outcomes[ladder].seconds / static_cast<double>(at.size()) : 0;
            distance = std::max(distance, got.distance);
          }
          furthest = std::max(furthest, distance);
          shares.push_back({optimum > 0 ? fmt::format("{:.4f}", 100 * acceptance / optimum) : "-"});
          times.push_back({unit > 0 ? fmt::format("{:.1f}", seconds / unit) : "-"});
          nlohmann::ordered_json item{{"tokens", at.front()[j].tokens}, {"drafts", drafts},
                                      {"scheme", schemes[s].name},      {"optimum", optimum},
                                      {"acceptance", acceptance},       {"largest_distance", distance}};
          if (timings) item["microseconds_to_prepare"] = 1e6 * seconds;
          entry["points"].push_back(std::move(item));
        }
        // Rounding is the compiler's and the library's own.
        shares.push_back({furthest < 1e-10 ? "< 1e-10" : fmt::format("{:.1e}", furthest)});
        if (timings) shares.insert(shares.end(), times.begin(), times.end());
        section.table.rows.push_back(std::move(shares));
      }
      if (timings) section.after = {"  time: of making the plan, as a multiple of the ladder's"};
      document.sections.push_back(std::move(section));
    }
    document.data["sources"].push_back(std::move(entry));
  }
};

}  // namespace draftproof::studies
