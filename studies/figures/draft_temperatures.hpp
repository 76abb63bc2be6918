// Drafts at their own temperatures against a target at temperature 1: the optimum, two-step selection, K-SEQ and
// recursive rejection, for K drafts of one temperature and for K drafts of temperatures spread over the
// range.
//
//   T        1.0 .. 2.4       temperature of a proposal: q_T = softmax(log q / T)
//   spread   T_1 .. T_K       evenly from 1.0 to 2.4, one draft of each; the optimum is bounded from both sides
//
// Source: the tables of Khisti et al., arXiv:2410.18234 (optimal, importance weighted, SpecTr, SpecInfer at
// temperatures 1.0 to 2.4). The sources here are other ones, so the shape of the tables is theirs and the figures are
// not. temperature_schemes.hpp maps their schemes to those here.
// Claimed: nothing is above the optimum. For one proposal rejection <= K-SEQ <= two step at every position, and more
// drafts accept no less. For several the means of two step are at least those of rejection in both orders and do not
// fall with K; single positions where they do are told, not refused. A tournament of two drafts whose tokens are all
// inside its flow reaches the optimum.
#pragma once

#include <algorithm>

#include <draftproof/optimum/iid_acceptance.hpp>
#include <draftproof/optimum/independent_bounds.hpp>
#include <draftproof/report/text.hpp>
#include <draftproof/studies/checks.hpp>
#include <draftproof/studies/positions.hpp>
#include <draftproof/studies/temperature_schemes.hpp>

namespace draftproof::studies {

struct DraftTemperatures {
  static constexpr std::string_view name = "draft_temperatures";
  static constexpr std::string_view about = "drafts hotter than the target: optimum, two step, K-SEQ and rejection";
  static constexpr std::string_view source = "Khisti et al., arXiv:2410.18234, tables over draft temperatures";

  static constexpr double temperatures[] = {1.0, 1.2, 1.4, 1.6, 1.8, 2.0, 2.2, 2.4};
  static constexpr int numbers[] = {2, 4, 8};

  /// Effort: positions of each source.
  static StudyResult run(const StudyOptions& options) {
    return compare(options, schemes_of_one_proposal(), schemes_of_several_proposals());
  }

  static StudyResult compare(const StudyOptions& options, const std::vector<TemperatureScheme>& of_one,
                             const std::vector<TemperatureScheme>& of_several) {
    const std::vector<Source> sources =
        open_sources(options, {"zipf:positions=8", "gaussian_logits:positions=8", "zipf:vocabulary=32,positions=8"});
    StudyResult result;
    result.document.data = {{"schema", "draftproof.study.draft_temperatures/1"}, {"seed", options.seed}};
    Meter meter(options, positions_taken(sources, options.effort));
    Checks checks;
    for (const Source& from : sources) {
      const std::size_t count = positions_taken(from, options.effort);
      const auto finished = finished_positions(
          options, count, meter, [&](std::size_t i) { return settings(from.pair(i), of_one, of_several); });
      result.complete = result.complete && finished.size() == count;
      if (finished.empty()) continue;
      for (std::size_t i = 0; i < finished.size(); ++i)
        for (const Setting& setting : finished[i]) check(setting, finished[i], from, i, checks);
      check_means(from, finished, checks);
      write(from, finished, result.document);
    }
    checks.report(result, "nothing above the optimum; two step >= K-SEQ >= rejection; more drafts never worse");
    return result;
  }

 private:
  struct Setting {
    double temperature;  ///< 0: spread over the range
    int drafts;
    OptimumBounds optimum;
    std::vector<std::string> names;
    std::vector<double> acceptance;

    std::string label() const { return temperature > 0 ? fmt::format("{:.1f}", temperature) : "spread"; }
    /// Throws: std::out_of_range for a scheme that was not asked.
    double of(std::string_view scheme) const {
      for (std::size_t s = 0; s < names.size(); ++s)
        if (names[s] == scheme) return acceptance[s];
      throw std::out_of_range("no scheme " + std::string(scheme));
    }
  };

