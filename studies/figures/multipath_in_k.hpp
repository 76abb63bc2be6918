// Accepted tokens by the number of i.i.d. paths: a small instance on which more paths hurt greedy multi-path block
// verification; and over random models, how often each scheme loses by one more path, how often it falls below one
// path, and its share of the optimum of all lossless verifiers.
//
//   K            paths           1 .. 4 on the instance, 1 .. 3 on random models; block at K = 1
//   one shot     LP              certified bounds of the optimum, properties/paths/tree_optimum.hpp
//   share        E[tau] / optimum, mean over models whose optimum is not 0
//
// Effort: random models of each of three sizes.
// Cost: 0.5 s a model.
// Source: Thomas and Pal, arXiv:2602.16961, for greedy multi-path block verification; reference values enumerated
// independently of this program.
// Holds if the reference values agree, if the schemes that claim it accept all three tokens of the instance, p = q,
// and if no scheme exceeds the optimum.
#pragma once

#include <algorithm>
#include <type_traits>

#include <fmt/format.h>

#include <draftproof/properties/paths/tree_optimum.hpp>
#include <draftproof/properties/prover/path_registry.hpp>
#include <draftproof/report/text.hpp>
#include <draftproof/studies/checks.hpp>
#include <draftproof/studies/path_models.hpp>
#include <draftproof/studies/positions.hpp>
#include <draftproof/studies/reference.hpp>

namespace draftproof::studies {

struct MultipathInK {
  static constexpr std::string_view name = "multipath_in_k";
  static constexpr std::string_view about = "more paths: which schemes gain, lose or fall below a single path";
  static constexpr std::string_view source = "Thomas and Pal, arXiv:2602.16961; enumerated independently";

  /// Schemes that are not registered are left out.
  static constexpr std::string_view schemes[] = {
      "sample_and_match_tree",  "recursive_rejection_tree", "k_seq_tree",  "ladder_tree", "traversal",
      "greedy_multipath_block", "branch_reentry",           "ladder_block"};
  static constexpr int most = 3;  ///< most paths on random models
  struct Size {
    int vocabulary, length;
  };
  static constexpr Size sizes[] = {{2, 2}, {3, 2}, {2, 3}};

  /// K-SEQ is a sum of at most 2^20 branches of at most 2^5 rounded factors in double: a relative error below 2^-32.
  /// Smaller differences count as none.
  static constexpr double rounding = 0x1p-30;

  static StudyResult run(const StudyOptions& options) {
    const std::uint64_t models = options.effort > 0 ? options.effort : 30;
    StudyResult result;
    result.document.data = {
        {"schema", "draftproof.study.multipath_in_k/1"}, {"seed", options.seed}, {"models_of_a_size", models}};
    Checks checks;
    add_instance(checks, result.document);
    Meter meter(options, models * std::size(sizes));
    for (const Size& size : sizes) {
      std::vector<Curves> curves(models);
      const auto done = for_each_position(options, curves.size(), [&](std::size_t i) {
        curves[i] = curves_of(random_path_weights(options.seed, i, size.vocabulary, size.length), size.length);
        meter.add(1);
      });
      if (std::find(done.begin(), done.end(), 0) != done.end()) {
        result.complete = false;
        break;
      }
      check(curves, size, checks);
      write(curves, size, result.document);
    }
    checks.report(result,
                  "reference values; equal laws are accepted whole by all but greedy choice and target walks; "
                  "no scheme above the optimum");
    return result;
  }

 private:
  static const AnyPathVerifier* found(std::string_view scheme) { return path_registry().verifier(scheme); }

  /// E[tau] of schemes by K, and the optimum.
  struct Curves {
    double accepted[std::size(schemes)][most] = {};
    double block = 0, optimum[most] = {};
  };

  template <class Weight>
  static double explored(const AnyPathVerifier& scheme, const std::vector<WeightPair>& weights,
                         const TreeShape& shape) {
    const auto model = path_model<Weight>(weights);
    const auto decider = [&] {
      if constexpr (std::is_same_v<Weight, double>)
        return scheme.explore_on(model, shape);
      else
        return scheme.prove_on(model, shape);
    }();
    return static_cast<double>(
        explore_step_law<Rows<Weight>>(*path_registry().drafter("iid_paths"), *decider, model, shape)
            .mean_accepted());
  }

  /// K-SEQ's factor is a root, which exact arithmetic rounds up to a short fraction, so it is explored in double; all
  /// other schemes are explored in fractions.
  static double accepted(std::string_view scheme, const std::vector<WeightPair>& weights, int drafts, int length) {
    const TreeShape shape{.drafts = drafts, .length = length};
    return scheme == "k_seq_tree" ? explored<double>(*found(scheme), weights, shape)
                                  : explored<Rational>(*found(scheme), weights, shape);
  }

