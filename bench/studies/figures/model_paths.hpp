// Studies of verifiers of paths and trees on drafts of a running model, all on the same contexts and random bits.
#pragma once

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <draftproof/bench/studies/paired_paths.hpp>
#include <draftproof/bench/studies/records.hpp>
#include <draftproof/cli/report/text.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/properties/survey/path_simulation.hpp>

namespace draftproof::studies {

// Compares verifiers of several paths on a live language model: in new contexts K i.i.d. paths of L tokens are drafted,
// all schemes verify the same drafts, and the differences between schemes have standard errors. Then the one scheme
// that carries state runs over many iterations.
//
//   E[tau]        mean number of accepted tokens of a step, without the extra token
//   K L           a single path of K L tokens, which needs as many target rows as K paths of L tokens
//   difference    in E[tau], of two schemes on the same contexts, drafts and random bits
//                 (bench/studies/paired_paths.hpp), ± standard error
//   BE            emitted tokens per call of the target, over an episode of 32 iterations
//
// Without sources the study reads the model in data/, relative to the repository's root. Effort: contexts per draft
// model; there are an eighth as many episodes.
// Cost: 0.1 s a context.
// Source: the ranking of arXiv:2602.16961, repeated on a live model with schemes that the paper lacks.
// Passes if no step reached a branch of probability zero, and branch_reentry never accepted fewer tokens than
// greedy_multipath_block, which is its first pass, on the same random bits.
struct LivePaths {
  static constexpr std::string_view name = "live_paths";
  static constexpr std::string_view about =
      "verifiers of K paths on a running model, on the same conditional distributions and drafts";
  static constexpr std::string_view source = "Thomas and Pal, arXiv:2602.16961, on another model";

  /// Schemes that are not registered are left out.
  static constexpr std::string_view schemes[] = {
      "block",     "sample_and_match_tree",  "recursive_rejection_tree", "k_seq_tree",  "ladder_tree",
      "traversal", "greedy_multipath_block", "branch_reentry",           "ladder_block"};
  static constexpr std::string_view single[] = {"token_path", "block", "greedy_block"};
  static constexpr int numbers[] = {2, 3, 4, 8}, lengths[] = {4, 8};
  static constexpr std::uint64_t coins = 16;  ///< verifications of the same drafts
  static constexpr int iterations = 32;       ///< number of iterations of an episode

  static StudyResult run(const StudyOptions& options) {
    const std::uint64_t conditionals = options.effort > 0 ? options.effort : 100;
    const std::uint64_t episodes = std::max<std::uint64_t>(conditionals / 8, 2);
    StudyResult result;
    result.document.data = {{"schema", "draftproof.study.live_paths/1"},
                            {"seed", options.seed},
                            {"conditionals", conditionals},
                            {"coins", coins},
                            {"episodes", episodes},
                            {"iterations", iterations}};
    const auto sources = open_models(options);
    // An episode takes about as much time as one context of the comparison above.
    const std::uint64_t total = sources.size() * (conditionals + episodes * std::size(single) * std::size(lengths));
    std::uint64_t before = 0;
    Checks checks;
    for (const auto& from : sources) {
      const Plan plan;
      const PairedTally tally = compare_paths(*from, plan.candidates, conditionals, coins, options,
                                              [&](std::uint64_t done) { options.tell(before + done, total); });
      before += conditionals;
      result.complete = tally.trials == conditionals;
      if (!result.complete) break;
      nlohmann::ordered_json entry{
          {"source", from->name()}, {"about", from->describe()}, {"cells", {}}, {"episodes", {}}};
      for (const int length : lengths) write(*from, plan, tally, length, checks, entry, result.document);
      result.complete = add_episodes(*from, episodes, options, before, total, entry, result.document);
      result.document.data["sources"].push_back(std::move(entry));
      if (!result.complete) break;
    }
    checks.report(result, "no branch of probability zero; re-entering branches is never shorter on the same coins");
    return result;
  }

