// Tests of schemes of paths against second implementations that follow the publications literally.
#include <gtest/gtest.h>

#include <draftproof/properties/subjects/path_erased.hpp>
#include <draftproof/tests/support/golden_path.hpp>
#include <draftproof/tests/support/small_models.hpp>
#include <draftproof/verifiers/paths/block/block_rule.hpp>

namespace draftproof {
namespace {

/// Returns r*_t for t = 1 .. L from the products R_1 .. R_L: R_t divided by the larger of 1 and the largest earlier R.
template <class Scalar>
std::vector<Scalar> capped_ratios(const std::vector<Scalar>& products) {
  std::vector<Scalar> ratios;
  for (std::size_t t = 0; t < products.size(); ++t) {
    Scalar largest(1);
    for (std::size_t i = 0; i < t; ++i) largest = std::max(largest, products[i]);
    // The quotient equals the published min(R_m, 1) rho_(m+1) .. rho_t, where m maximises R over the earlier positions,
    // with R_0 = 1, and rho_t = R_t / R_(t-1).
    ratios.push_back(products[t] / largest);
  }
  return ratios;
}

/// Hierarchical speculative decoding from its definitions, with whole rows: r* of every child, and divergences as
/// direct sums.
class AsDefined {
 public:
  static constexpr Info info{.name = "hsd_as_defined",
                             .summary = "hierarchical speculative decoding from its definitions",
                             .source = "arXiv:2601.05724, algorithm 2",
                             .drafts = DraftSamplings{"iid_paths"},
                             .unsupported = {.simulate = "a test", .fresh = "a test"}};

  bool capped = true;

