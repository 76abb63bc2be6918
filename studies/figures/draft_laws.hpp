// Compares draft laws: the optimum of the drafts of each law, and the gap of the verifiers written for it.
//
//   optimum      of the law at K drafts, mean over positions
//   acceptance   membership: the emitted token is among the drafts; closed forms and simulation (law_comparison.hpp)
//   gap          optimum - acceptance
//
// Source: Hu et al., arXiv:2502.18779, who compare the optima of i.i.d., without-replacement and greedy drafts; the
// other laws and the gaps of verifiers are added here.
// Claimed: no verifier is above the optimum of its law; and alpha*(i.i.d.) <= alpha*(without replacement), because a
// draft that avoids the earlier ones stays in a set less often.
#pragma once

#include <fmt/format.h>

#include <draftproof/report/text.hpp>
#include <draftproof/studies/checks.hpp>
#include <draftproof/studies/law_comparison.hpp>

namespace draftproof::studies {

struct DraftLaws {
  static constexpr std::string_view name = "draft_laws";
  static constexpr std::string_view about = "the optimum of each draft law, and the gaps of the verifiers for it";
  static constexpr std::string_view source = "Hu et al., arXiv:2502.18779";

  static constexpr std::string_view laws[] = {"iid", "without_replacement", "greedy",
                                              "hub", "fixed_top_k",         "tail_draw"};
  static constexpr int numbers[] = {2, 4, 8, 16, 32};  ///< of drafts, for the optima
  static constexpr std::size_t for_verifiers = 3;      ///< how many of them, for the verifiers

  /// Effort: tuples of each simulated row.
  static StudyResult run(const StudyOptions& options) {
    std::vector<const AnyVerifier*> verifiers;
    for (const auto& verifier : registry().verifiers())
      if (verifier->kind() == Kind::verifier) verifiers.push_back(verifier.get());
    return compare(options, verifiers);
  }

  static StudyResult compare(const StudyOptions& options, const std::vector<const AnyVerifier*>& verifiers) {
    const std::vector<Source> sources = open_sources(
        options, {"zipf:positions=8", "dirichlet:positions=8", "gaussian_logits:positions=8",
                  "zipf:vocabulary=32000,positions=4", "dirichlet:vocabulary=32000,concentration=0.01,positions=4",
                  "gaussian_logits:vocabulary=32000,positions=4"});
    const std::uint64_t tuples = options.effort > 0 ? options.effort : 1 << 18;
    StudyResult result;
    result.document.data = {
        {"schema", "draftproof.study.draft_laws/1"}, {"seed", options.seed}, {"tuples_per_row", tuples}};
    std::vector<LawComparison> comparisons;
    std::uint64_t total = 0, intervals = 0;
    for (const Source& from : sources) {
      comparisons.emplace_back(from, verifiers, laws, numbers, for_verifiers, tuples);
      total += comparisons.back().tuples();
      intervals += comparisons.back().intervals();
    }
    Meter meter(options, total);
    Checks checks;
    for (LawComparison& comparison : comparisons) {
      comparison.work(options, meter);
      result.complete = result.complete && comparison.positions() == comparison.source().positions();
      if (comparison.positions() == 0) continue;
      // A false alarm of at most 1e-9 for all intervals of the study together.
      check(comparison, 1e-9 / static_cast<double>(intervals), checks);
      write(comparison, result.document);
    }
    checks.report(result, "no verifier above the optimum of its law; i.i.d. <= without replacement at each position");
    return result;
  }

 private:
  /// Closed forms and optima are K + 1 sums of V terms in double, each with an error of at most (V + K) 2^-53; the
  /// error of one sum shifts the next by at most as much.
  static double rounding(const LawComparison& comparison, int drafts) {
    return (drafts + 1.0) * (static_cast<double>(comparison.source().vocabulary()) + drafts) * 0x1p-53;
  }