 private:
  /// A number of paths, their length, and the schemes to run on them; schemes[i] is candidate first + i.
  struct Cell {
    int of;  ///< L of the table that shows the cell; `length` is K L for one long path, else L
    int drafts, length;
    std::size_t first;
    std::vector<std::string_view> schemes;

    bool long_path() const { return length != of; }
    std::size_t place(std::string_view scheme) const {
      return static_cast<std::size_t>(std::find(schemes.begin(), schemes.end(), scheme) - schemes.begin());
    }
    bool has(std::string_view scheme) const { return place(scheme) < schemes.size(); }
  };

  struct Plan {
    std::vector<PathCandidate> candidates{};
    std::vector<Cell> cells{};

    Plan() {
      for (const int length : lengths) {
        // Several paths are compared with a single path.
        add(length, 1, length, {"token_path", "block"});
        for (const int drafts : numbers) {
          // A single path with as many tokens as all K paths together needs the same number of target rows.
          add(length, 1, drafts * length, {"block"});
          add(length, drafts, length, {std::begin(schemes), std::end(schemes)});
        }
      }
    }
    void add(int of, int drafts, int length, const std::vector<std::string_view>& asked) {
      Cell cell{of, drafts, length, candidates.size(), {}};
      for (const std::string_view scheme : asked) {
        const AnyPathVerifier* const verifier = path_registry().verifier(scheme);
        if (!verifier || !verifier->takes(drafts)) continue;
        cell.schemes.push_back(scheme);
        candidates.push_back({verifier, {.drafts = drafts, .length = length}});
      }
      cells.push_back(std::move(cell));
    }
  };

  static void write(const PathSource& from, const Plan& plan, const PairedTally& tally, int length, Checks& checks,
                    nlohmann::ordered_json& entry, Document& document) {
    std::vector<const Cell*> columns, long_paths;
    for (const Cell& cell : plan.cells)
      if (cell.of == length) (cell.long_path() ? long_paths : columns).push_back(&cell);
    const auto mean = [&](std::size_t s) {
      return fmt::format("{:.4f} ±{:.4f}", tally.mean(s), tally.standard_error(s));
    };
    Records means{{.title = fmt::format("{}, L = {}: accepted tokens of a step", from.name(), length),
                   .before = {fmt::format("  {}; {}", from.summary(), counted(tally.trials, "context"))}}};
    std::vector<std::string_view> rows{"token_path"};
    rows.insert(rows.end(), std::begin(schemes), std::end(schemes));
    for (const std::string_view scheme : rows) {
      if (std::none_of(columns.begin(), columns.end(), [&](const Cell* at) { return at->has(scheme); })) continue;
      std::vector<Field> line{note("scheme", scheme)};
      for (const Cell* at : columns)
        line.push_back(
            cell(fmt::format("K = {}", at->drafts), at->has(scheme) ? mean(at->first + at->place(scheme)) : "-"));
      means.add(line);
    }
    std::vector<Field> one{note("", "block, one path of K L"), cell("", "")};
    for (const Cell* at : long_paths) one.push_back(cell("", mean(at->first)));
    means.add(one);
    Records against{{.title = fmt::format("{}, L = {}: the best of each K against the others", from.name(), length)}};
    for (const Cell* at : columns) {
      check(from, *at, tally, checks);
      if (at->drafts > 1) add_differences(*at, tally, against);
    }
    for (const Cell& at : plan.cells)
      if (at.of == length) entry["cells"].push_back(data_of(at, tally));
    document.sections.push_back(std::move(means.section));
    document.sections.push_back(std::move(against.section));
  }