  static Setting setting(double temperature, int drafts, const std::vector<double>& target,
                         const std::vector<std::vector<double>>& proposals,
                         const std::vector<TemperatureScheme>& schemes) {
    const RatioTable table(target, proposals);
    Setting made{.temperature = temperature, .drafts = drafts, .optimum = {}, .names = {}, .acceptance = {}};
    const double optimum = temperature > 0 ? iid_optimum(table, drafts).acceptance : 0;
    made.optimum = temperature > 0 ? OptimumBounds{optimum, optimum} : independent_bounds(table, drafts);
    for (const TemperatureScheme& scheme : schemes) {
      made.names.push_back(scheme.name);
      made.acceptance.push_back(scheme.acceptance(target, proposals, drafts));
    }
    return made;
  }

  static std::vector<Setting> settings(const RowPair& pair, const std::vector<TemperatureScheme>& of_one,
                                       const std::vector<TemperatureScheme>& of_several) {
    const auto at = [&pair](double t) { return filtered_law(pair.proposals.front(), {.temperature = t}); };
    std::vector<Setting> all;
    for (const double t : temperatures)
      for (const int drafts : numbers) all.push_back(setting(t, drafts, pair.target, {at(t)}, of_one));
    for (const int drafts : numbers) {
      std::vector<std::vector<double>> proposals;
      const double first = std::begin(temperatures)[0], last = std::end(temperatures)[-1];
      for (int k = 0; k < drafts; ++k) proposals.push_back(at(first + (last - first) * k / (drafts - 1)));
      all.push_back(setting(0, drafts, pair.target, proposals, of_several));
    }
    return all;
  }

  static double tolerance(const Source& from, int drafts) {
    // A sum of V terms has an error of at most V 2^-53. Each round of rejection adds the errors of residual and mass,
    // so they double. A flow over at most 1024 sets falls short by less than 2^-52 per set (docs/plans.md).
    return std::ldexp(static_cast<double>(from.vocabulary()) + drafts, drafts + 1 - 53) + 1024 * 0x1p-52;
  }

  /// `all`: the settings of the same position.
  static void check(const Setting& setting, const std::vector<Setting>& all, const Source& from, std::size_t i,
                    Checks& checks) {
    const double within = tolerance(from, setting.drafts);
    const auto what = [&](std::string_view scheme) {
      return fmt::format("{}, position {}, T = {}, K = {}, {}", from.name(), i, setting.label(), setting.drafts,
                         scheme);
    };
    for (std::size_t s = 0; s < setting.names.size(); ++s)
      checks.at_most(setting.acceptance[s], setting.optimum.upper, within, [&] { return what(setting.names[s]); });
    if (setting.temperature > 0) {
      checks.at_most(setting.of("rejection"), setting.of("K-SEQ"), within,
                     [&] { return what("rejection above K-SEQ"); });
      checks.at_most(setting.of("K-SEQ"), setting.of("two step"), within,
                     [&] { return what("K-SEQ above two step"); });
      for (const Setting& other : all)
        if (other.temperature == setting.temperature && other.drafts < setting.drafts)
          checks.at_most(other.of("two step"), setting.of("two step"), within,
                         [&] { return what("two step below that of fewer drafts"); });
    } else if (setting.drafts == 2 && from.vocabulary() <= verifiers::Tournament{}.inside) {
      checks.at_most(setting.optimum.lower, setting.of("tournament"), within, [&] { return what("tournament"); });
    }
  }

  static double mean(const std::vector<std::vector<Setting>>& at, std::size_t s, std::string_view scheme) {
    double sum = 0;
    for (const auto& settings : at) sum += settings[s].of(scheme);
    return sum / static_cast<double>(at.size());
  }

  /// Positions of a setting where two step accepts less than rejection in the better order.
  struct Below {
    std::size_t positions = 0, worst = 0;  ///< their number; the one with the greatest difference
    double by = 0, optimum = 0;            ///< that difference, and the optimum there
  };
  static Below below_rejection(const std::vector<std::vector<Setting>>& at, std::size_t s) {
    Below below;
    for (std::size_t i = 0; i < at.size(); ++i) {
      const Setting& setting = at[i][s];
      const double rejection = std::max(setting.of("rejection"), setting.of("rejection, last first"));
      const double by = rejection - setting.of("two step");
      if (!(by > 1e-12)) continue;  // far above rounding, far below what the table prints
      ++below.positions;
      if (by > below.by) below = {below.positions, i, by, setting.optimum.upper};
    }
    return below;
  }

