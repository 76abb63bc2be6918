// The acceptance that the ladder loses on fresh rows, where its bins are buckets of p / q: the difference from the
// optimum, with buckets served whole and with G = P - M at the buckets' own ratios, and the number of bins and breaks
// in the sweep.
//
//   lost       sum of min(p, p_I) below the optimum of K i.i.d. drafts, in units of 1e-6
//   plain      the same if G follows the buckets' own ratios
//   bins       buckets that hold q-mass
//   breaks     bins that leave at a level between 0 and 1
//
// Cost: a table and two plans for each position and K; seconds at V = 128,256.
// Source: ours (docs/ladder.md).
// Claimed: nothing is above the optimum, and whole buckets lose at most what half a bucket's width is worth.
#pragma once

#include <draftproof/optimum/iid_acceptance.hpp>
#include <draftproof/report/text.hpp>
#include <draftproof/sim/distributions/streamed_rows.hpp>
#include <draftproof/studies/checks.hpp>
#include <draftproof/studies/positions.hpp>
#include <draftproof/verifiers/ladder.hpp>

namespace draftproof::studies {

struct LadderBuckets {
  static constexpr std::string_view name = "ladder_buckets";
  static constexpr std::string_view about =
      "acceptance that the ladder loses to buckets of p / q on fresh float rows";
  static constexpr std::string_view source = "docs/ladder.md";

  static constexpr int numbers[] = {2, 4, 8};

  /// Effort: positions of each source.
  static StudyResult run(const StudyOptions& options) {
    const std::vector<Source> sources =
        open_sources(options, {"gaussian_logits:vocabulary=128256,sigma=2.5,noise=1,positions=8",
                               "gaussian_logits:vocabulary=32000,sigma=2.5,noise=0.3,positions=8",
                               "zipf:vocabulary=32000,positions=8"});
    StudyResult result;
    result.document.data = {{"schema", "draftproof.study.ladder_buckets/1"}, {"seed", options.seed}};
    Meter meter(options, positions_taken(sources, options.effort));
    Checks checks;
    for (const Source& from : sources) {
      const std::size_t count = positions_taken(from, options.effort);
      const auto finished =
          finished_positions(options, count, meter, [&](std::size_t i) { return losses(from.pair(i)); });
      result.complete = result.complete && finished.size() == count;
      if (finished.empty()) continue;
      for (std::size_t i = 0; i < finished.size(); ++i)
        for (const Loss& loss : finished[i]) check(loss, from, i, checks);
      write(from, finished, result.document);
    }
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
    const auto what = [&](const char* how) {
      return fmt::format("{}, position {}, K = {}, {}", from.name(), i, loss.drafts, how);
    };
    // Rows of float differ from the table's by 2^-24 of each entry of p and q, and the optimum moves by at most K q.
    const double rounding = (1 + loss.drafts) * 0x1p-24;
    checks.at_most(-loss.whole, 0, rounding, [&] { return what("whole buckets above the optimum"); });
    checks.at_most(-loss.plain, 0, rounding, [&] { return what("own ratios above the optimum"); });
    // A bucket is at most 1/64 of its ratio wide; ratios within w of each other lose at most w / 4.
    checks.at_most(loss.whole, 1.0 / 256, rounding, [&] { return what("whole buckets"); });
  }

  static void write(const Source& from, const std::vector<std::vector<Loss>>& at, Document& document) {
    Section section{.title = from.name(),
                    .before = {fmt::format("  V = {}, {} of float32, means; losses in units of 1e-6",
                                           grouped(from.vocabulary()), counted(at.size(), "position"))},
                    .table = {}};
    section.table.columns = {{"K", true},     {"optimum", true}, {"G = P - M", true}, {"served whole", true},
                             {"worst", true}, {"bins", true},    {"breaks", true}};
    nlohmann::ordered_json entry{{"source", from.name()}, {"about", from.describe()}, {"positions", at.size()}};
    for (std::size_t k = 0; k < std::size(numbers); ++k) {
      const auto mean = [&](auto value) {
        double sum = 0;
        for (const auto& losses : at) sum += static_cast<double>(value(losses[k]));
        return sum / static_cast<double>(at.size());
      };
      double worst = 0;
      for (const auto& losses : at) worst = std::max(worst, losses[k].whole);
      const double optimum = mean([](const Loss& x) { return x.optimum; });
      const double plain = mean([](const Loss& x) { return x.plain; });
      const double whole = mean([](const Loss& x) { return x.whole; });
      const double bins = mean([](const Loss& x) { return x.bins; });
      const double breaks = mean([](const Loss& x) { return x.breaks; });
      section.table.rows.push_back({{std::to_string(numbers[k])},
                                    {fmt::format("{:.4f}", optimum)},
                                    {fmt::format("{:.1f}", plain * 1e6)},
                                    {fmt::format("{:.1f}", whole * 1e6)},
                                    {fmt::format("{:.1f}", worst * 1e6)},
                                    {fmt::format("{:.0f}", bins)},
                                    {fmt::format("{:.0f}", breaks)}});
      entry["losses"].push_back({{"drafts", numbers[k]},
                                 {"optimum", optimum},
                                 {"own_ratios", plain},
                                 {"served_whole", whole},
                                 {"worst", worst},
                                 {"bins", bins},
                                 {"breaks", breaks}});
    }
    document.data["sources"].push_back(std::move(entry));
    document.sections.push_back(std::move(section));
  }
};

}  // namespace draftproof::studies