  static void check(const PathSource& from, const Cell& cell, const PairedTally& tally, Checks& checks) {
    const auto what = [&](std::string_view claim) {
      return fmt::format("{}, K = {}, L = {}: {}", from.name(), cell.drafts, cell.length, claim);
    };
    for (std::size_t s = 0; s < cell.schemes.size(); ++s)
      checks.at_most(static_cast<double>(tally.impossible[cell.first + s]), 0, 0,
                     [&] { return what(fmt::format("impossible steps of {}", cell.schemes[s])); });
    if (cell.has("branch_reentry") && cell.has("greedy_multipath_block"))
      checks.at_most(static_cast<double>(tally.times_longer(cell.first + cell.place("greedy_multipath_block"),
                                                            cell.first + cell.place("branch_reentry"))),
                     0, 0, [&] { return what("steps that re-entry made shorter"); });
  }

  static nlohmann::ordered_json data_of(const Cell& cell, const PairedTally& tally) {
    nlohmann::ordered_json data{{"drafts", cell.drafts}, {"length", cell.length}, {"conditionals", tally.trials}};
    for (std::size_t s = 0; s < cell.schemes.size(); ++s) {
      const std::size_t i = cell.first + s;
      nlohmann::ordered_json row{{"verifier", cell.schemes[s]},
                                 {"mean_accepted", tally.mean(i)},
                                 {"standard_error", tally.standard_error(i)}};
      for (std::size_t t = 0; t < cell.schemes.size(); ++t)
        if (const std::size_t j = cell.first + t; t != s)
          row["minus"][std::string(cell.schemes[t])] = {{"difference", tally.difference(i, j)},
                                                        {"standard_error", tally.difference_error(i, j)}};
      data["schemes"].push_back(std::move(row));
    }
    return data;
  }

  /// Adds comparisons of the best scheme with every other scheme and, if ladder_block is not the best, of ladder_block
  /// with every other scheme.
  static void add_differences(const Cell& at, const PairedTally& tally, Records& against) {
    const auto begin = tally.accepted.begin() + static_cast<std::ptrdiff_t>(at.first);
    const auto end = begin + static_cast<std::ptrdiff_t>(at.schemes.size());
    const auto best = static_cast<std::size_t>(std::max_element(begin, end) - begin);
    const auto line = [&](std::size_t s, std::size_t t) {
      const double difference = tally.difference(at.first + s, at.first + t);
      const double error = tally.difference_error(at.first + s, at.first + t);
      against.add({number("K", "", at.drafts), note("scheme", at.schemes[s]), note("against", at.schemes[t]),
                   cell("difference", fmt::format("{:+.4f} ±{:.4f}", difference, error)),
                   cell("errors", error > 0 ? fmt::format("{:+.1f}", difference / error) : "-")});
    };
    const std::size_t ours = at.place("ladder_block");
    for (std::size_t t = 0; t < at.schemes.size(); ++t)
      if (t != best) line(best, t);
    if (ours < at.schemes.size() && ours != best)
      for (std::size_t t = 0; t < at.schemes.size(); ++t)
        if (t != ours && t != best) line(ours, t);
  }

  /// Returns false after a stop.
  static bool add_episodes(const PathSource& from, std::uint64_t episodes, const StudyOptions& options,
                           std::uint64_t& before, std::uint64_t total, nlohmann::ordered_json& entry,
                           Document& document) {
    Records rows{{.title = fmt::format("{}: {} of {} iterations, one path", from.name(), counted(episodes, "episode"),
                                       iterations)}};
    for (const int length : lengths)
      for (const std::string_view scheme : single) {
        const StepRun run{.verifier = *path_registry().verifier(scheme),
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
        const double mean = tally.mean_accepted(), error = tally.standard_error();
        rows.add({word("scheme", "verifier", scheme), number("L", "length", length), datum("steps", tally.steps),
                  cell("accepted", with_error(mean, error)), datum("mean_accepted", mean),
                  datum("standard_error", error),
                  number("tokens per call", "block_efficiency", tally.block_efficiency(), "{:.4f}")});
      }
    rows.write(document, entry, "episodes");
    return true;
  }
};

// The study of tree shapes: compares the accepted tokens of every shape (children per depth) within a budget of nodes,
// for the ladders for drafts with and without replacement, on the same contexts and random bits.
//
//   b_1 b_2 ..    children of every node at depth 0, 1, ..; they never rise with depth
//   N             nodes of the tree: b_1 + b_1 b_2 + ..; the number of target rows in addition to the root's
//   difference    accepted tokens less the accepted tokens of the best K i.i.d. paths of L tokens with K L <= N,
//                 ± standard error
//   K, L          at equal target cost: K children of the root that go on as single paths to depth L, drawn without
//                 replacement, against every verifier of K i.i.d. paths of L tokens; K L nodes either way
//
// A shape is compared if it has at most N nodes and would exceed N with one more level or child. Without sources the
// study reads the model in data/, relative to the repository's root. Effort: contexts per draft model.
// Cost: 0.1 s a context.
// Source: trees without replacement as in Sequoia, arXiv:2402.12374; the search over shapes is derived here.
// Passes if no step reached a branch of probability zero.
struct TreeShapes {
  static constexpr std::string_view name = "tree_shapes";
  static constexpr std::string_view about =
      "accepted tokens by the shape of the drafted tree, within a number of nodes";
  static constexpr std::string_view source = "trees as in Sequoia, arXiv:2402.12374; the search is derived here";

