// The law of the path that ladders choose, computed independently: all K-tuples of paths, all levels, all choices,
// and the number of active paths by counting.
#include <map>

#include <gtest/gtest.h>

#include <draftproof/tests/support/bucketed_rows.hpp>
#include <draftproof/tests/support/chosen_law.hpp>
#include <draftproof/tests/support/weighted_models.hpp>

namespace draftproof {
namespace {

using Tuple = std::vector<Tokens>;  ///< K complete paths
using States = std::map<Tuple, Rational>;

/// Each tuple's probability jointly with the event that the choice reaches the node, node by node.
template <class L>
class EveryTuple {
 public:
  EveryTuple(const PrefixTable<L>& conditionals, int paths, int length)
      : conditionals_{conditionals}, length_{length} {
    States states;
    Tuple tuple(static_cast<std::size_t>(paths));
    const auto draw = [&](const auto& self, std::size_t k, int context, const Rational& mass) -> void {
      if (k == tuple.size()) {
        states[tuple] = mass;
      } else if (static_cast<int>(tuple[k].size()) == length_) {
        self(self, k + 1, 0, mass);
      } else {
        const L& laws = conditionals_.laws(context);
        for (Token y = 0; y < laws.vocabulary(); ++y) {
          if (laws.proposal(y) == 0) continue;
          tuple[k].push_back(y);
          self(self, k, conditionals_.next(context, y), Rational(mass * laws.proposal(y)));
          tuple[k].pop_back();
        }
      }
    };
    draw(draw, 0, 0, 1);
    descend({}, 0, states);
  }

  std::map<Tokens, Rational> reached;              ///< probability that the choice reaches a prefix
  std::map<Tokens, std::vector<Rational>> active;  ///< law of the number of active paths there
  bool fresh = true;                               ///< given the active paths, next tokens were always i.i.d. from q

 private:
  static bool starts_with(const Tokens& path, const Tokens& prefix) {
    return std::equal(prefix.begin(), prefix.end(), path.begin());
  }

  void descend(const Tokens& prefix, int context, const States& states) {
    Rational& total = reached[prefix];
    for (const auto& [tuple, mass] : states) total += mass;
    if (static_cast<int>(prefix.size()) == length_) return;
    const L& laws = conditionals_.laws(context);
    std::vector<Rational> law(states.begin()->first.size());
    std::map<std::vector<bool>, Rational> together;                      // the set of active paths
    std::map<std::pair<std::vector<bool>, Tokens>, Rational> following;  // and their next tokens
    for (const auto& [tuple, mass] : states) {
      std::vector<bool> who;
      Tokens next;
      for (const Tokens& path : tuple) {
        who.push_back(starts_with(path, prefix));
        if (who.back()) next.push_back(path[prefix.size()]);
      }
      law[next.size() - 1] += mass / total;
      together[who] += mass;
      following[{who, next}] += mass;
    }
    for (const auto& [key, mass] : following) {
      Rational independent = together[key.first];
      for (const Token y : key.second) independent *= laws.proposal(y);
      fresh &= mass == independent;
    }
    active[prefix] = law;
    for (const auto& [y, chosen] : choose(prefix, laws, law, states)) {
      Tokens longer = prefix;
      longer.push_back(y);
      descend(longer, conditionals_.next(context, y), chosen);
    }
  }

  std::map<Token, States> choose(const Tokens& prefix, const L& laws, const std::vector<Rational>& law,
                                 const States& states) const {
    const auto bins = laws.bins();
    const auto plan = plan_ladder(laws, bins, MixedCoverage<Rational>(law));
    std::vector<Rational> cuts{0, 1};
    for (std::size_t i = 1; i < plan.level.size(); ++i) cuts.push_back(plan.level[i]);
    std::sort(cuts.begin(), cuts.end());
    std::map<Token, States> chosen;
    for (std::size_t cut = 0; cut + 1 < cuts.size(); ++cut) {
      if (cuts[cut] == cuts[cut + 1]) continue;
      const auto group_of = [&](Token y) {
        int group = 0;
        for (std::size_t i = 1; i < plan.level.size(); ++i)
          group += static_cast<int>(i) <= laws.bin(bins, y) && cuts[cut] < plan.level[i];
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
  walk_choices(conditionals, paths, length, [&](const Tokens& tokens, const auto* entry, const Rational& chosen) {
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

TEST(ChosenPath, LawAndActivePathsAreThoseOfAllTuples) {
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
      rows.push_back({plain.laws(static_cast<int>(c)), {word % 2, word / 2 % 2, word / 4 % 2}});
      coarse += rows.back().bins().size() < plain.laws(static_cast<int>(c)).bins().size();
    }
    expect_the_same(PrefixTable<Bucketed>(std::move(rows)), 3, 2, model.text());
  }
  EXPECT_GT(coarse, 50);
}

}  // namespace
}  // namespace draftproof
