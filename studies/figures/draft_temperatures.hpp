// Drafts at their own temperatures against a target at temperature 1: the optimum, selection by a reduced alphabet,
// K-SEQ and recursive rejection, for K drafts of one temperature and for K drafts of temperatures spread over the
// range.
//
//   T        1.0 .. 2.4       temperature of a proposal: q_T = softmax(log q / T)
//   spread   T_1 .. T_K       evenly from 1.0 to 2.4, one draft of each; the optimum is bounded from both sides
//
// Source: the tables of Khisti et al., arXiv:2410.18234 (optimal, importance weighted, SpecTr, SpecInfer at
// temperatures 1.0 to 2.4). The sources here are other ones, so the shape of the tables is theirs and the figures are
// not. temperature_schemes.hpp maps their schemes to those here.
// Claimed: nothing is above the optimum; rejection <= K-SEQ for one proposal; a tournament of two drafts reaches the
// optimum.
#pragma once

#include <map>

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
    std::uint64_t total = 0;
    for (const Source& from : sources) total += positions_taken(from, options.effort);
    Meter meter(options, total);
    Checks checks;
    for (const Source& from : sources) {
      std::vector<std::vector<Setting>> at(positions_taken(from, options.effort));
      const auto done = for_each_position(options, at.size(), [&](std::size_t i) {
        at[i] = settings(from.pair(i), of_one, of_several);
        meter.add(1);
      });
      std::vector<std::vector<Setting>> finished;
      for (std::size_t i = 0; i < at.size(); ++i)
        if (done[i]) finished.push_back(std::move(at[i]));
      result.complete = result.complete && finished.size() == at.size();
      if (finished.empty()) continue;
      for (std::size_t i = 0; i < finished.size(); ++i)
        for (const Setting& setting : finished[i]) check(setting, from, i, checks);
      write(from, finished, result.document);
    }
    checks.report(result, "nothing above the optimum; K-SEQ >= rejection; a tournament of two reaches the optimum");
    return result;
  }

 private:
  struct Setting {
    double temperature;  ///< 0: spread over the range
    int drafts;
    OptimumBounds optimum;
    std::vector<std::string> names;
    std::vector<std::optional<double>> acceptance;

    std::string label() const { return temperature > 0 ? fmt::format("{:.1f}", temperature) : "spread"; }
    const std::optional<double>* of(std::string_view scheme) const {
      for (std::size_t s = 0; s < names.size(); ++s)
        if (names[s] == scheme) return &acceptance[s];
      return nullptr;
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

  static void check(const Setting& setting, const Source& from, std::size_t i, Checks& checks) {
    // A sum of V terms has an error of at most V 2^-53. Each round of rejection adds the errors of residual and mass,
    // so they double.
    const double tolerance =
        std::ldexp(static_cast<double>(from.vocabulary()) + setting.drafts, setting.drafts + 1 - 53);
    // A flow over V (V + 1) / 2 pairs falls short by less than 2^-52 per set and per token (docs/plans.md).
    const auto v = static_cast<double>(from.vocabulary());
    const double flow = (v * (v + 1) / 2 + v) * 0x1p-52;
    const auto what = [&](std::string_view scheme) {
      return fmt::format("{}, position {}, T = {}, K = {}, {}", from.name(), i, setting.label(), setting.drafts,
                         scheme);
    };
    for (std::size_t s = 0; s < setting.names.size(); ++s)
      if (setting.acceptance[s])
        checks.at_most(*setting.acceptance[s], setting.optimum.upper, tolerance,
                       [&] { return what(setting.names[s]); });
    if (setting.temperature > 0)
      checks.at_most(setting.of("rejection")->value(), setting.of("K-SEQ")->value(), tolerance,
                     [&] { return what("rejection above K-SEQ"); });
    else if (const auto* tournament = setting.of("tournament"); setting.drafts == 2 && *tournament)
      checks.at_most(setting.optimum.lower, tournament->value(), tolerance + flow,
                     [&] { return what("tournament"); });
  }

  static void write(const Source& from, const std::vector<std::vector<Setting>>& at, Document& document) {
    nlohmann::ordered_json entry{{"source", from.name()},
                                 {"about", from.describe()},
                                 {"positions", at.size()},
                                 {"settings", nlohmann::ordered_json::array()}};
    const auto header = [&](const char* what) { return fmt::format("{}: {}", from.name(), what); };
    const auto size = fmt::format("  V = {}, {}, means; the target is at temperature 1", grouped(from.vocabulary()),
                                  counted(at.size(), "position"));
    std::string alphabets = "  two step: optimised on the likeliest";
    for (const int drafts : numbers)
      alphabets += fmt::format("{} {}", drafts == numbers[0] ? "" : ",", alphabet_size(drafts));
    alphabets += " tokens; a tuple with a draft outside selects the first";
    Section one{.title = header("K drafts of one proposal at temperature T"),
                .before = {size},
                .table = {},
                .after = {alphabets}};
    Section several{.title = header("one draft of each of K temperatures from 1.0 to 2.4"),
                    .before = {size},
                    .table = {},
                    .after = {alphabets}};
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
        // Whether a scheme has a plan depends on V and K only.
        const bool known = first.acceptance[c].has_value();
        const double value = known ? mean([c](const Setting& x) { return *x.acceptance[c]; }) : 0;
        table.rows.back().push_back({known ? fmt::format("{:.4f}", value) : "-"});
        item["acceptance"][first.names[c]] = known ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
      }
      entry["settings"].push_back(std::move(item));
    }
    document.data["sources"].push_back(std::move(entry));
    document.sections.push_back(std::move(one));
    document.sections.push_back(std::move(several));
  }
};

}  // namespace draftproof::studies