  static constexpr int budgets[] = {8, 16}, longest = 8;
  static constexpr int numbers[] = {2, 3, 4, 8}, lengths[] = {4, 8};
  static constexpr std::string_view rivals[] = {"ladder_block", "traversal", "branch_reentry",
                                                "greedy_multipath_block"};
  static constexpr std::uint64_t coins = 8;  ///< verifications of the same drafts
  static constexpr std::size_t shown = 8;    ///< number of shapes in a table

  static StudyResult run(const StudyOptions& options) {
    const std::uint64_t contexts = options.effort > 0 ? options.effort : 100;
    const auto sources = open_models(options);
    StudyResult result;
    result.document.data = {{"schema", "draftproof.study.tree_shapes/1"},
                            {"seed", options.seed},
                            {"contexts", contexts},
                            {"coins", coins}};
    Checks checks;
    std::uint64_t before = 0;
    for (const auto& from : sources) {
      const auto measure = [&](const std::vector<PathCandidate>& candidates, const auto& write) {
        const PairedTally tally = compare_paths(*from, candidates, contexts, coins, options, [&](std::uint64_t done) {
          options.tell(before + done, contexts * sources.size() * (std::size(budgets) + 1));
        });
        before += contexts;
        result.complete = result.complete && tally.trials == contexts;
        if (!result.complete) return;
        const auto impossible = std::accumulate(tally.impossible.begin(), tally.impossible.end(), std::uint64_t{0});
        checks.at_most(static_cast<double>(impossible), 0, 0,
                       [&] { return fmt::format("{}: impossible steps", from->name()); });
        write(tally);
      };
      for (const int budget : budgets) {
        const auto all = shapes_within(budget);
        measure(all, [&](const PairedTally& tally) { write(*from, budget, all, tally, result.document); });
      }
      const auto all = pairs();
      measure(all, [&](const PairedTally& tally) { write_pairs(*from, all, tally, result.document); });
      if (!result.complete) return result;
    }
    checks.report(result, "no branch of probability zero");
    return result;
  }

 private:
  static PathCandidate paths(std::string_view scheme, int drafts, int length) {
    return {
        path_registry().verifier(scheme), {.drafts = drafts, .length = length}, path_registry().drafter("iid_paths")};
  }
  static PathCandidate tree(const std::vector<int>& children) {
    return {path_registry().verifier("ladder_block_wor"),
            {.drafts = children.front(), .length = static_cast<int>(children.size()), .branching = children},
            path_registry().drafter("without_replacement_tree")};
  }
  static bool is_tree(const PathCandidate& candidate) { return !candidate.shape.branching.empty(); }
  /// Appends to `out` every shape that extends `shape` and cannot grow within the budget.
  static void extend(std::vector<int>& shape, int level, int nodes, int budget, std::vector<PathCandidate>& out) {
    bool longer = false;
    if (static_cast<int>(shape.size()) < longest)
      for (int children = shape.empty() ? budget : shape.back(); children >= 1; --children) {
        const int next = level * children;
        if (nodes + next > budget) continue;
        longer = true;
        shape.push_back(children);
        extend(shape, next, nodes + next, budget, out);
        shape.pop_back();
      }
    if (!longer && nodes + level > budget - 2) out.push_back(tree(shape));
  }

