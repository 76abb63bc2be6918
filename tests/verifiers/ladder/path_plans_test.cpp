// Tests of the plans of ladder_block.
#include <cmath>
#include <iostream>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include <draftproof/sim/distributions/ratio_table.hpp>
#include <draftproof/tests/support/bucketed_rows.hpp>
#include <draftproof/tests/support/chosen_distribution.hpp>
#include <draftproof/tests/support/example_rows.hpp>
#include <draftproof/tests/support/weighted_models.hpp>
#include <draftproof/verifiers/ladder/path_node.hpp>

namespace draftproof {
namespace {

using PathTuple = std::vector<Tokens>;  ///< K complete paths
using States = std::map<PathTuple, Rational>;

/// Enumerates, node by node, the joint probability of each tuple and of the event that the choice reaches the node.
template <class L>
class EveryTuple {
 public:
  EveryTuple(const PrefixTable<L>& conditionals, int paths, int length)
      : conditionals_{conditionals}, length_{length} {
    States states;
    PathTuple tuple(static_cast<std::size_t>(paths));
    const auto draw = [&](const auto& self, std::size_t k, int context, const Rational& mass) -> void {
      if (k == tuple.size()) {
        states[tuple] = mass;
      } else if (static_cast<int>(tuple[k].size()) == length_) {
        self(self, k + 1, 0, mass);
      } else {
        const L& distributions = conditionals_.distributions(context);
        for (Token y = 0; y < distributions.vocabulary(); ++y) {
          if (distributions.proposal(y) == 0) continue;
          tuple[k].push_back(y);
          self(self, k, conditionals_.next(context, y), Rational(mass * distributions.proposal(y)));
          tuple[k].pop_back();
        }
      }
    };
    draw(draw, 0, 0, 1);
    descend({}, 0, states);
  }

  std::map<Tokens, Rational> reached;              ///< probability that the choice reaches a prefix
  std::map<Tokens, std::vector<Rational>> active;  ///< distribution of the number of active paths at a prefix
  bool fresh = true;  ///< whether next tokens, given the active paths, were i.i.d. from q

 private:
  static bool starts_with(const Tokens& path, const Tokens& prefix) {
    return std::equal(prefix.begin(), prefix.end(), path.begin());
  }

  void descend(const Tokens& prefix, int context, const States& states) {
    Rational& total = reached[prefix];
    for (const auto& [tuple, mass] : states) total += mass;
    if (static_cast<int>(prefix.size()) == length_) return;
    const L& distributions = conditionals_.distributions(context);
    std::vector<Rational> distribution(states.begin()->first.size());
    std::map<std::vector<bool>, Rational> together;                      // the set of active paths
    std::map<std::pair<std::vector<bool>, Tokens>, Rational> following;  // the active paths, and their next tokens
    for (const auto& [tuple, mass] : states) {
      std::vector<bool> who;
      Tokens next;
      for (const Tokens& path : tuple) {
        who.push_back(starts_with(path, prefix));
        if (who.back()) next.push_back(path[prefix.size()]);
      }
      distribution[next.size() - 1] += mass / total;
      together[who] += mass;
      following[{who, next}] += mass;
    }
    for (const auto& [key, mass] : following) {
      Rational independent = together[key.first];
      for (const Token y : key.second) independent *= distributions.proposal(y);
      fresh &= mass == independent;
    }
    active[prefix] = distribution;
    for (const auto& [y, chosen] : choose(prefix, distributions, distribution, states)) {
      Tokens longer = prefix;
      longer.push_back(y);
      descend(longer, conditionals_.next(context, y), chosen);
    }
  }

