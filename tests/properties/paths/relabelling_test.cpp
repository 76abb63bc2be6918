// Tests that after a permutation of token ids in a model, the output distribution is the permuted distribution.
#include <algorithm>

#include <gtest/gtest.h>

#include <draftproof/tests/support/small_models.hpp>

namespace draftproof {
namespace {

Tokens renamed(const Tokens& tokens, const std::vector<Token>& name) {
  Tokens result;
  for (const Token x : tokens) result.push_back(name[static_cast<std::size_t>(x)]);
  return result;
}

/// Returns the model in which token x is renamed to name[x], with rows for prefixes of up to `length` tokens in
/// breadth-first order.
small::Model relabelled(const small::Model& model, int length, const std::vector<Token>& name) {
  std::vector<Token> original(name.size());
  for (std::size_t x = 0; x < name.size(); ++x) original[static_cast<std::size_t>(name[x])] = static_cast<Token>(x);
  std::vector<Rows<Rational>> rows;
  std::vector<int> level{0};  // contexts of the model, in the new order
  for (int depth = 0; depth <= length; ++depth) {
    std::vector<int> next;
    for (const int context : level) {
      small::Row p, q;
      for (const Token x : original) {
        p.push_back(model.distributions(context).target(x));
        q.push_back(model.distributions(context).proposal(x));
        next.push_back(model.next(context, x));
      }
      rows.emplace_back(p, q);
    }
    level = std::move(next);
  }
  return small::Model(std::move(rows));
}

bool has_ties(const small::Model& model, int length) {
  int conditionals = 0;
  for (int depth = 0, width = 1; depth <= length; ++depth, width *= model.vocabulary()) conditionals += width;
  for (int c = 0; c < conditionals; ++c)
    for (Token x = 0; x < model.vocabulary(); ++x)
      for (Token y = 0; y < x; ++y) {
        const auto& distributions = model.distributions(c);
        if (distributions.proposal(x) * distributions.proposal(y) > 0 &&
            distributions.target(x) * distributions.proposal(y) ==
                distributions.target(y) * distributions.proposal(x))
          return true;
      }
  return false;
}

TEST(Relabelling, TheDistributionIsRelabelled) {
  struct Case {
    std::string_view scheme, trees;
    bool ranks;  ///< whether the scheme orders tokens with equal p / q by their ids
  };
  const std::vector<Case> cases{{"block", "iid_paths", false},
                                {"greedy_block", "iid_paths", false},
                                {"traversal", "iid_paths", false},
                                {"traversal", "without_replacement_tree", false},
                                {"layerwise_rejection", "iid_paths", false},
                                {"greedy_multipath_block", "iid_paths", true},
                                {"branch_reentry", "iid_paths", true}};
  const std::vector<Token> name{2, 0, 1};
  for (const auto& [scheme, trees, ranks] : cases) {
    int compared = 0;
    for (int seed = 0; seed < 40 && compared < 4; ++seed) {
      const auto model = small::random_model(seed, 3, 2);
      if (ranks && has_ties(model, 2)) continue;
      const TreeShape shape{.drafts = small::verifier(scheme).takes(2) ? 2 : 1, .length = 2};
      const auto distribution = small::distribution(scheme, trees, model, shape);
      const auto other = small::distribution(scheme, trees, relabelled(model, 2, name), shape);
      std::map<Tokens, Rational> expected;
      for (const auto& [tokens, probability] : distribution.emitted) expected[renamed(tokens, name)] = probability;
      EXPECT_EQ(other.emitted, expected) << scheme << ' ' << trees << ' ' << seed;
      ++compared;
    }
    EXPECT_GE(compared, 1) << scheme;
  }
}

}  // namespace
}  // namespace draftproof
