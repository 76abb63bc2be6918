// Verifiers of several paths on a live language model: new contexts, K i.i.d. paths of L tokens, all schemes on the
// same drafts, and their differences with standard errors; then the one scheme that carries state, over many
// iterations.
//
//   E[tau]        accepted tokens of a step, the extra token not counted
//   K L           a single path with as many tokens as K paths of L: as many rows of the target
//   difference    of two schemes on the same contexts, drafts and coins (studies/paired_paths.hpp), ± standard error
//   BE            emitted tokens per call of the target, over an episode of 32 iterations
//
// Without sources it reads the model in data/, relative to the repository's root. Effort: contexts of each draft;
// there are an eighth as many episodes.
// Cost: 0.1 s a context.
// Source: the ranking of arXiv:2602.16961, repeated on a live model with schemes it does not have.
// Holds if no step reached a branch of probability zero, and re-entering branches never made a step shorter: its
// first run is greedy multi-path block verification with the same coins.
#pragma once

#include <cmath>

#include <fmt/format.h>

#include <draftproof/captures/input_error.hpp>
#include <draftproof/properties/prover/path_registry.hpp>
#include <draftproof/properties/survey/path_simulation.hpp>
#include <draftproof/report/text.hpp>
#include <draftproof/studies/checks.hpp>
#include <draftproof/studies/paired_paths.hpp>

namespace draftproof::studies {

struct LivePaths {
  static constexpr std::string_view name = "live_paths";
  static constexpr std::string_view about =
      "verifiers of K paths on a live model, on the same conditionals and drafts";
  static constexpr std::string_view source = "Thomas and Pal, arXiv:2602.16961, on another model";

  /// Schemes that are not registered are left out.
  static constexpr std::string_view schemes[] = {
      "block",     "sample_and_match_tree",  "recursive_rejection_tree", "k_seq_tree",  "ladder_tree",
      "traversal", "greedy_multipath_block", "branch_reentry",           "ladder_block"};
  static constexpr std::string_view single[] = {"token_path", "block", "greedy_block"};
  static constexpr int numbers[] = {2, 3, 4, 8}, lengths[] = {4, 8};
  static constexpr std::uint64_t coins = 16;  ///< verifications of the same drafts
  static constexpr int iterations = 32;       ///< of an episode

  static StudyResult run(const StudyOptions& options) {
    const std::vector<std::string> own{"data/stories260k.bin:q4", "data/stories260k.bin:q3",
                                       "data/stories260k.bin:exit4"};
    const std::uint64_t conditionals = options.effort > 0 ? options.effort : 100;
    const std::uint64_t episodes = std::max<std::uint64_t>(conditionals / 8, 2);
    StudyResult result;
    result.document.data = {{"schema", "draftproof.study.live_paths/1"},
                            {"seed", options.seed},
                            {"conditionals", conditionals},
                            {"coins", coins},
                            {"episodes", episodes},
                            {"iterations", iterations}};
    std::vector<std::unique_ptr<PathSource>> sources;
    for (const std::string& spec : options.sources.empty() ? own : options.sources) {
      sources.push_back(PathSource::open(spec, {.seed = options.seed}));
      if (sources.back()->stored_trees())
        throw InputError({.file = spec, .found = "stored trees", .wanted = "a source that goes on without end"});
    }
    // An episode is about as long as a context of the first part.
    const std::uint64_t total = sources.size() * (conditionals + episodes * std::size(single) * std::size(lengths));
    std::uint64_t before = 0;
    Checks checks;
    for (const auto& from : sources) {
      const auto cells = plan();
      const PairedResult paired = compare_paths(*from, cells, conditionals, coins, options,
                                                [&](std::uint64_t done) { options.tell(before + done, total); });
      before += conditionals;
      result.complete = result.complete && paired.complete;
      if (!paired.complete) break;
      result.document.data["sources"].push_back(
          {{"source", from->name()}, {"about", from->describe()}, {"cells", {}}, {"episodes", {}}});
      for (const int length : lengths) write(*from, cells, paired, length, checks, result.document);
      if (!add_episodes(*from, episodes, options, before, total, result.document)) {
        result.complete = false;
        break;
      }
    }
    checks.report(result, "no branch of probability zero; re-entering branches is never shorter on the same coins");
    return result;
  }

