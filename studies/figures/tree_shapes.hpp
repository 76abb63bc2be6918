// Which tree to draft: accepted tokens of every shape within a budget of nodes, children per depth, by the ladders for
// drafts with and without replacement, on the same contexts and coins.
//
//   b_1 b_2 ..    children of every node at depth 0, 1, ..; never rising
//   N             nodes of the tree: b_1 + b_1 b_2 + ..; the rows that the target reads beside the root's
//   difference    accepted tokens less those of the best K i.i.d. paths of L tokens with K L <= N, ± standard error
//   K, L          at equal target cost: K children of the root that go on as single paths to depth L, drawn without
//                 replacement, against every verifier of K i.i.d. paths of L tokens; K L nodes either way
//
// A shape counts if it has at most N nodes and one more level or child would have more. Without sources the study
// reads the model in data/, relative to the repository's root. Effort: contexts of each draft.
// Cost: 0.1 s a context.
// Source: trees without replacement as in Sequoia, arXiv:2402.12374; the search over shapes is ours.
// Holds if no step reached a branch of probability zero.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <draftproof/captures/input_error.hpp>
#include <draftproof/captures/path_source.hpp>
#include <draftproof/properties/prover/path_registry.hpp>
#include <draftproof/report/text.hpp>
#include <draftproof/sim/trials/run_trials.hpp>
#include <draftproof/studies/checks.hpp>
#include <draftproof/studies/study.hpp>

namespace draftproof::studies {

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
  static constexpr std::size_t shown = 8;    ///< shapes of a table

  static StudyResult run(const StudyOptions& options) {
    const std::vector<std::string> own{"data/stories260k.bin:q4", "data/stories260k.bin:q3",
                                       "data/stories260k.bin:exit4"};
    const std::uint64_t contexts = options.effort > 0 ? options.effort : 100;
    const auto& specs = options.sources.empty() ? own : options.sources;
    StudyResult result;
    result.document.data = {{"schema", "draftproof.study.tree_shapes/1"},
                            {"seed", options.seed},
                            {"contexts", contexts},
                            {"coins", coins}};
    Checks checks;
    std::uint64_t before = 0;
    for (const std::string& spec : specs) {
      const auto from = PathSource::open(spec, {.seed = options.seed});
      if (from->stored_trees())
        throw InputError({.file = spec, .found = "stored trees", .wanted = "a source that goes on without end"});
      const auto measure = [&](const std::vector<Candidate>& cells, const auto& write) {
        const Tally tally = compare(*from, cells, contexts, options, [&](std::uint64_t done) {
          options.tell(before + done, contexts * specs.size() * (std::size(budgets) + 1));
        });
        before += contexts;
        result.complete = result.complete && tally.contexts == contexts;
        if (!result.complete) return;
        checks.at_most(static_cast<double>(tally.impossible), 0, 0,
                       [&] { return fmt::format("{}: impossible steps", from->name()); });
        write(tally);
      };
      for (const int budget : budgets) {
        const auto cells = plan(budget);
        measure(cells, [&](const Tally& tally) { write(*from, budget, cells, tally, result.document); });
      }
      const auto cells = pairs();
      measure(cells, [&](const Tally& tally) { write_pairs(*from, cells, tally, result.document); });
      if (!result.complete) return result;
    }
    checks.report(result, "no branch of probability zero");
    return result;
  }

 private:
  struct Candidate {
    const AnyPathVerifier* scheme;
    const AnyTreeDrafter* drafter;
    TreeShape shape;
    int nodes;
    bool baseline() const { return scheme->info().name == "ladder_block"; }
  };

  struct Tally {
    std::uint64_t contexts = 0, impossible = 0;
    std::vector<std::uint64_t> accepted, squares, products;  ///< by candidate; products: [i][j]
    Tally& operator+=(const Tally& other) {
      contexts += other.contexts;
      impossible += other.impossible;
      const auto add = [](auto& to, const auto& from) {
        for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
      };
      add(accepted, other.accepted);
      add(squares, other.squares);
      add(products, other.products);
      return *this;
    }
    double mean(std::size_t i) const {
      return static_cast<double>(accepted[i]) / static_cast<double>(contexts * coins);
    }
    /// Standard error of mean(i) - mean(j), from the spread between contexts.
    double error(std::size_t i, std::size_t j) const {
      const auto n = static_cast<double>(contexts);
      const double second = static_cast<double>(squares[i]) + static_cast<double>(squares[j]) -
                            2 * static_cast<double>(products[i * accepted.size() + j]);
      const double mean = (static_cast<double>(accepted[i]) - static_cast<double>(accepted[j])) / n;
      return n < 2 ? 0 : std::sqrt(std::max(0.0, second / n - mean * mean) / (n - 1)) / static_cast<double>(coins);
    }
  };