  template <class L, class R>
  StepOutput verify(const DraftedTree<L>& at, R& random) const {
    using Scalar = typename L::Scalar;
    const PlainSteps<L> steps(at);
    std::vector<Scalar> products;
    for (int t = 0; t < steps.length(); ++t)
      products.push_back((products.empty() ? Scalar(1) : products.back()) * steps.target(t) / steps.proposal(t));
    const auto ratios = capped ? capped_ratios(products) : products;
    if (random.flip(std::min<Scalar>(ratios.back(), 1), Scalar(1)))
      return {steps.node(steps.length()), random.emit(steps.bonus())};
    for (int t = steps.length() - 1;; --t) {
      const L& distributions = steps.distributions(t);
      const std::vector<Scalar> before(products.begin(), products.begin() + t);
      const auto child = [&](Token y) {
        auto with = before;
        with.push_back((t == 0 ? Scalar(1) : before.back()) * distributions.target(y) / distributions.proposal(y));
        return capped ? capped_ratios(with).back() : with.back();
      };
      Scalar forward(0), backward(0);
      std::vector<Scalar> residual;
      for (Token y = 0; y < distributions.vocabulary(); ++y) {
        // The residual is the positive part of (r* - 1) q. Where q = 0, the limit of r* q is p times r* without its
        // last step.
        Scalar excess(0);
        if (distributions.proposal(y) > 0) {
          excess = (child(y) - 1) * distributions.proposal(y);
        } else {
          Scalar largest(1);
          if (capped)
            for (const Scalar& product : before) largest = std::max(largest, product);
          excess = (t == 0 ? Scalar(1) : Scalar(before.back() / largest)) * distributions.target(y);
        }
        (excess > 0 ? forward : backward) += excess > 0 ? excess : Scalar(-excess);
        residual.push_back(excess > 0 ? excess : Scalar(0));
      }
      if (t > 0 && backward > 0 && !random.flip(forward, backward)) continue;
      return {steps.node(t),
              random.emit(distributions.weights([&](Token y) { return residual[static_cast<std::size_t>(y)]; }))};
    }
  }
};

/// Returns the number of trees on which `scheme` differs from the definitions, over random chains.
int differing(std::string_view scheme, AsDefined defined) {
  const PathVerifierOf<AsDefined> hsd(Kind::verifier, defined);
  const std::vector<std::pair<int, int>> sizes{{2, 1}, {3, 2}, {3, 3}, {2, 4}, {2, 5}};
  int trees = 0;
  for (const auto& [vocabulary, length] : sizes)
    for (int seed = 0; seed < 8; ++seed) {
      const auto model = small::random_model(500 + seed, vocabulary, length);
      const TreeShape shape{.drafts = 1, .length = length};
      const auto ours = small::verifier(scheme).prove_on(model, shape);
      const auto theirs = hsd.prove_on(model, shape);
      small::for_each_tree("iid_paths", model, shape, [&](const DraftTree& tree, const Rational&) {
        trees += small::on_tree(*ours, tree) != small::on_tree(*theirs, tree);
      });
    }
  return trees;
}

TEST(Hsd, AsDefinedIsBlockVerificationEventByEvent) {
  EXPECT_EQ(differing("block", {}), 0);
  EXPECT_GT(differing("hsd_repository", {}), 0);
}

TEST(Hsd, WithoutCapsIsGreedyBlockVerificationThatForgets) {
  EXPECT_EQ(differing("greedy_block_without_carry", {.capped = false}), 0);
}

TEST(Hsd, PublishedRatios) {
  const std::vector<double> q{.8771, .6929, .4513, .1170, .0792, .0118, .0068, .0068, .0031, .0011};
  std::vector<double> products;
  for (std::size_t i = 0; i < q.size(); ++i) products.push_back((i < 4 ? .7156 : 0) / q[i]);
  const auto ratios = capped_ratios(products);
  const std::vector<double> printed{.8159, 1, 1, 1, 0, 0, 0, 0, 0, 0};
  for (std::size_t i = 0; i < printed.size(); ++i)  // printed to four places
    EXPECT_NEAR(std::min(ratios[i], 1.0), printed[i], 5e-5);
}

// Finds the instances with the smallest sum of weights on which hsd_repository is lossy, among models of two tokens
// with the same rows at every prefix.
TEST(Hsd, SmallestInstanceThatRefutesTheRepository) {
  const TreeShape shape{.drafts = 1, .length = 2};
  std::vector<std::vector<int>> refuted;
  for (int sum = 2; refuted.empty() && sum < 8; ++sum)
    for (int p = 0; p <= sum; ++p)
      for (int r = 0; p + r <= sum; ++r)
        for (int q = 0; p + r + q <= sum; ++q) {
          const int s = sum - p - r - q;
          if (p + r == 0 || q + s == 0) continue;
          const auto model = small::constant({p, r}, {q, s});
          if (!small::exact(small::distribution("hsd_repository", "iid_paths", model, shape), model))
            refuted.push_back({p, r, q, s});
        }
  EXPECT_EQ(refuted, (std::vector<std::vector<int>>{{1, 1, 1, 2}, {1, 1, 2, 1}, {1, 2, 1, 1}, {2, 1, 1, 1}}));
}

// Worked by hand, with p = (1 1)/2 and q = (1 2)/3. R is the product of the ratios p / q: if the first draft is token
// 0, R is 3/2 and then 9/4 or 9/8, so the block is always accepted. Hence after token 0 the next token has distribution
// q, 1/3 and 2/3.
TEST(Hsd, TheInstanceByHandAndByEnumeration) {
  const auto model = small::constant({1, 1}, {1, 2});
  const auto distribution = small::distribution("hsd_repository", "iid_paths", model, {.drafts = 1, .length = 2});
  std::vector<Rational> beyond(2, Rational(0));
  for (const auto& [tokens, probability] : distribution.emitted)
    if (tokens.size() > 1 && tokens[0] == 0) beyond[static_cast<std::size_t>(tokens[1])] += probability;
  EXPECT_EQ(beyond, (std::vector<Rational>{{1, 9}, {2, 9}}));
  // The mean number of accepted tokens is above the optimum of lossless rules, which block verification attains.
  EXPECT_EQ(distribution.mean_accepted(), Rational(59, 36));
  EXPECT_EQ(small::distribution("block", "iid_paths", model, {.drafts = 1, .length = 2}).mean_accepted(),
            Rational(57, 36));
  // The first token has the target's distribution.
  Rational first = 0;
  for (const auto& [tokens, probability] : distribution.emitted) first += tokens[0] == 0 ? probability : Rational(0);
  EXPECT_EQ(first, Rational(1, 2));
}

// Compares mean accepted lengths with the variants in tests/golden/path.json; `ours` gives the scheme of each variant.
TEST(Hsd, ReferenceVariants) {
  const std::map<std::string, std::string_view> ours{{"argmax/capped", "block"},
                                                     {"argmax/uncapped", "hsd_repository"},
                                                     {"last/capped", "hsd_last_index"},
                                                     {"none/capped", "greedy_block_without_carry"}};
  int compared = 0;
  for (const auto& [name, variants] : golden::path_file().at("facts").at("hsd_variants").items()) {
    const auto& model = golden::path_models().at(name);
    const auto conditionals = model.conditionals();
    const TreeShape shape{.drafts = 1, .length = model.length};
    for (const auto& [variant, entry] : variants.items()) {
      const auto decider = small::verifier(ours.at(variant)).explore_on(conditionals, shape);
      const auto distribution =
          explore_step_distribution<Rows<double>>(small::drafter("iid_paths"), *decider, conditionals, shape);
      EXPECT_NEAR(distribution.mean_accepted(), entry.at("E_tau").get<double>(), 1e-10) << name << ' ' << variant;
      ++compared;
    }
  }
  EXPECT_GT(compared, 20);
}

// Compares the registered traversal verification, which computes with one scalar per node, with an independent
// implementation that computes with full rows.

/// The complete tree with a target row, a draft row and a weight at every node; changed rows are recomputed.
class RowsOfTraversal {
 public:
  static constexpr Info info{.name = "rows_of_traversal",
                             .summary = "traversal verification with full rows",
                             .source = "Weng et al. 2025, arXiv:2505.12398",
                             .drafts = DraftSamplings{"without_replacement_tree", "iid_paths"},
                             .unsupported = {.simulate = "a test", .fresh = "a test"}};