  static std::vector<PathCandidate> shapes_within(int budget) {
    std::vector<PathCandidate> all;
    for (int drafts = 1; drafts <= budget; ++drafts)
      if (const int length = std::min(budget / drafts, longest); length > 0 && (length > 1 || drafts == budget))
        all.push_back(paths("ladder_block", drafts, length));
    std::vector<int> shape;
    extend(shape, 1, 0, budget, all);
    return all;
  }

  /// Returns for each K and L the tree without replacement, then the schemes on K paths that it is compared with.
  static std::vector<PathCandidate> pairs() {
    std::vector<PathCandidate> all;
    for (const int length : lengths)
      for (const int drafts : numbers) {
        std::vector<int> children(static_cast<std::size_t>(length), 1);
        children.front() = drafts;
        all.push_back(tree(children));
        for (const std::string_view rival : rivals) all.push_back(paths(rival, drafts, length));
      }
    return all;
  }

  static void write(const PathSource& from, int budget, const std::vector<PathCandidate>& all,
                    const PairedTally& tally, Document& document) {
    const std::vector<std::size_t> order = most_accepted_first(tally);
    const std::size_t base =
        *std::find_if(order.begin(), order.end(), [&](std::size_t i) { return !is_tree(all[i]); });
    Records shapes{{.title = fmt::format("{}, at most {} nodes", from.name(), budget),
                    .before = {fmt::format("  {}; {}", from.summary(), counted(tally.trials, "context"))}}};
    std::size_t rows = 0;
    for (const std::size_t i : order) {
      std::vector<Field> row = shape_fields(all[i], tally, i, base);
      if (rows++ >= shown && i != base)
        for (Field& field : row) field.shown = false;
      shapes.add(row);
    }
    document.data["sources"].push_back(
        {{"source", from.name()}, {"budget", budget}, {"shapes", std::move(shapes.rows)}});
    document.sections.push_back(std::move(shapes.section));
  }

  static void write_pairs(const PathSource& from, const std::vector<PathCandidate>& all, const PairedTally& tally,
                          Document& document) {
    Records pairs{{.title = fmt::format("{}, ladder_block_wor against verifiers of K i.i.d. paths", from.name()),
                   .before = {fmt::format("  {}; {}; K L nodes", from.summary(), counted(tally.trials, "context"))}}};
    for (std::size_t i = 0; i < all.size(); i += 1 + std::size(rivals)) {
      std::vector<Field> row{word("L", "", std::to_string(all[i].shape.length)),
                             word("K", "", std::to_string(all[i].shape.drafts)), datum("length", all[i].shape.length),
                             datum("paths", all[i].shape.drafts),
                             number("accepted", "mean_accepted", tally.mean(i), "{:.4f}")};
      nlohmann::ordered_json against;
      for (std::size_t j = i + 1; j <= i + std::size(rivals); ++j) {
        const std::string_view rival = all[j].scheme->info().name;
        const double difference = tally.difference(i, j), error = tally.difference_error(i, j);
        row.push_back(cell(fmt::format("- {}", rival), fmt::format("{:+.3f} ±{:.3f}", difference, error)));
        against[std::string(rival)] = {{"difference", difference}, {"standard_error", error}};
      }
      row.push_back(datum("against", std::move(against)));
      pairs.add(row);
    }
    document.data["equal_cost"].push_back({{"source", from.name()}, {"pairs", std::move(pairs.rows)}});
    document.sections.push_back(std::move(pairs.section));
  }
};

}  // namespace draftproof::studies