  /// Appends to `out` every shape that goes on from `shape` and uses the budget up.
  static void extend(std::vector<int>& shape, int level, int nodes, int budget, std::vector<std::vector<int>>& out) {
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
    if (!longer && nodes + level > budget - 2) out.push_back(shape);
  }

  static std::vector<Candidate> plan(int budget) {
    const auto& registry = path_registry();
    std::vector<Candidate> cells;
    const auto* const block = registry.verifier("ladder_block");
    for (int paths = 1; paths <= budget; ++paths)
      if (const int length = std::min(budget / paths, longest); length > 0 && (length > 1 || paths == budget))
        cells.push_back({block, registry.drafter("iid_paths"), {.drafts = paths, .length = length}, paths * length});
    std::vector<std::vector<int>> shapes;
    std::vector<int> shape;
    extend(shape, 1, 0, budget, shapes);
    for (const auto& children : shapes) {
      int level = 1, nodes = 0;
      for (const int b : children) nodes += level *= b;
      cells.push_back(
          {registry.verifier("ladder_block_wor"),
           registry.drafter("without_replacement_tree"),
           {.drafts = children.front(), .length = static_cast<int>(children.size()), .branching = children},
           nodes});
    }
    return cells;
  }

  /// For each K and L the tree without replacement, then the rivals on K paths.
  static std::vector<Candidate> pairs() {
    const auto& registry = path_registry();
    std::vector<Candidate> cells;
    for (const int length : lengths)
      for (const int paths : numbers) {
        std::vector<int> children(static_cast<std::size_t>(length), 1);
        children.front() = paths;
        cells.push_back({registry.verifier("ladder_block_wor"),
                         registry.drafter("without_replacement_tree"),
                         {.drafts = paths, .length = length, .branching = children},
                         paths * length});
        for (const std::string_view rival : rivals)
          cells.push_back({registry.verifier(rival),
                           registry.drafter("iid_paths"),
                           {.drafts = paths, .length = length},
                           paths * length});
      }
    return cells;
  }

  /// The state of one thread.
  struct Worker {
    std::unique_ptr<StepContexts> conditionals;
    std::vector<PathDeciderPtr<RatioTable, Philox>> deciders;
    DraftTree tree;
    std::vector<std::uint64_t> sums;
  };

  static Tally compare(const PathSource& from, const std::vector<Candidate>& cells, std::uint64_t contexts,
                       const StudyOptions& options, const std::function<void(std::uint64_t)>& done) {
    const TrialBudget budget{.trials = contexts,
                             .threads = options.threads > 0 ? options.threads : default_threads(),
                             .stop = options.stop,
                             .progress = done,
                             .shard = 2};
    std::vector<Worker> workers(static_cast<std::size_t>(budget.threads));
    for (Worker& worker : workers) {
      worker.conditionals = from.open();
      for (const Candidate& cell : cells)
        worker.deciders.push_back(cell.scheme->simulate_on(*worker.conditionals, cell.shape));
    }
    const std::size_t n = cells.size();
    const Tally empty{.accepted = std::vector<std::uint64_t>(n),
                      .squares = std::vector<std::uint64_t>(n),
                      .products = std::vector<std::uint64_t>(n * n)};
    return run_trials(budget, empty, [&](int at, std::uint64_t first, std::uint64_t count, Tally& tally) {
      Worker& worker = workers[static_cast<std::size_t>(at)];
      for (std::uint64_t trial = first; trial < first + count; ++trial) {
        const int start = worker.conditionals->start(trial);
        worker.sums.assign(n, 0);
        for (std::size_t i = 0; i < n; ++i) {
          Philox draft(options.seed, trial, Philox::Role::draft);
          worker.tree.clear(start);
          cells[i].drafter->draw(*worker.conditionals, cells[i].shape, draft, worker.tree);
          for (std::uint64_t coin = 0; coin < coins; ++coin) {
            Philox words(options.seed, trial * coins + coin, Philox::Role::verify);
            const StepOutput step = worker.deciders[i]->decide(worker.tree, {}, words);
            worker.sums[i] += static_cast<std::uint64_t>(worker.tree.depth(step.node));
            tally.impossible += step.extra.token < 0;
          }
        }
        ++tally.contexts;
        for (std::size_t i = 0; i < n; ++i) {
          tally.accepted[i] += worker.sums[i];
          tally.squares[i] += worker.sums[i] * worker.sums[i];
          for (std::size_t j = 0; j < n; ++j) tally.products[i * n + j] += worker.sums[i] * worker.sums[j];
        }
      }
    });
  }