  std::map<Token, States> choose(const Tokens& prefix, const L& distributions,
                                 const std::vector<Rational>& distribution, const States& states) const {
    const auto bins = distributions.bins();
    const auto plan = plan_ladder(distributions, bins, MixedCoverage<Rational>(distribution));
    std::vector<Rational> cuts{0, 1};
    for (std::size_t i = 1; i < plan.level.size(); ++i) cuts.push_back(plan.level[i]);
    std::sort(cuts.begin(), cuts.end());
    std::map<Token, States> chosen;
    for (std::size_t cut = 0; cut + 1 < cuts.size(); ++cut) {
      if (cuts[cut] == cuts[cut + 1]) continue;
      const auto group_of = [&](Token y) {
        int group = 0;
        for (std::size_t i = 1; i < plan.level.size(); ++i)
          group += static_cast<int>(i) <= distributions.bin(bins, y) && cuts[cut] < plan.level[i];
        return group;
      };
      for (const auto& [tuple, mass] : states) {
        Tokens best;
        for (const Tokens& path : tuple) {
          if (!starts_with(path, prefix)) continue;
          const Token y = path[prefix.size()];
          if (!best.empty() && group_of(y) < group_of(best[0])) best.clear();
          if (best.empty() || group_of(y) == group_of(best[0])) best.push_back(y);
        }
        for (const Token y : best)
          chosen[y][tuple] += mass * (cuts[cut + 1] - cuts[cut]) / static_cast<int>(best.size());
      }
    }
    return chosen;
  }

