// `draftproof optimum`: the largest acceptance of any lossless verifier, and the acceptance of a single draft.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <draftproof/cli/register_command.hpp>
#include <draftproof/cli/report/text.hpp>
#include <draftproof/cli/select.hpp>
#include <draftproof/optimum/iid_acceptance.hpp>
#include <draftproof/properties/simulation/sampling_optimum.hpp>
#include <draftproof/sim/trials/for_each_index.hpp>

namespace draftproof::commands {

struct Optimum {
  static constexpr std::string_view name = "optimum";
  static constexpr std::string_view about =
      "computes the largest acceptance of any lossless verifier, per draft sampling and K";
  static constexpr std::string_view example = "optimum data/stories512_positions.npz -K 1,2,4";

  std::vector<std::string> specs;
  std::vector<int> drafts{1, 2, 4, 8};
  SourceChoice choice;

  void declare(CLI::App& app) {
    app.add_option("source", specs, source_help)->required();
    choice.declare(app);
    app.add_option("-K,--drafts", drafts, "numbers of drafts")
        ->delimiter(',')
        ->check(between(1, max_drafts))
        ->capture_default_str();
  }

  int run(const Session& session) const {
    Document document;
    document.data = {{"schema", "draftproof.optimum/2"}, {"seed", session.seed}};
    const std::vector<Source> sources = choice.open_whole(specs, session.seed);
    // Without drafters with shared noise, whose drafts have the distribution of a drafter without noise.
    std::vector<const AnyDrafter*> drafters;
    for (const auto& drafter : registry().drafters())
      if (!drafter->info().shared_noise()) drafters.push_back(drafter.get());
    std::size_t total = 0, counted = 0;
    for (const Source& source : sources) total += source.positions();
    std::optional<Progress> progress(std::in_place, "computing the optimum", total, session.quiet);
    const auto stopped = [] { return stop_requested().load(); };
    for (const Source& source : sources) {
      Sums sums;
      for (std::size_t first = 0; first < source.positions() && !stop_requested(); first += at_once) {
        std::vector<AtPosition> at(std::min(at_once, source.positions() - first));
        const auto done = for_each_index(at.size(), session.threads, stopped, [&](std::size_t i) {
          at[i] = at_position(source.pair(first + i), drafters);
#pragma omp critical(optimum_progress)
          progress->update(++counted);
        });
        for (std::size_t i = 0; i < at.size(); ++i)
          if (done[i]) sums.add(at[i]);
      }
      if (sums.positions > 0) add(source, sums, drafters, document);
    }
    progress.reset();  // clears its line before the result
    session.write(document);
    return stop_requested() ? exit_undecided : exit_passed;
  }

 private:
  static constexpr std::size_t at_once = 1024;  ///< positions whose values are in memory at the same time

  /// The optimum of one draft sampling and number of drafts at one position.
  struct Value {
    std::optional<double> optimum{};  ///< nullopt if no method is known
    std::optional<bool> certain{};    ///< whether it is exactly 1; nullopt if no method decides
  };
  struct AtPosition {
    double single = 0;            ///< acceptance of a single draft
    std::vector<Value> values{};  ///< for each draft sampling, for each number of drafts
  };
  /// Sums over positions.
  struct Sums {
    struct Values {
      double optimum = 0;
      std::size_t known = 0, certain = 0, decided = 0;  ///< numbers of positions
    };
    std::size_t positions = 0;
    double single = 0;
    std::vector<Values> values{};

    void add(const AtPosition& at) {
      ++positions;
      single += at.single;
      values.resize(at.values.size());
      for (std::size_t v = 0; v < values.size(); ++v) {
        values[v].optimum += at.values[v].optimum.value_or(0);
        values[v].known += at.values[v].optimum.has_value();
        values[v].certain += at.values[v].certain.value_or(false);
        values[v].decided += at.values[v].certain.has_value();
      }
    }
  };

  AtPosition at_position(const RowPair& pair, const std::vector<const AnyDrafter*>& drafters) const {
    const RatioTable table(pair.target, pair.proposals);
    AtPosition at{.single = 1 - table.residual_mass(1)};
    for (const AnyDrafter* drafter : drafters)
      for (const int k : drafts) {
        Value& value = at.values.emplace_back();
        if (!drafter->defined(table.vocabulary(), k, table.proposals())) continue;
        value.optimum = optimum_of(*drafter, table, k);
        // A value that is clearly below 1 need not be compared with 1 in exact integers.
        value.certain =
            value.optimum && *value.optimum < 1 - 1e-6 ? std::optional(false) : always_accepts(*drafter, table, k);
      }
    return at;
  }

  /// Adds the means over the positions of a source that were computed to the document.
  void add(const Source& source, const Sums& sums, const std::vector<const AnyDrafter*>& drafters,
           Document& document) const {
    const bool whole = sums.positions == source.positions();
    const auto positions = static_cast<double>(sums.positions);
    const double single = sums.single / positions;
    const std::string of = whole ? "" : fmt::format(" of {} (stopped early)", grouped(source.positions()));
    Section section{
        .title = source.name(),
        .before = {fmt::format("  {}{}, V = {}; one draft is accepted with probability {:.6f}",
                               counted(sums.positions, "position"), of, grouped(source.vocabulary()), single)}};
    section.table.columns = {{"draft sampling"}};
    for (const int k : drafts) section.table.columns.push_back({fmt::format("K = {}", k), true});
    nlohmann::ordered_json entry{{"source", source.name()}, {"about", source.describe()}, {"single_draft", single}};
    if (!whole) entry["positions"] = sums.positions;
    for (std::size_t d = 0, v = 0; d < drafters.size(); ++d) {
      std::vector<Cell> row{{std::string(drafters[d]->info().name)}};
      for (std::size_t k = 0; k < drafts.size(); ++k, ++v) {
        const Sums::Values& values = sums.values[v];
        if (values.known < sums.positions) {
          row.push_back({"-"});
          continue;
        }
        const bool decided = values.decided == sums.positions;
        const double mean = values.optimum / positions;
        row.push_back({decided && values.certain == sums.positions ? "1" : fmt::format("{:.6f}", mean)});
        nlohmann::ordered_json value{{"draft_sampling", drafters[d]->info().name},
                                     {"drafts", drafts[k]},
                                     {"mean", mean},
                                     {"exactly_one", nullptr}};
        if (decided) value["exactly_one"] = values.certain;
        entry["optimum"].push_back(std::move(value));
      }
      section.table.rows.push_back(std::move(row));
    }
    section.after = {"  means over positions; - where no method is known at this size",
                     "  1 without decimals: exactly 1 at every position, decided in integer arithmetic"};
    document.sections.push_back(std::move(section));
    document.data["sources"].push_back(std::move(entry));
  }
};

}  // namespace draftproof::commands