  static std::string text(const Candidate& cell) {
    return cell.baseline() ? fmt::format("{} paths of {}", cell.shape.drafts, cell.shape.length)
                           : fmt::format("{}", fmt::join(cell.shape.branching, " "));
  }

  static void write(const PathSource& from, int budget, const std::vector<Candidate>& cells, const Tally& tally,
                    Document& document) {
    std::vector<std::size_t> order(cells.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t i, std::size_t j) { return tally.accepted[i] > tally.accepted[j]; });
    const std::size_t base =
        *std::find_if(order.begin(), order.end(), [&](std::size_t i) { return cells[i].baseline(); });
    Section section{.title = fmt::format("{}, at most {} nodes", from.name(), budget),
                    .before = {fmt::format("  {}; {}", from.summary(), counted(tally.contexts, "context"))}};
    section.table.columns = {{"scheme"}, {"shape"}, {"nodes", true}, {"accepted", true}, {"against i.i.d.", true}};
    nlohmann::ordered_json data{{"source", from.name()}, {"budget", budget}};
    std::size_t rows = 0;
    for (const std::size_t i : order) {
      const double difference = tally.mean(i) - tally.mean(base), error = tally.error(i, base);
      data["shapes"].push_back({{"verifier", cells[i].scheme->info().name},
                                {"shape", text(cells[i])},
                                {"nodes", cells[i].nodes},
                                {"mean_accepted", tally.mean(i)},
                                {"difference", difference},
                                {"standard_error", error}});
      const std::string gain = i == base ? "-" : fmt::format("{:+.4f} ±{:.4f}", difference, error);
      if (rows++ < shown || i == base)
        section.table.rows.push_back({{std::string(cells[i].scheme->info().name)},
                                      {text(cells[i])},
                                      {std::to_string(cells[i].nodes)},
                                      {fmt::format("{:.4f}", tally.mean(i))},
                                      {gain}});
    }
    document.data["sources"].push_back(std::move(data));
    document.sections.push_back(std::move(section));
  }

  static void write_pairs(const PathSource& from, const std::vector<Candidate>& cells, const Tally& tally,
                          Document& document) {
    Section section{
        .title = fmt::format("{}, ladder_block_wor against verifiers of K i.i.d. paths", from.name()),
        .before = {fmt::format("  {}; {}; K L nodes", from.summary(), counted(tally.contexts, "context"))}};
    section.table.columns = {{"L"}, {"K"}, {"accepted", true}};
    for (const std::string_view rival : rivals) section.table.columns.push_back({fmt::format("- {}", rival), true});
    nlohmann::ordered_json data{{"source", from.name()}};
    for (std::size_t i = 0; i < cells.size(); i += 1 + std::size(rivals)) {
      auto& row = section.table.rows.emplace_back();
      row.push_back({std::to_string(cells[i].shape.length)});
      row.push_back({std::to_string(cells[i].shape.drafts)});
      row.push_back({fmt::format("{:.4f}", tally.mean(i))});
      nlohmann::ordered_json entry{
          {"length", cells[i].shape.length}, {"paths", cells[i].shape.drafts}, {"mean_accepted", tally.mean(i)}};
      for (std::size_t j = i + 1; j <= i + std::size(rivals); ++j) {
        const double difference = tally.mean(i) - tally.mean(j), error = tally.error(i, j);
        row.push_back({fmt::format("{:+.3f} ±{:.3f}", difference, error)});
        entry["against"][cells[j].scheme->info().name] = {{"difference", difference}, {"standard_error", error}};
      }
      data["pairs"].push_back(std::move(entry));
    }
    document.data["equal_cost"].push_back(std::move(data));
    document.sections.push_back(std::move(section));
  }
};

}  // namespace draftproof::studies