 private:
  static const AnyPathVerifier* found(std::string_view scheme) { return path_registry().verifier(scheme); }

  static std::vector<PathCell> plan() {
    std::vector<PathCell> cells;  // per length: one path; then, for each K, a long path and K paths
    for (const int length : lengths) {
      // One path by block verification: the baseline for several paths.
      cells.push_back({.drafts = 1, .length = length, .schemes = {found("token_path"), found("block")}});
      for (const int drafts : numbers) {
        // As many tokens in one path, for the same number of target rows.
        cells.push_back({.drafts = 1, .length = drafts * length, .schemes = {found("block")}});
        PathCell cell{.drafts = drafts, .length = length, .schemes = {}};
        for (const std::string_view scheme : schemes)
          if (const auto* verifier = found(scheme); verifier && verifier->takes(drafts))
            cell.schemes.push_back(verifier);
        cells.push_back(std::move(cell));
      }
    }
    return cells;
  }

  static std::size_t place(const PathCell& cell, std::string_view scheme) {
    std::size_t at = 0;
    while (at < cell.schemes.size() && cell.schemes[at]->info().name != scheme) ++at;
    return at;
  }

  static void write(const PathSource& from, const std::vector<PathCell>& cells, const PairedResult& paired,
                    int length, Checks& checks, Document& document) {
    constexpr std::size_t width = 1 + 2 * std::size(numbers);
    const std::size_t first = (length == lengths[0] ? 0 : 1) * width;
    std::vector<std::size_t> columns{first};
    for (std::size_t i = first + 2; i < first + width; i += 2) columns.push_back(i);
    Section means{.title = fmt::format("{}, L = {}: accepted tokens of a step", from.name(), length),
                  .before = {fmt::format("  {}; {}", from.summary(), counted(paired.cells[0].trials, "context"))}};
    Section against{.title = fmt::format("{}, L = {}: the best of them against the others", from.name(), length)};
    means.table.columns = {{"scheme"}};
    for (const std::size_t i : columns) means.table.columns.push_back({fmt::format("K = {}", cells[i].drafts), true});
    std::vector<std::string_view> rows{"token_path"};
    rows.insert(rows.end(), std::begin(schemes), std::end(schemes));
    for (const std::string_view scheme : rows) {
      std::vector<Cell> line{{std::string(scheme)}};
      bool any = false;
      for (const std::size_t i : columns) {
        const std::size_t s = place(cells[i], scheme);
        const bool here = s < cells[i].schemes.size();
        any = any || here;
        line.push_back(
            {here ? fmt::format("{:.4f} ±{:.4f}", paired.cells[i].mean(s), paired.cells[i].standard_error(s))
                  : std::string("-")});
      }
      if (any) means.table.rows.push_back(std::move(line));
    }
    std::vector<Cell> one{{"block, one path of K L"}, {""}};
    for (std::size_t i = first + 1; i < first + width; i += 2)
      one.push_back({fmt::format("{:.4f} ±{:.4f}", paired.cells[i].mean(0), paired.cells[i].standard_error(0))});
    means.table.rows.push_back(std::move(one));
    against.table.columns = {{"K", true}, {"scheme"}, {"against"}, {"difference", true}, {"errors", true}};
    for (const std::size_t i : columns) {
      check(from, cells[i], paired.cells[i], checks);
      if (cells[i].drafts > 1) add_differences(cells[i], paired.cells[i], against);
    }
    for (std::size_t i = first; i < first + width; ++i)
      add_data(cells[i], paired.cells[i], document.data["sources"].back()["cells"]);
    document.sections.push_back(std::move(means));
    document.sections.push_back(std::move(against));
  }

  static void check(const PathSource& from, const PathCell& cell, const PairedTally& tally, Checks& checks) {
    const auto what = [&](std::string_view claim) {
      return fmt::format("{}, K = {}, L = {}: {}", from.name(), cell.drafts, cell.length, claim);
    };
    for (std::size_t s = 0; s < cell.schemes.size(); ++s)
      checks.at_most(static_cast<double>(tally.impossible[s]), 0, 0,
                     [&] { return what(fmt::format("impossible steps of {}", cell.schemes[s]->info().name)); });
    const std::size_t reentry = place(cell, "branch_reentry"), plain = place(cell, "greedy_multipath_block");
    if (reentry < cell.schemes.size() && plain < cell.schemes.size())
      checks.at_most(static_cast<double>(tally.times_longer(plain, reentry)), 0, 0,
                     [&] { return what("steps that re-entry made shorter"); });
  }

