// Compares draft samplings: the optimum of the drafts of each sampling, and the gap of the verifiers written for it.
// Optima and closed forms are exact at every position; other acceptances are simulated with equally many tuples at
// each position, so that the confidence interval of the total count is also an interval of the mean over positions
// (properties/statistics/sample_size.hpp).
//
//   optimum      the optimum of the sampling at K drafts, mean over positions
//   acceptance   probability that the emitted token is among the drafts
//   gap          optimum - acceptance
//   value[i]     optimum, or acceptance by a closed form, at position i
//   tally[i]     tuples simulated at position i
//
// Source: Hu et al., arXiv:2502.18779, who compare the optima of i.i.d., without-replacement and greedy drafts; the
// other samplings and the gaps of verifiers are added here.
// Claimed: no verifier is above the optimum of its sampling; and alpha*(i.i.d.) <= alpha*(without replacement),
// because the probability that all drafts lie in a given set of tokens is smaller for distinct drafts.
#pragma once

#include <span>

#include <draftproof/bench/studies/positions.hpp>
#include <draftproof/optimum/iid_acceptance.hpp>
#include <draftproof/properties/simulation/sampling_optimum.hpp>
#include <draftproof/properties/simulation/simulation.hpp>
#include <draftproof/properties/statistics/sample_size.hpp>
#include <draftproof/sim/random/philox.hpp>

namespace draftproof::studies {

struct DraftSamplings {
  static constexpr std::string_view name = "draft_samplings";
  static constexpr std::string_view about =
      "the optimum of each draft sampling, and the gaps of the verifiers for it";
  static constexpr std::string_view source = "Hu et al., arXiv:2502.18779";

