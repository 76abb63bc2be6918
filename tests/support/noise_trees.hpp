// Trials of couplings on trees of shared noise: their emitted tokens and acceptance, compared with intervals.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include <draftproof/statistics/interval.hpp>
#include <draftproof/tests/support/small_models.hpp>

namespace draftproof::noisy {

/// The test that includes this file evaluates at most 1000 intervals on correct programs, so a false alarm has
/// probability 1e-9 over the choice of the seeds, which are fixed.
inline constexpr double alpha = 1e-12;
inline int intervals = 0;

inline bool within(std::uint64_t count, std::uint64_t trials, double probability) {
  EXPECT_LT(++intervals, 1000);
  const auto [low, high] = clopper_pearson(count, trials, alpha);
  return low <= probability + 1e-12 && probability - 1e-12 <= high;
}

using Tables = PrefixTable<RatioTable>;
using Doubles = std::vector<double>;

inline Tables tables_of(const small::Model& model, int conditionals) {
  std::vector<RatioTable> tables;
  for (int c = 0; c < conditionals; ++c) {
    const auto& rows = model.laws(c);
    Doubles target, proposal;
    for (Token x = 0; x < rows.vocabulary(); ++x) {
      target.push_back(static_cast<double>(rows.target(x)));
      proposal.push_back(static_cast<double>(rows.proposal(x)));
    }
    tables.emplace_back(target, proposal);
  }
  return Tables(std::move(tables));
}

/// Runs trials and visits the tree and the step of each.
template <class Source, class Draw, class Decide, class Visit>
void run_trials_of(std::uint64_t trials, std::uint64_t seed, Draw draw, Decide decide, Visit visit) {
  DraftTree tree;
  for (std::uint64_t n = 0; n < trials; ++n) {
    tree.clear(0);
    Source drafting(seed, n, Philox::Role::draft), verifying(seed, n, Philox::Role::verify);
    draw(drafting, tree);
    visit(tree, decide(tree, verifying));
  }
}

/// Counts of emitted tokens by prefix, and of steps by accepted tokens.
struct Emitted {
  std::map<Tokens, std::map<Token, std::uint64_t>> after;
  std::vector<std::uint64_t> beyond = std::vector<std::uint64_t>(8);  ///< steps that accept at least this many

  void operator()(const DraftTree& tree, const StepOutput& step) {
    Tokens tokens = path_to(tree, step.node);
    for (std::size_t depth = 0; depth <= tokens.size(); ++depth) ++beyond[depth];
    tokens.push_back(step.extra.token);
    for (std::size_t n = 0; n < tokens.size(); ++n)
      ++after[Tokens(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(n))][tokens[n]];
  }

  /// In a correct program the tokens emitted after a prefix are independent draws of the target there. Returns the
  /// number of frequencies outside their interval.
  int wrong(const Tables& tables) const {
    int wrong = 0;
    for (const auto& [prefix, counts] : after) {
      int context = 0;
      for (const Token x : prefix) context = tables.next(context, x);
      std::uint64_t total = 0;
      for (const auto& [x, count] : counts) total += count;
      for (Token x = 0; x < tables.vocabulary(); ++x) {
        const auto found = counts.find(x);
        wrong += !within(found == counts.end() ? 0 : found->second, total, tables.laws(context).target(x));
      }
    }
    return wrong;
  }
};

inline Emitted emitted_by(std::string_view scheme, const Tables& tables, const TreeShape& shape, std::uint64_t trials,
                          std::uint64_t seed) {
  const AnyPathVerifier& verifier = small::verifier(scheme);
  const AnyTreeDrafter* drafter = path_registry().drafters_of(verifier.info()).front();
  EXPECT_TRUE(drafter->info().shared_noise());
  const auto decider = verifier.simulate_on(tables, shape);
  Emitted emitted;
  run_trials_of<Philox>(
      trials, seed, [&](Philox& random, DraftTree& tree) { drafter->draw(tables, shape, random, tree); },
      [&](const DraftTree& tree, Philox& random) { return decider->decide(tree, {}, random); }, std::ref(emitted));
  return emitted;
}

}  // namespace draftproof::noisy