  static void add_instance(Checks& checks, Document& document) {
    constexpr int length = 3, paths = 4;
    // All ratios are 1, so the tie rule matters: the rarer token is the one with the lower id.
    const std::vector<WeightPair> model{{{3, 7}, {3, 7}}};
    constexpr Reference references[paths] = {{"3.0"}, {"2.114"}, {"1.642"}, {"1.373"}};
    Section section{.title = "p = q = (3 7)/10, L = 3: nothing to refuse", .table = {{{"scheme"}}, {}}};
    for (int k = 1; k <= paths; ++k) section.table.columns.push_back({fmt::format("K = {}", k), true});
    section.table.columns.push_back({"reference"});
    for (const std::string_view scheme : schemes) {
      if (!found(scheme)) continue;
      const bool greedy = scheme == "greedy_multipath_block";
      const bool whole = found(scheme)->info().claims.accepts_equal_laws;
      std::vector<Cell> cells{{std::string(scheme)}};
      nlohmann::ordered_json data{{"scheme", scheme}};
      for (int k = 1; k <= paths; ++k) {
        const double value = accepted(scheme, model, k, length);
        const auto what = [&] { return fmt::format("p = q, {} at K = {}", scheme, k); };
        if (greedy) checks.at_most(references[k - 1].agrees(value, rounding) ? 0 : 1, 0, 0, what);
        if (whole) checks.at_most(length, value, rounding, what);
        cells.push_back({fmt::format("{:.4f}", value)});
        data["accepted"].push_back(value);
      }
      cells.push_back({greedy ? "3.0, 2.114, 1.642, 1.373" : whole ? "3 at any K" : ""});
      document.data["equal_laws"].push_back(std::move(data));
      section.table.rows.push_back(std::move(cells));
    }
    section.after = {"  greedy choice prefers a token though none is better, and pays with the law it then has"};
    document.sections.push_back(std::move(section));
  }

  static Curves curves_of(const std::vector<WeightPair>& weights, int length) {
    Curves curves;
    curves.block = accepted("block", weights, 1, length);
    for (int k = 1; k <= most; ++k) {
      const auto i = static_cast<std::size_t>(k - 1);
      for (std::size_t s = 0; s < std::size(schemes); ++s)
        if (found(schemes[s])) curves.accepted[s][i] = accepted(schemes[s], weights, k, length);
      const auto bounds = path_optimum_bounds(*path_registry().drafter("iid_paths"), path_model<Rational>(weights),
                                              {.drafts = k, .length = length});
      curves.optimum[i] = bounds->upper;
    }
    return curves;
  }

  static void check(const std::vector<Curves>& curves, const Size& size, Checks& checks) {
    for (std::size_t m = 0; m < curves.size(); ++m)
      for (std::size_t s = 0; s < std::size(schemes); ++s)
        for (std::size_t i = 0; i < most; ++i)
          checks.at_most(curves[m].accepted[s][i], curves[m].optimum[i], rounding, [&] {
            return fmt::format("V = {}, L = {}, model {}: {} at K = {} above the optimum", size.vocabulary,
                               size.length, m, schemes[s], i + 1);
          });
  }

  static void write(const std::vector<Curves>& curves, const Size& size, Document& document) {
    Section section{.title = fmt::format("random models, V = {}, L = {}", size.vocabulary, size.length),
                    .before = {"  " + counted(curves.size(), "model")}};
    section.table.columns = {{"scheme"}};
    for (int k = 2; k <= most; ++k) section.table.columns.push_back({fmt::format("share, K = {}", k), true});
    for (const std::string_view title : {"worst share", "optimal", "loses by a path", "below block"})
      section.table.columns.push_back({std::string(title), true});
    nlohmann::ordered_json data{
        {"vocabulary", size.vocabulary}, {"length", size.length}, {"schemes", nlohmann::ordered_json::array()}};
    const auto add = [&](std::string_view scheme, auto&& value) {
      const Summary summary = summarise(curves, value);
      std::vector<Cell> cells{{std::string(scheme)}};
      for (int k = 2; k <= most; ++k)
        cells.push_back({fmt::format("{:.4f}", summary.share[static_cast<std::size_t>(k - 1)])});
      cells.push_back({fmt::format("{:.4f}", summary.worst)});
      for (const std::uint64_t count : {summary.optimal, summary.loses, summary.below})
        cells.push_back({std::to_string(count)});
      section.table.rows.push_back(std::move(cells));
      data["schemes"].push_back({{"scheme", scheme},
                                 {"share", std::vector<double>(summary.share, summary.share + most)},
                                 {"worst_share", summary.worst},
                                 {"optimal", summary.optimal},
                                 {"loses_by_a_path", summary.loses},
                                 {"below_block", summary.below}});
    };
    add("block, one of the paths", [](const Curves& at, std::size_t) { return at.block; });
    for (std::size_t s = 0; s < std::size(schemes); ++s)
      if (found(schemes[s])) add(schemes[s], [s](const Curves& at, std::size_t i) { return at.accepted[s][i]; });
    section.after = {"  optimal: models with the whole optimum at K = 2; the last two: models for some K up to 3"};
    document.data["sizes"].push_back(std::move(data));
    document.sections.push_back(std::move(section));
  }

  struct Summary {
    double share[most] = {}, worst = 1;
    std::uint64_t optimal = 0, loses = 0, below = 0;
  };

  template <class Value>
  static Summary summarise(const std::vector<Curves>& curves, Value&& value) {
    Summary summary;
    for (std::size_t i = 0; i < most; ++i) {
      std::uint64_t counted_models = 0;
      for (const Curves& at : curves) {
        if (at.optimum[i] <= rounding) continue;
        const double share = std::min(1.0, value(at, i) / at.optimum[i]);
        summary.share[i] += share;
        if (i > 0) summary.worst = std::min(summary.worst, share);
        ++counted_models;
      }
      if (counted_models > 0) summary.share[i] /= static_cast<double>(counted_models);
    }
    for (const Curves& at : curves) {
      bool loses = false, below = false;
      for (std::size_t i = 1; i < most; ++i) {
        loses = loses || value(at, i) < value(at, i - 1) - rounding;
        below = below || value(at, i) < at.block - rounding;
      }
      summary.optimal += value(at, 1) >= at.optimum[1] - rounding;
      summary.loses += loses;
      summary.below += below;
    }
    return summary;
  }
};

}  // namespace draftproof::studies