  static constexpr std::string_view samplings[] = {"iid", "without_replacement", "greedy",
                                                   "hub", "fixed_top_k",         "tail_draw"};
  static constexpr int numbers[] = {2, 4, 8, 16, 32};  ///< numbers of drafts at which optima are computed
  static constexpr int for_verifiers[] = {2, 4, 8};    ///< numbers of drafts at which verifiers are simulated

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
        {"schema", "draftproof.study.draft_samplings/1"}, {"seed", options.seed}, {"tuples_per_row", tuples}};
    std::vector<std::vector<Row>> rows;
    std::uint64_t total = 0, intervals = 0;
    for (const Source& from : sources)
      for (const Row& row : rows.emplace_back(rows_of(from, verifiers)))
        if (row.simulated()) {
          ++intervals;
          total += per_position(from, tuples) * from.positions();
        }
    Meter meter(options, total);
    Checks checks;
    for (std::size_t s = 0; s < sources.size(); ++s) {
      const Comparison comparison(sources[s], rows[s], per_position(sources[s], tuples), options, meter);
      result.complete = result.complete && comparison.at.size() == sources[s].positions();
      if (comparison.at.empty()) continue;
      // The false-alarm probability is at most 1e-9 for all intervals of the study together.
      check(comparison, 1e-9 / static_cast<double>(intervals), checks);
      write(comparison, result.document);
    }
    checks.report(result,
                  "no verifier above the optimum of its sampling; i.i.d. <= without replacement at each position");
    return result;
  }

 private:
  /// One sampling at one number of drafts: its optimum, or the acceptance of one verifier.
  struct Row {
    const AnyDrafter* sampling;
    const AnyVerifier* verifier;  ///< null: the optimum
    int drafts;
    double (*closed)(const std::vector<double>&, const std::vector<double>&, int) = nullptr;

    bool simulated() const { return verifier && !closed; }
    std::string_view sampling_name() const { return sampling->info().name; }
  };

  /// Returns rows for the optimum of each sampling, and for every verifier of that sampling. A verifier that supports
  /// any sampling is run with i.i.d. and with fixed drafts only.
  static std::vector<Row> rows_of(const Source& from, const std::vector<const AnyVerifier*>& verifiers) {
    std::vector<Row> rows;
    for (const std::string_view sampling_name : samplings) {
      const AnyDrafter* sampling = registry().drafter(sampling_name);
      const auto proposals = static_cast<int>(from.proposal_names().size());
      const auto add = [&](const AnyVerifier* verifier, int drafts) {
        if (sampling->defined(static_cast<int>(from.vocabulary()), drafts, proposals))
          rows.push_back(
              {sampling, verifier, drafts, verifier ? closed_form(*sampling, verifier->info().name) : nullptr});
      };
      for (const int drafts : numbers) add(nullptr, drafts);
      for (const AnyVerifier* verifier : verifiers)
        for (const int drafts : for_verifiers)
          if (written_for(*verifier, *sampling) && verifier->takes(drafts)) add(verifier, drafts);
    }
    return rows;
  }
  static bool written_for(const AnyVerifier& verifier, const AnyDrafter& sampling) {
    const Info& info = verifier.info();
    if (!info.unsupported.simulate.empty()) return false;
    return info.drafts.any() ? sampling.info().shared_proposal_iid || sampling.info().fixed
                             : info.drafts.includes(sampling.info().name);
  }
  static decltype(Row::closed) closed_form(const AnyDrafter& sampling, std::string_view verifier) {
    if (!sampling.info().shared_proposal_iid) return nullptr;
    if (verifier == "recursive_rejection") return &acceptance::recursive_rejection<double>;
    if (verifier == "naive_tree") return &acceptance::naive_tree<double>;
    if (verifier == "sample_and_match") return &acceptance::sample_and_match<double>;
    if (verifier == "k_seq") return &acceptance::k_seq;
    return nullptr;
  }

  /// Returns the number of tuples of each simulated row at each position.
  static std::uint64_t per_position(const Source& from, std::uint64_t tuples) {
    return (tuples + from.positions() - 1) / std::max<std::uint64_t>(from.positions(), 1);
  }

  /// The rows of a source, with their values or counts at the positions that finished.
  struct Comparison {
    struct Found {
      double value = 0;
      Tally tally{};
    };
    const Source& from;
    const std::vector<Row>& rows;
    std::vector<std::vector<Found>> at{};  ///< by position, by row

    Comparison(const Source& of_source, const std::vector<Row>& of, std::uint64_t of_row, const StudyOptions& options,
               Meter& meter)
        : from{of_source}, rows{of} {
      std::vector<std::vector<Found>> all(from.positions(), std::vector<Found>(rows.size()));
      const auto done = for_each_position(options, all.size(), [&](std::size_t i) {
        const RowPair pair = from.pair(i);
        const RatioTable table(pair.target, pair.proposals);
        for (std::size_t r = 0; r < rows.size() && !options.stopped(); ++r) {
          const Row& row = rows[r];
          if (row.simulated())
            all[i][r].tally = simulated(row, table, i, of_row, options, meter);
          else if (row.closed)
            all[i][r].value = row.closed(pair.target, pair.proposals.front(), row.drafts);
          else
            all[i][r].value = optimum_of(*row.sampling, table, row.drafts).value();
        }
      });
      for (std::size_t i = 0; i < all.size(); ++i)
        if (done[i]) at.push_back(std::move(all[i]));
    }

    std::size_t place(const Row& row) const { return static_cast<std::size_t>(&row - rows.data()); }
    /// Returns the counts of a simulated row over all positions.
    Tally total(const Row& row) const {
      Tally sum;
      for (const auto& found : at) sum += found[place(row)].tally;
      return sum;
    }
    double mean(const Row& row) const {
      if (!row.simulated()) return mean_over(at, [&](const auto& found) { return found[place(row)].value; });
      const Tally sum = total(row);
      return static_cast<double>(sum.draft_emitted) / static_cast<double>(sum.trials);
    }
    double gap(const Row& row) const { return mean(*find(row.sampling_name(), nullptr, row.drafts)) - mean(row); }
    Interval interval(const Row& row, double alpha) const {
      const Tally sum = total(row);
      return clopper_pearson(sum.draft_emitted, sum.trials, alpha);
    }
    /// Returns the row of this verifier, or of the optimum if `verifier` is null; null if there is no such row.
    const Row* find(std::string_view sampling, const AnyVerifier* verifier, int drafts) const {
      for (const Row& row : rows)
        if (row.sampling_name() == sampling && row.verifier == verifier && row.drafts == drafts) return &row;
      return nullptr;
    }
  };

  static Tally simulated(const Row& row, const RatioTable& table, std::size_t i, std::uint64_t tuples,
                         const StudyOptions& options, Meter& meter) {
    std::uint64_t counted = 0;
    const auto tell = [&](std::uint64_t now) {
      meter.add(now - counted);
      counted = now;
    };
    return simulate(Simulation{*row.verifier, *row.sampling, row.drafts, options.seed, first_trial(i)}, table,
                    {.trials = tuples, .threads = 1, .stop = options.stop, .progress = tell});
  }

  static void check(const Comparison& comparison, double alpha, Checks& checks) {
    for (const Row& row : comparison.rows) {
      const auto what = [&] {
        return fmt::format("{}, {}, {} of {} drafts", comparison.from.name(), row.sampling_name(),
                           row.verifier ? row.verifier->info().name : "optimum", row.drafts);
      };
      // Closed forms and optima are K + 1 sums of V terms in double, each with an error of at most (V + K) 2^-53; the
      // error of one sum shifts the next by at most as much.
      const double tolerance =
          (row.drafts + 1.0) * (static_cast<double>(comparison.from.vocabulary()) + row.drafts) * 0x1p-53;
      const Row* limit =
          comparison.find(row.verifier ? row.sampling_name() : "without_replacement", nullptr, row.drafts);
      if (row.simulated()) {
        checks.at_most(comparison.interval(row, alpha).low, comparison.mean(*limit), tolerance, what);
      } else if (row.verifier || row.sampling_name() == "iid") {
        for (std::size_t i = 0; i < comparison.at.size(); ++i)
          checks.at_most(comparison.at[i][comparison.place(row)].value,
                         comparison.at[i][comparison.place(*limit)].value, tolerance,
                         [&] { return fmt::format("{}, position {}", what(), i); });
      }
    }
  }

  static void write(const Comparison& comparison, Document& document) {
    const Source& from = comparison.from;
    nlohmann::ordered_json entry = entry_of(from, comparison.at.size());
    for (const char* key : {"optimum", "verifiers"}) entry[key] = nlohmann::ordered_json::array();
    for (const Row& row : comparison.rows) {
      nlohmann::ordered_json item{{"draft_sampling", row.sampling_name()}, {"drafts", row.drafts}};
      if (!row.verifier) {
        item["mean"] = comparison.mean(row);
        entry["optimum"].push_back(std::move(item));
        continue;
      }
      item["verifier"] = row.verifier->info().name;
      item["acceptance"] = comparison.mean(row);
      item["gap"] = comparison.gap(row);
      if (row.simulated()) {
        const Interval interval = comparison.interval(row, 0.05);
        item.update({{"low", interval.low}, {"high", interval.high}, {"tuples", comparison.total(row).trials}});
      }
      entry["verifiers"].push_back(std::move(item));
    }
    document.data["sources"].push_back(std::move(entry));

    Records optima{{.title = from.name() + ": optimum of each draft sampling",
                    .before = {size_line(from, comparison.at.size())}}};
    for (const std::string_view sampling : samplings) {
      std::vector<Field> cells{note("draft sampling", sampling)};
      for (const int drafts : numbers) {
        const Row* row = comparison.find(sampling, nullptr, drafts);
        cells.push_back(
            cell(fmt::format("K = {}", drafts), row ? fmt::format("{:.6f}", comparison.mean(*row)) : "-"));
      }
      optima.add(cells);
    }
    Records gaps{
        {.title = from.name() + ": what each verifier leaves of it",
         .after = {"  ± where simulated: half of a 95 % Clopper-Pearson interval; without it a closed form"}}};
    const Row* before = nullptr;
    for (const Row& row : comparison.rows) {
      if (!row.verifier || (before && before->sampling == row.sampling && before->verifier == row.verifier)) continue;
      before = &row;
      std::vector<Field> cells{note("draft sampling", row.sampling_name()),
                               note("verifier", row.verifier->info().name)};
      for (const int drafts : for_verifiers) {
        const Row* at = comparison.find(row.sampling_name(), row.verifier, drafts);
        cells.push_back(cell(fmt::format("gap, K = {}", drafts), at ? gap_text(comparison, *at) : "-"));
      }
      gaps.add(cells);
    }
    document.sections.push_back(std::move(optima.section));
    document.sections.push_back(std::move(gaps.section));
  }

  static std::string gap_text(const Comparison& comparison, const Row& row) {
    const std::string text = fmt::format("{:.4f}", comparison.gap(row));
    if (!row.simulated()) return text;
    const Interval interval = comparison.interval(row, 0.05);
    return fmt::format("{} ±{:.4f}", text, (interval.high - interval.low) / 2);
  }
};

}  // namespace draftproof::studies