  template <class L, class R>
  StepOutput verify(const DraftedTree<L>& at, R& random) const {
    using Scalar = typename L::Scalar;
    const DraftTree& tree = at.tree();
    State<Scalar> state;
    const int vocabulary = at.distributions(0).vocabulary();
    for (int u = 0; u < tree.size(); ++u) {
      auto& node = state.emplace_back();
      for (Token x = 0; x < vocabulary; ++x) {
        node.target.push_back(at.distributions(u).target(x));
        node.proposal.push_back(at.distributions(u).proposal(x));
      }
      for (const int child : tree.children(u)) node.children.push_back(child);
    }
    weigh(tree, state, 0, Scalar(1));
    for (;;) {
      int v = 0;
      while (!state[index(v)].children.empty()) v = state[index(v)].children.front();
      Node<Scalar>& leaf = state[index(v)];
      if (v == 0 || random.flip(leaf.weight, Scalar(1))) {
        const auto row = leaf.target;
        return {v, random.emit(at.distributions(v).weights([&row](Token x) { return row[index(x)]; }))};
      }
      refuse(tree, state, v);
    }
  }

 private:
  template <class Scalar>
  struct Node {
    std::vector<Scalar> target, proposal;
    Scalar weight{0};
    std::vector<int> children{};
  };
  template <class Scalar>
  using State = std::vector<Node<Scalar>>;

  static std::size_t index(int i) { return static_cast<std::size_t>(i); }

  template <class Scalar>
  static void weigh(const DraftTree& tree, State<Scalar>& state, int u, const Scalar& weight) {
    Node<Scalar>& node = state[index(u)];
    node.weight = weight;
    for (const int child : node.children) {
      const auto x = index(tree.token(child));
      weigh(tree, state, child, std::min<Scalar>(weight * node.target[x] / node.proposal[x], Scalar(1)));
    }
  }

  template <class Scalar>
  static void refuse(const DraftTree& tree, State<Scalar>& state, int v) {
    const int u = tree.parent(v);
    Node<Scalar>& node = state[index(u)];
    node.children.erase(node.children.begin());
    std::vector<Scalar> left;
    Scalar sum(0);
    for (std::size_t x = 0; x < node.target.size(); ++x) {
      left.push_back(std::max<Scalar>(node.weight * node.target[x] - node.proposal[x], Scalar(0)));
      sum += left.back();
    }
    Scalar weight(0);
    if (sum > 0) {
      weight = sum / (sum + (1 - node.weight));
      for (std::size_t x = 0; x < left.size(); ++x) node.target[x] = left[x] / sum;
    }
    node.proposal[index(tree.token(v))] = 0;
    Scalar mass(0);
    for (const Scalar& q : node.proposal) mass += q;
    if (mass > 0)
      for (Scalar& q : node.proposal) q /= mass;
    weigh(tree, state, u, u == 0 ? Scalar(1) : weight);
  }
};

TEST(TraversalRows, ScalarsAndFullRowsAgreeTreeByTree) {
  const PathVerifierOf<RowsOfTraversal> rows(Kind::verifier);
  const std::vector<std::tuple<std::string_view, int, TreeShape>> sizes{
      {"without_replacement_tree", 2, {.length = 2, .branching = {2, 2}}},
      {"without_replacement_tree", 3, {.length = 2, .branching = {3, 2}}},
      {"without_replacement_tree", 3, {.length = 2, .branching = {2, 3}}},
      {"without_replacement_tree", 4, {.length = 2, .branching = {3, 1}}},
      {"without_replacement_tree", 2, {.length = 3, .branching = {2, 2, 1}}},
      {"iid_paths", 3, {.drafts = 2, .length = 2}},
      {"iid_paths", 2, {.drafts = 3, .length = 2}},
      {"iid_paths", 2, {.drafts = 2, .length = 3}}};
  int trees = 0;
  for (const auto& [drafter, vocabulary, shape] : sizes)
    for (int seed = 0; seed < 5; ++seed) {
      const auto model = small::random_model(300 + seed, vocabulary, shape.length);
      const auto scalars = small::verifier("traversal").prove_on(model, shape);
      const auto full = rows.prove_on(model, shape);
      trees += small::for_each_tree(drafter, model, shape, [&](const DraftTree& tree, const Rational&) {
        EXPECT_EQ(small::on_tree(*scalars, tree), small::on_tree(*full, tree));
      });
    }
  EXPECT_GT(trees, 1000);
}

}  // namespace
}  // namespace draftproof