  static void check(const LawComparison& comparison, double alpha, Checks& checks) {
    for (const LawRow& row : comparison.rows()) {
      const std::string_view law = row.law->info().name;
      const auto what = [&] {
        return fmt::format("{}, {}, {} of {} drafts", comparison.source().name(), law,
                           row.verifier ? row.verifier->info().name : "optimum", row.drafts);
      };
      const double tolerance = rounding(comparison, row.drafts);
      const LawRow* limit = comparison.row(row.verifier ? law : "without_replacement", nullptr, row.drafts);
      if (row.simulated()) {
        checks.at_most(comparison.interval(row, alpha).low, comparison.mean(*limit), tolerance, what);
      } else if (row.verifier || law == "iid") {
        for (std::size_t i = 0; i < row.value.size(); ++i)
          if (comparison.done()[i])
            checks.at_most(row.value[i], limit->value[i], tolerance,
                           [&] { return fmt::format("{}, position {}", what(), i); });
      }
    }
  }

  static void write(const LawComparison& comparison, Document& document) {
    const Source& from = comparison.source();
    document.data["sources"].push_back({{"source", from.name()},
                                        {"about", from.describe()},
                                        {"positions", comparison.positions()},
                                        {"optimum", nlohmann::ordered_json::array()},
                                        {"verifiers", nlohmann::ordered_json::array()}});
    auto& entry = document.data["sources"].back();
    for (const LawRow& row : comparison.rows()) {
      nlohmann::ordered_json item{{"law", row.law->info().name}, {"drafts", row.drafts}};
      if (!row.verifier) {
        item["mean"] = comparison.mean(row);
        entry["optimum"].push_back(std::move(item));
        continue;
      }
      item["verifier"] = row.verifier->info().name;
      item["acceptance"] = comparison.mean(row);
      item["gap"] = gap(comparison, row);
      if (row.simulated()) {
        const Interval interval = comparison.interval(row, 0.05);
        item.update({{"low", interval.low}, {"high", interval.high}, {"tuples", comparison.total(row).trials}});
      }
      entry["verifiers"].push_back(std::move(item));
    }
    document.sections.push_back(optima(comparison));
    document.sections.push_back(gaps(comparison));
  }

  static double gap(const LawComparison& comparison, const LawRow& row) {
    return comparison.mean(*comparison.row(row.law->info().name, nullptr, row.drafts)) - comparison.mean(row);
  }

  static Section optima(const LawComparison& comparison) {
    const Source& from = comparison.source();
    Section section{.title = from.name() + ": optimum of each draft law",
                    .before = {fmt::format("  V = {}, {}", grouped(from.vocabulary()),
                                           counted(comparison.positions(), "position"))}};
    section.table.columns = {{"draft law"}};
    for (const int drafts : numbers) section.table.columns.push_back({fmt::format("K = {}", drafts), true});
    for (const std::string_view law : laws) {
      std::vector<Cell> cells{{std::string(law)}};
      for (const int drafts : numbers) {
        const LawRow* row = comparison.row(law, nullptr, drafts);
        cells.push_back({row ? fmt::format("{:.6f}", comparison.mean(*row)) : "-"});
      }
      section.table.rows.push_back(std::move(cells));
    }
    return section;
  }

  static Section gaps(const LawComparison& comparison) {
    Section section{.title = comparison.source().name() + ": what each verifier leaves of it"};
    section.table.columns = {{"draft law"}, {"verifier"}};
    for (const int drafts : std::span(numbers).first(for_verifiers))
      section.table.columns.push_back({fmt::format("gap, K = {}", drafts), true});
    const LawRow* before = nullptr;
    for (const LawRow& row : comparison.rows()) {
      if (!row.verifier || (before && before->law == row.law && before->verifier == row.verifier)) continue;
      before = &row;
      std::vector<Cell> cells{{std::string(row.law->info().name)}, {std::string(row.verifier->info().name)}};
      for (const int drafts : std::span(numbers).first(for_verifiers)) {
        const LawRow* at = comparison.row(row.law->info().name, row.verifier, drafts);
        cells.push_back({at ? gap_text(comparison, *at) : "-"});
      }
      section.table.rows.push_back(std::move(cells));
    }
    section.after = {"  ± where simulated: half of a 95 % Clopper-Pearson interval; without it a closed form"};
    return section;
  }

  static std::string gap_text(const LawComparison& comparison, const LawRow& row) {
    const std::string text = fmt::format("{:.4f}", gap(comparison, row));
    if (!row.simulated()) return text;
    const Interval interval = comparison.interval(row, 0.05);
    return fmt::format("{} ±{:.4f}", text, (interval.high - interval.low) / 2);
  }
};

}  // namespace draftproof::studies
