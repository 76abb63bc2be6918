// Acceptance against time of the schemes that reach the optimum of K i.i.d. drafts: global resolution at three
// tolerances, a maximum flow, its two-step form, the ladder; with recursive rejection for comparison.
//
//   n       6, 8, 10, 12     likeliest tokens kept, of target and of proposal each, as by an engine's top-k
//   share   acceptance / optimum, both means over positions; acceptance by exploration in double
//   TV      half the L1 distance of the explored output law to the target, the largest over positions
//   time    of making the plan, with --timings only, as a multiple of the ladder's in the same run
//
// Source: Thomas and Pal, arXiv:2511.15898, who compare acceptance and time on a language model. Their numbers are
// not reproducible here, but the trade is.
// Claimed: the output is within the promise of each scheme (tau / 2 for global resolution); acceptance is at most
// that far above the optimum and, except for rejection, at most twice that below it, because the fits of global
// resolution miss the refusals by at most tau.
#pragma once

#include <draftproof/report/text.hpp>
#include <draftproof/studies/checks.hpp>
#include <draftproof/studies/positions.hpp>
#include <draftproof/studies/trade_points.hpp>

namespace draftproof::studies {

struct ResolutionTrade {
  static constexpr std::string_view name = "resolution_trade";
  static constexpr std::string_view about = "acceptance, exactness and time of the optimal schemes on few tokens";
  static constexpr std::string_view source = "Thomas and Pal, arXiv:2511.15898, acceptance against time";

  static constexpr std::uint64_t positions = 32;  ///< of each source, by default

  /// Effort: positions of each source.
  static StudyResult run(const StudyOptions& options) { return trade(options, traded_schemes()); }

  static StudyResult trade(const StudyOptions& options, const std::vector<TradedScheme>& schemes) {
    const std::vector<Source> sources =
        open_sources(options, {"zipf:positions=16", "dirichlet:positions=16", "gaussian_logits:positions=16"});
    const std::uint64_t most = options.effort > 0 ? options.effort : positions;
    StudyResult result;
    result.document.data = {{"schema", "draftproof.study.resolution_trade/1"}, {"seed", options.seed}};
    Meter meter(options, positions_taken(sources, most));
    Checks checks;
    for (const Source& from : sources) {
      const std::size_t count = positions_taken(from, most);
      const auto finished = finished_positions(
          options, count, meter, [&](std::size_t i) { return trade_points(from.pair(i), schemes, options.timings); });
      result.complete = result.complete && finished.size() == count;
      if (finished.empty()) continue;
      for (std::size_t i = 0; i < finished.size(); ++i)
        for (const TradePoint& point : finished[i]) check(point, from, i, schemes, checks);
      write(from, finished, schemes, options.timings, result.document);
    }
    checks.report(result, "output within the promise, acceptance between optimum - 2 TV promised and optimum + TV");
    return result;
  }

 private:
  /// Flows fall short by less than 2^-52 per set and per token. The explorer's branches, at most K + 3 flips and
  /// picks of rounded weights each, and the sums over V tokens have an error below that per branch.
  static double rounding(const TradePoint& point) {
    const double sets = std::pow(point.vocabulary + 1, point.drafts);
    return (sets + point.vocabulary) * (point.drafts + 3) * 0x1p-52;
  }

  static void check(const TradePoint& point, const Source& from, std::size_t i,
                    const std::vector<TradedScheme>& schemes, Checks& checks) {
    const double tolerance = rounding(point);
    for (std::size_t s = 0; s < schemes.size(); ++s) {
      const TradeOutcome& got = point.outcomes[s];
      const auto what = [&](const char* claim) {
        return fmt::format("{}, position {}, {} on {} tokens, K = {}, {}", from.name(), i, schemes[s].name,
                           point.tokens, point.drafts, claim);
      };
      checks.at_most(got.distance, schemes[s].tolerance, tolerance, [&] { return what("TV"); });
      // Every verifier is lossless for its own output, whose optimum is within that TV.
      checks.at_most(got.acceptance, point.optimum + got.distance, tolerance, [&] { return what("acceptance"); });
      if (schemes[s].optimal)
        checks.at_most(point.optimum - 2 * schemes[s].tolerance, got.acceptance, tolerance,
                       [&] { return what("optimum"); });
    }
  }

  static void write(const Source& from, const std::vector<std::vector<TradePoint>>& at,
                    const std::vector<TradedScheme>& schemes, bool timings, Document& document) {
    nlohmann::ordered_json entry{{"source", from.name()},
                                 {"about", from.describe()},
                                 {"positions", at.size()},
                                 {"points", nlohmann::ordered_json::array()}};
    std::size_t ladder = schemes.size();
    for (std::size_t s = 0; s < schemes.size(); ++s)
      if (schemes[s].name == "ladder") ladder = s;
    for (const int drafts : trade_drafts) {
      Section section{
          .title = fmt::format("{}: K = {}", from.name(), drafts),
          .before = {fmt::format("  {}; share of the optimum in %, largest TV", counted(at.size(), "position"))}};
      section.table.columns = {{"scheme"}};
      for (const std::size_t tokens : trade_sizes)
        section.table.columns.push_back({fmt::format("n = {}", tokens), true});
      section.table.columns.push_back({"TV", true});
      if (timings)
        for (const std::size_t tokens : trade_sizes)
          section.table.columns.push_back({fmt::format("time, n = {}", tokens), true});
      for (std::size_t s = 0; s < schemes.size(); ++s) {
        std::vector<Cell> shares{{schemes[s].name}}, times;
        double furthest = 0;
        for (std::size_t j = 0; j < at.front().size(); ++j) {
          if (at.front()[j].drafts != drafts) continue;
          double optimum = 0, acceptance = 0, distance = 0, seconds = 0, unit = 0;
          for (const auto& all : at) {
            const TradeOutcome& got = all[j].outcomes[s];
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
        // Rounding differs between compilers and libraries.
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
