// The study of trees with fixed and drawn children.
#pragma once

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include <draftproof/bench/studies/paired_paths.hpp>
#include <draftproof/bench/studies/records.hpp>
#include <draftproof/cli/report/text.hpp>
#include <draftproof/properties/prover/registry.hpp>

namespace draftproof::studies {

// Compares hybrid trees, pruned hybrid trees, and fixed first tokens with one suffix each, with independent paths and
// trees without replacement: the accepted tokens of the best shape and verifier of each kind within a budget of nodes,
// on the same contexts and random bits.
//
//   a, b          children of the root, and of every node below it at depth 1; deeper nodes have one child
//   F             number of fixed children of a node, its most probable tokens; a node with at most F children has only
//                 fixed ones
//   pruned        the N nodes with the largest scores (sim/drafters/trees/pruned_hybrid_tree.hpp) of trees whose nodes
//                 all have the same number of children
//   N             budget: a tree has at most N nodes, and at least three quarters of N
//   difference    accepted tokens minus the accepted tokens of the best independent paths, ± standard error
//
// Without sources the study reads the model in data/, relative to the repository's root. Effort: contexts per draft
// model.
// Cost: 0.3 s a context.
// Source: hybrid trees of arXiv:2605.04543; the comparison is derived here.
// Passes if no step reached a branch of probability zero.
struct HybridTrees {
  static constexpr std::string_view name = "hybrid_trees";
  static constexpr std::string_view about =
      "accepted tokens of trees with fixed and drawn children, independent paths and trees without replacement";
  static constexpr std::string_view source = "trees of arXiv:2605.04543; the comparison is derived here";

  static constexpr int budgets[] = {8, 16, 32, 64}, longest = 8;
  static constexpr std::uint64_t coins = 8;  ///< number of verifications of the same drafts

  static StudyResult run(const StudyOptions& options) {
    const std::uint64_t contexts = options.effort > 0 ? options.effort : 50;
    const auto sources = open_models(options);
    StudyResult result;
    result.document.data = {{"schema", "draftproof.study.hybrid_trees/1"},
                            {"seed", options.seed},
                            {"contexts", contexts},
                            {"coins", coins}};
    Checks checks;
    std::uint64_t before = 0;
    for (const auto& from : sources)
      for (const int budget : budgets) {
        const std::vector<PathCandidate> all = within(budget);
        const PairedTally tally = compare_paths(*from, all, contexts, coins, options, [&](std::uint64_t done) {
          options.tell(before + done, contexts * sources.size() * std::size(budgets));
        });
        before += contexts;
        result.complete = tally.trials == contexts;
        if (!result.complete) return result;
        const auto impossible = std::accumulate(tally.impossible.begin(), tally.impossible.end(), std::uint64_t{0});
        checks.at_most(static_cast<double>(impossible), 0, 0,
                       [&] { return fmt::format("{}: impossible steps", from->name()); });
        write(*from, budget, all, tally, result.document);
      }
    checks.report(result, "no branch of probability zero");
    return result;
  }

 private:
  static PathCandidate candidate(std::string_view scheme, std::string_view drafts, TreeShape shape) {
    return {path_registry().verifier(scheme), std::move(shape), path_registry().drafter(drafts)};
  }
  /// Returns the children by depth of a tree with a and b children at depths 0 and 1, as long as the budget allows.
  static std::vector<int> branching(int a, int b, int budget) {
    std::vector<int> children;
    for (int level = 1, all = 0; static_cast<int>(children.size()) < longest;) {
      const int next = children.empty() ? a : children.size() == 1 ? b : 1;
      if (all + level * next > budget) break;
      all += level *= next;
      children.push_back(next);
    }
    return children;
  }

  static std::vector<PathCandidate> within(int budget) {
    std::vector<PathCandidate> all;
    const auto add = [&all, budget](PathCandidate at) {
      if (4 * nodes_of(at.shape) >= 3 * budget) all.push_back(std::move(at));
    };
    for (int drafts = 1; drafts <= budget; ++drafts)
      for (const std::string_view scheme : {"ladder_block", "traversal"})
        add(candidate(scheme, "iid_paths", {.drafts = drafts, .length = std::min(budget / drafts, longest)}));
    for (const int a : {1, 2, 3, 4, 6, 8})
      for (int b = 1; b <= std::min(a, 4); ++b) {
        TreeShape shape{.drafts = a, .branching = branching(a, b, budget)};
        shape.length = static_cast<int>(shape.branching.size());
        if (shape.length == 0 || (shape.length == 1 && b > 1)) continue;
        for (const std::string_view scheme : {"ladder_block_wor", "traversal"})
          add(candidate(scheme, "without_replacement_tree", shape));
        for (shape.fixed = 1; shape.fixed < std::min(a + 1, 4); ++shape.fixed)
          for (const std::string_view scheme : {"univer", "univer_ladder", "univer_traversal"})
            add(candidate(scheme, "hybrid_tree", shape));
      }
    for (const int a : {1, 2, 3, 4})
      for (int fixed = 1; fixed <= std::min(a, 3); ++fixed)
        for (const std::string_view scheme : {"univer", "univer_ladder"})
          add(candidate(scheme, "pruned_hybrid_tree",
                        {.drafts = a, .length = longest, .fixed = fixed, .nodes = budget}));
    for (const int drafts : {2, 4, 8})
      add(candidate("root_marginalised_block", "shared_suffix",
                    {.drafts = drafts, .length = std::min(budget / drafts, longest)}));
    return all;
  }

  static void write(const PathSource& from, int budget, const std::vector<PathCandidate>& all,
                    const PairedTally& tally, Document& document) {
    const std::vector<std::size_t> order = most_accepted_first(tally);
    const auto is_iid = [&](std::size_t i) { return all[i].drafter->info().independent_paths; };
    const std::size_t base = *std::find_if(order.begin(), order.end(), is_iid);
    Records shapes{{.title = fmt::format("{}, at most {} nodes", from.name(), budget),
                    .before = {fmt::format("  {}; {}", from.summary(), counted(tally.trials, "context"))}}};
    std::vector<std::pair<const AnyPathVerifier*, const AnyTreeDrafter*>> shown;
    for (const std::size_t i : order) {
      std::vector<Field> row = shape_fields(all[i], tally, i, base);
      row.insert(row.begin(), word("draft sampling", "draft_sampling", all[i].drafter->info().name));
      const std::pair kind(all[i].scheme, all[i].drafter);  // `order` descends: the first row of a kind is its best
      if (std::find(shown.begin(), shown.end(), kind) != shown.end())
        for (Field& field : row) field.shown = false;
      else
        shown.push_back(kind);
      shapes.add(row);
    }
    document.data["sources"].push_back(
        {{"source", from.name()}, {"budget", budget}, {"shapes", std::move(shapes.rows)}});
    document.sections.push_back(std::move(shapes.section));
  }
};

}  // namespace draftproof::studies