  const PrefixTable<L>& conditionals_;
  int length_;
};

template <class L>
void expect_the_same(const PrefixTable<L>& conditionals, int paths, int length, const std::string& name) {
  const EveryTuple<L> every(conditionals, paths, length);
  EXPECT_TRUE(every.fresh) << name;
  std::size_t prefixes = 0;
  visit_choices(conditionals, paths, length, [&](const Tokens& tokens, const auto* entry, const Rational& chosen) {
    ++prefixes;
    ASSERT_TRUE(every.reached.contains(tokens)) << name;
    ASSERT_EQ(chosen, every.reached.at(tokens)) << name;
    if (entry) {
      ASSERT_EQ(entry->node.active(), every.active.at(tokens)) << name;
    }
  });
  EXPECT_EQ(prefixes, every.reached.size()) << name;
}

struct Size {
  int vocabulary, length, paths, models;
};
constexpr Size sizes[] = {{2, 2, 2, 20}, {2, 2, 4, 10}, {3, 2, 2, 20}, {2, 3, 2, 20}, {2, 3, 3, 5}, {3, 2, 3, 5}};

TEST(ChosenPath, DistributionAndActivePathsAreThoseOfAllTuples) {
  for (const Size& size : sizes)
    for (int seed = 0; seed < size.models; ++seed) {
      const auto model =
          weighted::random_model(size.vocabulary, size.length, 3, 100 + static_cast<std::uint32_t>(seed));
      expect_the_same(model.conditionals<Rational>(), size.paths, size.length,
                      model.text() + ", K = " + std::to_string(size.paths));
    }
}

TEST(ChosenPath, BucketsOfAnyShapeToo) {
  int coarse = 0;
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    const auto model = weighted::random_model(3, 2, 4, 200 + seed);
    const auto plain = model.conditionals<Rational>();
    std::vector<Bucketed> rows;
    for (std::size_t c = 0; c < model.target.size(); ++c) {
      const auto word = static_cast<int>(seed + c);
      rows.push_back({plain.distributions(static_cast<int>(c)), {word % 2, word / 2 % 2, word / 4 % 2}});
      coarse += rows.back().bins().size() < plain.distributions(static_cast<int>(c)).bins().size();
    }
    expect_the_same(PrefixTable<Bucketed>(std::move(rows)), 3, 2, model.text());
  }
  EXPECT_GT(coarse, 50);
}

// Tests that more paths can accept less: ladder_block is not monotone in K and can fall below block verification of one
// path.

Rational mean(const weighted::Model& model, int paths) {
  return planned_mean_accepted(model.conditionals<Rational>(), paths, model.length);
}

const std::vector<int> certain{1, 0, 0}, sure{1, 0};

/// Returns a model with three tokens: p and q put the first two in the same order, and the third is never drafted at
/// the root. Below the root, p and q differ only after token 1.
weighted::Model below_one_path(std::vector<int> p, std::vector<int> q, std::vector<int> q_after) {
  weighted::Model model{3, 2, std::vector<std::vector<int>>(13, certain), std::vector<std::vector<int>>(13, certain)};
  model.target[0] = std::move(p);
  model.proposal[0] = std::move(q);
  model.proposal[2] = std::move(q_after);
  return model;
}

TEST(LadderBlockOrder, TwoPathsCanBeWorseThanOne) {
  const auto tied = below_one_path({1, 1, 1}, {1, 1, 0}, {1, 1, 0});
  EXPECT_EQ(mean(tied, 1), Rational(5, 4));
  EXPECT_EQ(mean(tied, 2), Rational(59, 48));
  const auto distinct = below_one_path({3, 4, 3}, {2, 3, 0}, {1, 1, 0});
  EXPECT_LT(mean(distinct, 2), mean(distinct, 1));  // no ratios are equal here
}

TEST(LadderBlockOrder, ThreePathsCanBeWorseThanTwo) {
  weighted::Model model{2, 2, std::vector<std::vector<int>>(7, sure), std::vector<std::vector<int>>(7, sure)};
  model.target[0] = {3, 1};
  model.proposal[0] = {1, 1};
  model.proposal[2] = {3, 1};
  EXPECT_EQ(mean(model, 2), Rational(127, 64));
  EXPECT_EQ(mean(model, 3), Rational(1015, 512));
}

TEST(LadderBlockOrder, BothAreRareAndSmallOnRandomModels) {
  struct Size {
    int vocabulary, length, models;
  };
  int below = 0, falls = 0, models = 0;
  double deepest = 0;
  for (const Size& size : {Size{2, 2, 1500}, Size{3, 2, 1500}, Size{2, 3, 600}, Size{3, 3, 60}})
    for (int seed = 0; seed < size.models; ++seed, ++models) {
      const auto model = weighted::random_model(size.vocabulary, size.length, 9, static_cast<std::uint32_t>(seed));
      const auto conditionals = model.conditionals<double>();
      double one = 0, before = 0;
      bool falls_below = false, falls_back = false;
      for (int paths = 1; paths <= 4; ++paths) {
        const double now = planned_mean_accepted(conditionals, paths, size.length);
        if (paths == 1) one = before = now;
        falls_below |= now < one - 1e-9;  // 39 products round by far less
        falls_back |= now < before - 1e-9;
        deepest = std::max(deepest, one - now);
        before = now;
      }
      // No model with V = 2, L = 2 was found that accepts less than with one path, also not among 820,265 models with
      // weights up to 5 and K = 2, 3.
      EXPECT_FALSE(falls_below && size.vocabulary == 2 && size.length == 2) << model.text();
      below += falls_below;
      falls += falls_back;
    }
  std::cout << models << " models: below one path " << below << ", not monotone " << falls << ", at worst by "
            << deepest << " tokens\n";
  EXPECT_GT(falls, 0);
  EXPECT_LT(below, models / 50);
  EXPECT_LT(deepest, 0.1);
}

// Tests of the groups of a ranking with ties on both sides of a break, and of plain nodes, which have no groups.

/// Returns a table in which every third token has one of four ratios, so that groups contain equal ratios.
RatioTable table_with_ties(int vocabulary, std::uint32_t seed) {
  std::mt19937 words(seed);
  std::normal_distribution<double> normal;
  std::vector<double> p, q;
  for (int x = 0; x < vocabulary; ++x) {
    q.push_back(x % 13 == 5 ? 0 : std::exp(2 * normal(words)));
    const double ratio = x % 3 == 0 ? std::ldexp(1.0, x % 4 - 2) : std::exp(normal(words));
    p.push_back(x % 11 == 3 ? 0 : q.back() > 0 ? q.back() * ratio : 0.5);
  }
  return {examples::normalised(p), examples::normalised(q)};
}

TEST(RankedBins, AreThoseOfAWalk) {
  for (const int vocabulary : {5, 64, 65, 300, 4000})
    for (std::uint32_t seed = 0; seed < 8; ++seed) {
      const RatioTable distributions = table_with_ties(vocabulary, seed);
      const bool coarse = seed % 2 == 1;
      const RankedBins<RatioTable> bins = ladder_bins(distributions, coarse);
      const auto ranking = distributions.ranking();
      const double spread = coarse ? 0x1p-10 : 0x1p-14, allowed = ranking.size() > few_tokens ? spread : 0;
      int bin = 0;
      for (int first = 0, last; first < ranking.size(); first = last, ++bin) {
        last = first + 1;
        while (last < ranking.size() &&
               (ranking.ratio(first) - ranking.ratio(last)) * ranking.proposal(first, last + 1) < allowed)
          ++last;
        ASSERT_LT(bin, bins.size());
        ASSERT_EQ(bins.first(bin), first);
        ASSERT_EQ(bins.first(bin + 1), last);
        ASSERT_EQ(bins.proposal_below(bin + 1), ranking.proposal(0, last));
        for (int j = first; j < last; ++j) {
          ASSERT_EQ(bins.of(ranking.token(j)), bin) << "V = " << vocabulary << ", rank " << j;
          ASSERT_EQ(bins.of(ranking.token(j)), bin);  // this time from the cache
        }
      }
      ASSERT_EQ(bin, bins.size());
    }
}

// If `two`, the probability of two active paths, is below 1/8, a node uses coarse groups; below 1/256 it uses no
// groups. The distribution that a node states is exact for coarse groups too.
TEST(LadderNodes, AreCoarseWhereTwoPathsAreSeldom) {
  for (std::uint32_t seed = 0; seed < 4; ++seed) {
    const RatioTable distributions = table_with_ties(2000, seed);
    const auto node = [&distributions](double two) { return LadderNode<RatioTable>(distributions, {1 - two, two}); };
    const int fine = RankedBins<RatioTable>(distributions).size();
    EXPECT_EQ(node(0x1p-3).bins(), fine);
    EXPECT_LT(node(0x1p-3 - 0x1p-20).bins(), fine / 2);
    EXPECT_TRUE(node(0x1p-9).plain());
    for (const double two : {0x1p-3, 0x1p-4, 0x1p-7}) {
      const auto at = node(two);
      double sum = 0;
      for (Token x = 0; x < distributions.vocabulary(); ++x) {
        sum += at.chosen(distributions, x);
        // F, the coverage of a node (ladder.hpp), has slope 1 + two (1 - 2 s) at the mass s, so chosen(x) differs from
        // q(x) by at most `two` times q(x).
        EXPECT_LE(std::abs(at.chosen(distributions, x) - distributions.proposal(x)),
                  distributions.proposal(x) * two * (1 + 1e-12));
      }
      EXPECT_NEAR(sum, 1, 1e-11);  // 2000 products of a few roundings each
    }
  }
}

TEST(LadderNodes, WhatIsPlainByTheBoundIsPlainByTheDistribution) {
  int by_bound = 0, by_distribution = 0;
  for (std::uint32_t seed = 0; seed < 4; ++seed) {
    const RatioTable distributions = table_with_ties(500, seed);
    for (const int paths : {2, 4, 7}) {
      const LadderNode<RatioTable> root(distributions, all_active<double>(paths));
      for (Token x = 0; x < distributions.vocabulary(); ++x) {
        if (!(distributions.proposal(x) > 0)) continue;
        const LadderNode<RatioTable> child(distributions, root.active_after(distributions, x));
        by_distribution += child.plain();
        if (!root.plain_after(distributions, x, root.bin(distributions, x))) continue;
        ++by_bound;
        ASSERT_TRUE(child.plain()) << "token " << x << " of " << paths << " paths";
      }
    }
  }
  EXPECT_GT(by_bound, by_distribution / 2);
}

}  // namespace
}  // namespace draftproof
