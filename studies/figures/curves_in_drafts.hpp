// Acceptance by the number of i.i.d. drafts, for four pairs of target and proposal: the optimum, K-SEQ at its root,
// recursive rejection, the naive tree, and sample and match.
//
//   K       drafts     1, 2, 4, .. up to `effort`, 8 by default
//   zipf    -          weight of token i, counted from 1, proportional to i^-s
//
// Cost: microseconds per cell.
// Source: the reference values at K = 1, 2, 4, 8 were enumerated independently, to six digits.
// Holds if all values agree and the schemes keep their order (docs/findings/order-of-schemes.md).
#pragma once

#include <cmath>

#include <fmt/format.h>

#include <draftproof/captures/input_error.hpp>
#include <draftproof/optimum/iid_acceptance.hpp>
#include <draftproof/studies/reference.hpp>
#include <draftproof/studies/study.hpp>

namespace draftproof::studies {

struct CurvesInDrafts {
  static constexpr std::string_view name = "curves_in_drafts";
  static constexpr std::string_view about = "K = 1, 2, 4, 8 i.i.d. drafts: acceptance of each scheme and the optimum";
  static constexpr std::string_view source = "enumerated independently of this program";

  static constexpr std::size_t schemes = 5;
  static constexpr std::string_view names[schemes] = {"optimum", "k_seq", "recursive_rejection", "naive_tree",
                                                      "sample_and_match"};
  /// Columns of the reference, in the order of `names`; the naive tree has none.
  using Values = std::vector<Reference>;
  struct Pair {
    std::string_view title;
    std::vector<double> p, q;
    Values reference[schemes];
  };

  static StudyResult run(const StudyOptions& options) {
    const int most = drafts_of(options);
    StudyResult result;
    auto& data = result.document.data = {{"schema", "draftproof.study.curves_in_drafts/1"}, {"most_drafts", most}};
    for (const Pair& pair : pairs()) {
      Section section{.title = std::string(pair.title), .table = {{{"K", true}}, {}}};
      for (const auto scheme : names) section.table.columns.push_back({std::string(scheme), true});
      section.table.columns.push_back({"reference"});
      std::size_t i = 0;
      for (int drafts = 1; drafts <= most; drafts *= 2, ++i) {
        if (options.stopped()) {
          result.complete = false;
          break;
        }
        const auto found = values(pair, drafts);
        // K multiplications and V additions of numbers at most 1, on either side.
        const double rounding = 2 * (drafts + static_cast<double>(pair.p.size())) * 0x1p-53;
        bool ordered = true, agrees = true;
        nlohmann::ordered_json row{{"pair", pair.title}, {"drafts", drafts}};
        std::vector<Cell> cells{{std::to_string(drafts)}};
        for (std::size_t s = 0; s < schemes; ++s) {
          ordered = ordered && (s == 0 || found[s] <= found[s - 1] + rounding);
          const bool same = i >= pair.reference[s].size() || pair.reference[s][i].agrees(found[s], rounding);
          agrees = agrees && same;
          row[std::string(names[s])] = found[s];
          cells.push_back({fmt::format("{:.6f}", found[s]), same ? Tone::plain : Tone::bad});
        }
        const bool compared = i < pair.reference[0].size();
        cells.push_back({!ordered ? "order broken" : (!agrees ? "differs" : (compared ? "agrees" : "")),
                         ordered && agrees ? Tone::plain : Tone::bad});
        row["reference"] = compared;
        row["held"] = ordered && agrees;
        result.held = result.held && ordered && agrees;
        section.table.rows.push_back(std::move(cells));
        data["points"].push_back(std::move(row));
      }
      result.document.sections.push_back(std::move(section));
    }
    data["held"] = result.held;
    return result;
  }

 private:
  static int drafts_of(const StudyOptions& options) {
    constexpr std::uint64_t most = 1024;
    if (options.effort > most)
      throw InputError({.file = "--effort",
                        .found = std::to_string(options.effort),
                        .wanted = fmt::format("at most {} drafts", most)});
    return options.effort > 0 ? static_cast<int>(options.effort) : 8;
  }

  static std::vector<double> values(const Pair& pair, int drafts) {
    return {iid_optimum(RatioTable(pair.p, pair.q), drafts).acceptance, acceptance::k_seq(pair.p, pair.q, drafts),
            acceptance::recursive_rejection(pair.p, pair.q, drafts), acceptance::naive_tree(pair.p, pair.q, drafts),
            acceptance::sample_and_match(pair.p, pair.q, drafts)};
  }

  static std::vector<double> zipf(int vocabulary, double exponent) {
    std::vector<double> row;
    double sum = 0;
    for (int i = 1; i <= vocabulary; ++i) sum += row.emplace_back(std::pow(i, -exponent));
    for (double& weight : row) weight /= sum;
    return row;
  }

  static std::vector<Pair> pairs() {
    return {{"target (1/4, 3/4), proposal (3/4, 1/4)",
             {.25, .75},
             {.75, .25},
             {{{"0.500000"}, {"0.687500"}, {"0.933594"}, {"1.000000"}},
              {{"0.500000"}, {"0.648268"}, {"0.829887"}, {"0.962963"}},
              {{"0.500000"}, {"0.625000"}, {"0.789062"}, {"0.933258"}},
              {},
              {{"0.375000"}, {"0.562500"}, {"0.761719"}, {"0.924911"}}}},
            {"target uniform(16), proposal zipf(16, s = 1)",
             zipf(16, 0),
             zipf(16, 1),
             {{{"0.633762"}, {"0.849285"}, {"1.000000"}, {"1.000000"}},
              {{"0.633762"}, {"0.779562"}, {"0.898896"}, {"0.971754"}},
              {{"0.633762"}, {"0.751131"}, {"0.853170"}, {"0.926064"}},
              {},
              {{"0.062500"}, {"0.116336"}, {"0.205265"}, {"0.337006"}}}},
            {"target zipf(16, s = 1), proposal uniform(16)",
             zipf(16, 1),
             zipf(16, 0),
             {{{"0.633762"}, {"0.790684"}, {"0.931730"}, {"1.000000"}},
              {{"0.633762"}, {"0.740690"}, {"0.841392"}, {"0.917945"}},
              {{"0.633762"}, {"0.713880"}, {"0.792497"}, {"0.865512"}},
              {},
              {{"0.062500"}, {"0.121094"}, {"0.227524"}, {"0.403281"}}}},
            {"target zipf(100, s = 1.2), proposal zipf(100, s = 0.8)",
             zipf(100, 1.2),
             zipf(100, .8),
             {{{"0.749676"}, {"0.951272"}, {"1.000000"}, {"1.000000"}},
              {{"0.749676"}, {"0.862626"}, {"0.946571"}, {"0.991929"}},
              {{"0.749676"}, {"0.831318"}, {"0.900582"}, {"0.949547"}},
              {},
              {{"0.055785"}, {"0.106340"}, {"0.193995"}, {"0.327788"}}}}};
  }
};

}  // namespace draftproof::studies