  static void add_data(const PathCell& cell, const PairedTally& tally, nlohmann::ordered_json& out) {
    nlohmann::ordered_json data{{"drafts", cell.drafts}, {"length", cell.length}, {"conditionals", tally.trials}};
    for (std::size_t s = 0; s < cell.schemes.size(); ++s) {
      nlohmann::ordered_json row{{"verifier", cell.schemes[s]->info().name},
                                 {"mean_accepted", tally.mean(s)},
                                 {"standard_error", tally.standard_error(s)}};
      for (std::size_t t = 0; t < cell.schemes.size(); ++t)
        if (t != s)
          row["minus"][std::string(cell.schemes[t]->info().name)] = {
              {"difference", tally.difference(s, t)}, {"standard_error", tally.difference_error(s, t)}};
      data["schemes"].push_back(std::move(row));
    }
    out.push_back(std::move(data));
  }

  /// The best scheme against every other, and ladder_block against every other where it is not the best.
  static void add_differences(const PathCell& cell, const PairedTally& tally, Section& section) {
    std::size_t best = 0;
    for (std::size_t s = 1; s < cell.schemes.size(); ++s)
      if (tally.accepted[s] > tally.accepted[best]) best = s;
    const auto line = [&](std::size_t s, std::size_t t) {
      const double difference = tally.difference(s, t), error = tally.difference_error(s, t);
      section.table.rows.push_back({{std::to_string(cell.drafts)},
                                    {std::string(cell.schemes[s]->info().name)},
                                    {std::string(cell.schemes[t]->info().name)},
                                    {fmt::format("{:+.4f} ±{:.4f}", difference, error)},
                                    {error > 0 ? fmt::format("{:+.1f}", difference / error) : std::string("-")}});
    };
    for (std::size_t t = 0; t < cell.schemes.size(); ++t)
      if (t != best) line(best, t);
    if (const std::size_t ours = place(cell, "ladder_block"); ours < cell.schemes.size() && ours != best)
      for (std::size_t t = 0; t < cell.schemes.size(); ++t)
        if (t != ours && t != best) line(ours, t);
  }

  /// Returns false after a stop.
  static bool add_episodes(const PathSource& from, std::uint64_t episodes, const StudyOptions& options,
                           std::uint64_t& before, std::uint64_t total, Document& document) {
    Section section{.title = fmt::format("{}: {} of {} iterations, one path", from.name(),
                                         counted(episodes, "episode"), iterations)};
    section.table.columns = {{"scheme"}, {"L", true}, {"accepted", true}, {"tokens per call", true}};
    for (const int length : lengths)
      for (const std::string_view scheme : single) {
        const StepRun run{.verifier = *found(scheme),
                          .drafter = *path_registry().drafter("iid_paths"),
                          .shape = {.drafts = 1, .length = length},
                          .seed = options.seed,
                          .iterations = iterations};
        const StepTally tally =
            simulate_paths(run, from,
                           {.trials = episodes,
                            .threads = options.threads,
                            .stop = options.stop,
                            .progress = [&](std::uint64_t done) { options.tell(before + done, total); },
                            .shard = 1});
        before += episodes;
        if (tally.trials != episodes) return false;
        section.table.rows.push_back({{std::string(scheme)},
                                      {std::to_string(length)},
                                      {fmt::format("{:.4f} ±{:.4f}", tally.mean_accepted(), tally.standard_error())},
                                      {fmt::format("{:.4f}", tally.block_efficiency())}});
        document.data["sources"].back()["episodes"].push_back({{"verifier", scheme},
                                                               {"length", length},
                                                               {"steps", tally.steps},
                                                               {"mean_accepted", tally.mean_accepted()},
                                                               {"standard_error", tally.standard_error()},
                                                               {"block_efficiency", tally.block_efficiency()}});
      }
    document.sections.push_back(std::move(section));
    return true;
  }
};

}  // namespace draftproof::studies