  static void check_means(const Source& from, const std::vector<std::vector<Setting>>& at, Checks& checks) {
    double fewer = 0;
    for (std::size_t s = 0; s < at.front().size(); ++s) {
      const Setting& setting = at.front()[s];
      if (setting.temperature > 0) continue;
      const auto what = [&](std::string_view scheme) {
        return fmt::format("{}, means, T = spread, K = {}, {}", from.name(), setting.drafts, scheme);
      };
      const double two_step = mean(at, s, "two step"), within = tolerance(from, setting.drafts);
      for (const char* rejection : {"rejection", "rejection, last first"})
        checks.at_most(mean(at, s, rejection), two_step, within,
                       [&] { return what(fmt::format("{} above two step", rejection)); });
      checks.at_most(fewer, two_step, within, [&] { return what("two step below that of fewer drafts"); });
      fewer = two_step;
    }
  }

  static void write(const Source& from, const std::vector<std::vector<Setting>>& at, Document& document) {
    nlohmann::ordered_json entry{{"source", from.name()},
                                 {"about", from.describe()},
                                 {"positions", at.size()},
                                 {"settings", nlohmann::ordered_json::array()}};
    const auto header = [&](const char* what) { return fmt::format("{}: {}", from.name(), what); };
    const auto size = fmt::format("  V = {}, {}, means; the target is at temperature 1", grouped(from.vocabulary()),
                                  counted(at.size(), "position"));
    Section one{.title = header("K drafts of one proposal at temperature T"), .before = {size}, .table = {}};
    Section several{
        .title = header("one draft of each of K temperatures from 1.0 to 2.4"), .before = {size}, .table = {}};
    for (std::size_t s = 0; s < at.front().size(); ++s) {
      const Setting& first = at.front()[s];
      const auto mean = [&](auto value) {
        double sum = 0;
        for (const auto& settings : at) sum += value(settings[s]);
        return sum / static_cast<double>(at.size());
      };
      const double lower = mean([](const Setting& x) { return x.optimum.lower; });
      const double upper = mean([](const Setting& x) { return x.optimum.upper; });
      Table& table = (first.temperature > 0 ? one : several).table;
      if (table.columns.empty()) {
        table.columns = {{"T"}, {"K", true}, {"optimum", true}};
        for (const std::string& scheme : first.names) table.columns.push_back({scheme, true});
      }
      table.rows.push_back(
          {{first.label()},
           {std::to_string(first.drafts)},
           // Half a unit of the last printed digit.
           {upper - lower <= 5e-5 ? fmt::format("{:.4f}", upper) : fmt::format("{:.4f} .. {:.4f}", lower, upper)}});
      nlohmann::ordered_json item{{"temperature", first.label()},
                                  {"drafts", first.drafts},
                                  {"optimum", {{"lower", lower}, {"upper", upper}}}};
      for (std::size_t c = 0; c < first.names.size(); ++c) {
        const double value = mean([c](const Setting& x) { return x.acceptance[c]; });
        table.rows.back().push_back({fmt::format("{:.4f}", value)});
        item["acceptance"][first.names[c]] = value;
      }
      if (first.temperature == 0) {
        const Below below = below_rejection(at, s);
        item["below_rejection"] = {{"positions", below.positions}, {"by", below.by}};
        if (below.positions > 0) {
          item["below_rejection"]["worst"] = {{"position", below.worst}, {"optimum", below.optimum}};
          several.before.push_back(fmt::format(
              "  K = {}: at {} two step is below rejection in the better order, by {:.1e} at most, at position {}, "
              "where the optimum is {:.5f}",
              first.drafts, counted(below.positions, "position"), below.by, below.worst, below.optimum));
        }
      }
      entry["settings"].push_back(std::move(item));
    }
    document.data["sources"].push_back(std::move(entry));
    document.sections.push_back(std::move(one));
    document.sections.push_back(std::move(several));
  }
};

}  // namespace draftproof::studies
