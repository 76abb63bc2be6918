// `draftproof optimum`: the largest acceptance of any lossless verifier, and the acceptance of a single draft.
#pragma once

#include <fmt/format.h>

#include <draftproof/cli/register_command.hpp>
#include <draftproof/cli/report/text.hpp>
#include <draftproof/cli/select.hpp>
#include <draftproof/optimum/iid_acceptance.hpp>
#include <draftproof/properties/simulation/sampling_optimum.hpp>

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
    for (const Source& source : choice.open_whole(specs, session.seed)) {
      const auto positions = static_cast<double>(source.positions());
      // Without drafters with shared noise, whose drafts have the distribution of a drafter without noise.
      std::vector<const AnyDrafter*> drafters;
      for (const auto& drafter : registry().drafters())
        if (!drafter->info().shared_noise()) drafters.push_back(drafter.get());
      // Means of the optimum over positions, and whether a method computes it at every position.
      std::vector<std::vector<double>> mean(drafters.size(), std::vector<double>(drafts.size()));
      std::vector<std::vector<char>> known(drafters.size(), std::vector<char>(drafts.size(), 1));
      // Number of positions where the optimum is exactly 1, and whether this was decided at every position.
      std::vector<std::vector<std::size_t>> certain(drafters.size(), std::vector<std::size_t>(drafts.size()));
      auto decided = known;
      double single = 0;
      for (std::size_t i = 0; i < source.positions() && !stop_requested(); ++i) {
        const RowPair pair = source.pair(i);
        const RatioTable table(pair.target, pair.proposals);
        single += (1 - table.residual_mass(1)) / positions;
        for (std::size_t d = 0; d < drafters.size(); ++d)
          for (std::size_t k = 0; k < drafts.size(); ++k) {
            const bool defined = drafters[d]->defined(table.vocabulary(), drafts[k], table.proposals());
            const auto optimum = defined ? optimum_of(*drafters[d], table, drafts[k]) : std::nullopt;
            known[d][k] = known[d][k] && optimum.has_value();
            mean[d][k] += optimum.value_or(0) / positions;
            // A value that is clearly below 1 need not be compared with 1 in exact integers.
            const auto always = optimum && *optimum < 1 - 1e-6 ? std::optional(false)
                                : defined                      ? always_accepts(*drafters[d], table, drafts[k])
                                                               : std::nullopt;
            certain[d][k] += always.value_or(false);
            decided[d][k] = decided[d][k] && always.has_value();
          }
      }
      if (stop_requested()) break;  // this source is incomplete, so only the sources before it are reported
      Section section{
          .title = source.name(),
          .before = {fmt::format("  {}, V = {}; one draft is accepted with probability {:.6f}",
                                 counted(source.positions(), "position"), grouped(source.vocabulary()), single)}};
      section.table.columns = {{"draft sampling"}};
      for (const int k : drafts) section.table.columns.push_back({fmt::format("K = {}", k), true});
      nlohmann::ordered_json entry{{"source", source.name()}, {"about", source.describe()}, {"single_draft", single}};
      for (std::size_t d = 0; d < drafters.size(); ++d) {
        std::vector<Cell> row{{std::string(drafters[d]->info().name)}};
        for (std::size_t k = 0; k < drafts.size(); ++k) {
          const bool everywhere = decided[d][k] && certain[d][k] == source.positions();
          row.push_back({!known[d][k] ? "-" : everywhere ? "1" : fmt::format("{:.6f}", mean[d][k])});
          if (!known[d][k]) continue;
          nlohmann::ordered_json value{{"draft_sampling", drafters[d]->info().name},
                                       {"drafts", drafts[k]},
                                       {"mean", mean[d][k]},
                                       {"exactly_one", nullptr}};
          if (decided[d][k]) value["exactly_one"] = certain[d][k];
          entry["optimum"].push_back(std::move(value));
        }
        section.table.rows.push_back(std::move(row));
      }
      section.after = {"  means over positions; - where no method is known at this size",
                       "  1 without decimals: exactly 1 at every position, decided in integer arithmetic"};
      document.sections.push_back(std::move(section));
      document.data["sources"].push_back(std::move(entry));
    }
    session.write(document);
    return stop_requested() ? exit_undecided : exit_passed;
  }
};

}  // namespace draftproof::commands
